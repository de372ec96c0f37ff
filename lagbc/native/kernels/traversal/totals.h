// The totals of a block of roots are kept as entries, taken into a batch's sums, or cleared; the trips of a root.
#pragma once

#include <tuple>

#include "near.h"

namespace lagbc {

// The totals with an entry a vertex, and those with an entry an edge.
inline constexpr Optional<Span<double>> BatchSums::* totals_of_vertices[] = {
    &BatchSums::dependency,       &BatchSums::stress,         &BatchSums::reached,
    &BatchSums::distance,         &BatchSums::inverse,        &BatchSums::dependency_squares,
    &BatchSums::distance_squares, &BatchSums::inverse_squares};
inline constexpr Optional<Span<double>> BatchSums::* totals_of_edges[] = {&BatchSums::edges, &BatchSums::edges_squares};

// Call visit(i) for each vertex or edge whose totals may be other than 0, for some more than once.
template <class Visit>
LAGBC_INLINE void each_touched(const Optional<Touched>& touched, int64_t all, const Visit& visit) {
    if (!touched.is_there || touched.count < 0)
        for (int64_t i = 0; i < all; ++i) visit(i);
    else
        for (int64_t i = 0; i < touched.count; ++i) visit(touched.names[i]);
}

// Add entry i of each total to entry order[i] of its sum, and clear it; the second time that i is listed it is 0.
template <auto& fields>
void take(const Totals& totals, Optional<Touched>& touched, Span<const int64_t> order, const BatchSums& sums) {
    for (const auto field : fields) {
        const auto &total = totals.*field, &sum = sums.*field;
        if (!total.is_there) continue;
        each_touched(touched, total.size, [&](int64_t i) LAGBC_INLINED {
            if (total[i] == 0.0) return;
            if (sum.is_there) sum[order[i]] += total[i];
            total[i] = 0.0;
        });
    }
    touched.count = 0;
}

inline void take_totals(Totals& totals, Span<const int64_t> order, Optional<Span<const int64_t>> edge_order,
                        const BatchSums& sums) {
    take<totals_of_vertices>(totals, totals.of_vertices, order, sums);
    take<totals_of_edges>(totals, totals.of_edges, edge_order, sums);
}

// Clear totals, and forget kept blocks.
inline void clear_totals(Totals& totals) {
    take<totals_of_vertices>(totals, totals.of_vertices, {}, {});
    take<totals_of_edges>(totals, totals.of_edges, {}, {});
    totals.kept = 0;
}

// The count of entries of the first blocks.
inline int64_t kept_entries(const Touched& touched, int64_t blocks) {
    return blocks > 0 ? touched.kept_ends[blocks - 1] : 0;
}

// Keep totals as entries, and clear them. There is room for as many entries as the lists of all blocks hold.
template <auto& fields>
void keep(const Totals& totals, Optional<Touched>& touched) {
    if (!touched.is_there) return;
    const int64_t room = totals.most_kept * touched.names.size;
    if (touched.kept_ends.size() == 0) {
        touched.kept_names.resize(room);
        touched.kept_sums.resize(touched.rows * room);
        touched.kept_ends.resize(totals.most_kept);
    }
    int64_t entry = kept_entries(touched, totals.kept);
    for (int64_t k = 0; k < touched.count; ++k) {
        const int64_t i = touched.names[k];
        bool is_new = false;  // the second time that i is listed its totals are 0
        int64_t place = entry;
        for (const auto field : fields) {
            const auto& total = totals.*field;
            if (!total.is_there) continue;
            is_new |= total[i] != 0.0;
            touched.kept_sums[place] = total[i];
            total[i] = 0.0;
            place += room;
        }
        touched.kept_names[entry] = i;
        entry += is_new;
    }
    touched.kept_ends[totals.kept] = entry;
    touched.count = 0;
}

// The entries of the kept blocks: vertices or edges in matrix order, a row of numbers for each total, and where each
// block ends.
inline auto kept_blocks(const Optional<Touched>& touched, int64_t blocks, Span<const int64_t> order) {
    const int64_t count = touched.is_there ? kept_entries(touched, blocks) : 0, room = touched.kept_names.size();
    Buffer<int64_t> names(count), ends(blocks, 0);
    Table<double> sums{Buffer<double>(touched.rows * count), touched.rows, count};
    for (int64_t i = 0; i < count; ++i) names[i] = order[touched.kept_names[i]];
    for (int64_t row = 0; row < touched.rows; ++row)
        std::copy_n(touched.kept_sums.data() + row * room, count, sums.numbers.data() + row * count);
    if (touched.is_there) std::copy_n(touched.kept_ends.data(), blocks, ends.data());
    return std::tuple(std::move(names), std::move(sums), std::move(ends));
}

// Keep the totals of a block; false if there is no room.
inline bool keep_block(Totals& totals) {
    if (!totals.of_vertices.is_there || totals.kept == totals.most_kept) return false;
    if (totals.of_vertices.count < 0 || totals.of_edges.count < 0) return false;
    keep<totals_of_vertices>(totals, totals.of_vertices);
    keep<totals_of_edges>(totals, totals.of_edges);
    ++totals.kept;
    return true;
}

// Lay out the trips of a root as its targets, scaled; return how often the root counts.
template <class Index>
double lay_out_trips(const Trips<Index>& trips, Span<const int64_t> position, int64_t root) {
    const auto shift = static_cast<int>(trips.shifts[root]);
    for (int64_t e = trips.first[root]; e < trips.first[root + 1]; ++e)
        trips.targets[position[trips.ends[e]]] = std::ldexp(trips.numbers[e], -shift);
    return std::ldexp(1.0, shift);
}

template <class Index>
void clear_trips(const Trips<Index>& trips, Span<const int64_t> position, int64_t root) {
    for (int64_t e = trips.first[root]; e < trips.first[root + 1]; ++e) trips.targets[position[trips.ends[e]]] = 0.0;
}

}  // namespace lagbc
