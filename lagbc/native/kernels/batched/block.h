// Hops on a block of a matrix that is dealt over ranks in a grid: what a rank does between two messages of a level.
//
// A level is that of levels.h in four steps, of which the first and the third are messages:
//
//     expand     pack_rows, take_rows: bits and numbers of the frontier go to the ranks whose blocks have these columns
//     multiply   push_rows, multiply_rows: each rank gathers along the edges of its block, in row order
//     fold       add_rows: the owner of a row adds the sums of all blocks that have the row, in the order of ranks
//     mask       found_rows, finish_rows: and closes it, as forward and backward sweeps of one process do
//
// A message is a sequence of rows: the mask, the number of the row in a piece, and the numbers in the columns of the
// mask; path counts or dependencies, then stress. Rows may have any alignment.
#pragma once

#include <tuple>

#include "levels.h"

namespace lagbc {

// Bytes of a row of a message, beside its numbers.
inline constexpr int64_t head_of_row = sizeof(uint64_t) + sizeof(Narrow);
// Columns of a full row, as a mask.
inline constexpr uint64_t every_column = ~uint64_t{0};

template <class T>
LAGBC_INLINE T taken(const uint8_t*& from) {
    T value;
    __builtin_memcpy(&value, from, sizeof value);
    from += sizeof value;
    return value;
}

template <class T>
LAGBC_INLINE void put(uint8_t*& to, T value) {
    __builtin_memcpy(to, &value, sizeof value);
    to += sizeof value;
}

LAGBC_INLINE void put_columns(uint8_t*& to, const double* row, uint64_t mask) {
    if (mask == every_column) {
        __builtin_memcpy(to, row, columns * sizeof(double));
        to += columns * sizeof(double);
        return;
    }
    for (; mask != 0; mask &= mask - 1) put(to, row[__builtin_ctzll(mask)]);
}

LAGBC_INLINE void take_columns(const uint8_t*& from, double* row, uint64_t mask) {
    if (mask == every_column) {
        __builtin_memcpy(row, from, columns * sizeof(double));
        from += columns * sizeof(double);
        return;
    }
    for (; mask != 0; mask &= mask - 1) row[__builtin_ctzll(mask)] = taken<double>(from);
}

// total += the numbers of a message.
LAGBC_INLINE void add_columns(const uint8_t*& from, double* total, uint64_t mask) {
    double row[columns] = {};
    take_columns(from, row, mask);
    Row sum = load_row(total);
    add_row(sum, row, mask);
    store_row(total, sum);
}

// A message that is being written; it has room for a row more.
class Message {
public:
    LAGBC_INLINE explicit Message(int64_t kinds) : row_(head_of_row + kinds * columns * sizeof(double)), bytes_(row_) {}

    LAGBC_INLINE uint8_t* begin(uint64_t mask, Narrow row) {
        uint8_t* to = bytes_.data() + size_;
        put(to, mask);
        put(to, row);
        return to;
    }

    LAGBC_INLINE void end(const uint8_t* to) {
        size_ = to - bytes_.data();
        if (size_ + row_ > bytes_.size()) bytes_.resize(2 * bytes_.size() + row_);
    }

    LAGBC_INLINE Buffer<uint8_t> finished() {
        bytes_.resize(size_);
        return std::move(bytes_);
    }

private:
    int64_t row_, size_ = 0;
    Buffer<uint8_t> bytes_;
};

// Write rows of the piece that is owned.
inline Buffer<uint8_t> pack_rows(const BlockSweep& s, Span<const Narrow> rows, Span<const uint64_t> masks,
                                 bool has_values, bool has_paths) {
    Message message(has_values + has_paths);
    for (int64_t i = 0; i < rows.size; ++i) {
        uint8_t* to = message.begin(masks[i], rows[i]);
        if (has_values) put_columns(to, s.values[s.own + rows[i]], masks[i]);
        if (has_paths) put_columns(to, s.paths[s.own + rows[i]], masks[i]);
        message.end(to);
    }
    return message.finished();
}

// Put the rows of a piece, the first of which is `first`, on the frontier; return them.
inline Buffer<Narrow> take_rows(BlockSweep& s, Span<const uint8_t> message, int64_t first, bool has_values,
                                bool has_paths) {
    Buffer<Narrow> live(message.size / head_of_row);
    int64_t size = 0;
    for (const uint8_t* from = message.data; from != message.end();) {
        const auto mask = taken<uint64_t>(from);
        const int64_t v = first + taken<Narrow>(from);
        if (has_values) take_columns(from, s.values[v], mask);
        if (has_paths) take_columns(from, s.paths[v], mask);
        s.bits[v] = mask;
        live[size++] = static_cast<Narrow>(v);
    }
    live.resize(size);
    return live;
}

// Tell which rows are reached from the frontier in columns in which they are wanted.
inline Buffer<Narrow> push_rows(BlockSweep& s, Span<const Narrow> live) {
    const Csr<Narrow>& reach = *s.reach;
    int64_t edges = 0, size = 0;
    for (const Narrow u : live) edges += reach.indptr[u + 1] - reach.indptr[u];
    Buffer<Narrow> reached(std::min(edges, s.marks.size));
    for (const Narrow u : live)
        for (int64_t e = reach.indptr[u]; e < reach.indptr[u + 1]; ++e) {
            const Narrow v = reach.indices[e];
            if (s.marks[v] == 0 && (s.bits[u] & s.wanted[v]) != 0) {
                s.marks[v] = 1;
                reached[size++] = v;
            }
        }
    for (int64_t i = 0; i < size; ++i) s.marks[reached[i]] = 0;
    reached.resize(size);
    return reached;
}

// Gather along the edges of a block to the rows of first:last that are wanted, all of them or those of a list; write
// those that meet the frontier, as rows of the piece that begins at `base`.
inline Buffer<uint8_t> multiply_rows(BlockSweep& s, const Csr<Narrow>& block, Optional<Span<const Narrow>> rows,
                                     int64_t first, int64_t last, int64_t base, bool has_values, bool has_paths) {
    Message message(has_values + has_paths);
    const ByEnd by{s.bits.data};
    double row[columns];
    const int64_t size = rows.is_there ? rows.size : last - first;
    for (int64_t i = 0; i < size; ++i) {
        if (s.stop.is_set()) break;
        const int64_t v = rows.is_there ? rows[i] : first + i;
        const uint64_t wanted = s.wanted[v];
        if (wanted == 0) continue;
        Row total = zero_row(), paths_total = zero_row();
        const uint64_t met = has_values ? gather(block.indptr, block.indices, by, v, wanted, s.values, total)
                                        : meet(block, s.bits.data, v, wanted);
        if (met == 0) continue;
        uint8_t* to = message.begin(met, static_cast<Narrow>(v - base));
        if (has_values) {
            store_row(row, total);
            put_columns(to, row, met);
        }
        if (has_paths) {
            gather(block.indptr, block.indices, by, v, wanted, s.paths, paths_total);
            store_row(row, paths_total);
            put_columns(to, row, met);
        }
        message.end(to);
    }
    return message.finished();
}

// Add the sums of a rank to those of a slice of the piece that is owned, whose first row is `first`.
inline void add_rows(BlockSweep& s, Span<const uint8_t> message, int64_t first, bool has_values, bool has_paths) {
    for (const uint8_t* from = message.data; from != message.end();) {
        const auto mask = taken<uint64_t>(from);
        const int64_t i = taken<Narrow>(from) - first;
        if (s.met[i] == 0 && has_values) store_row(s.totals[i], zero_row());
        if (s.met[i] == 0 && has_paths) store_row(s.path_totals[i], zero_row());
        s.met[i] |= mask;
        if (has_values) add_columns(from, s.totals[i], mask);
        if (has_paths) add_columns(from, s.path_totals[i], mask);
    }
}

// Close a slice of a level that is found: its rows, and the columns in which they are live.
inline std::tuple<Buffer<Narrow>, Buffer<uint64_t>> found_rows(BlockSweep& s, int64_t first, int64_t last) {
    Buffer<Narrow> rows(last - first);
    Buffer<uint64_t> masks(last - first);
    int64_t size = 0;
    for (int64_t i = 0; i < last - first; ++i) {
        const uint64_t mask = s.met[i];
        if (mask == 0) continue;
        if (s.values.is_there) {
            Row total = load_row(s.totals[i]);
            put_paths(s, s.own + first + i, mask, total, s.overflowed);
        }
        s.met[i] = 0;
        rows[size] = static_cast<Narrow>(first + i);
        masks[size++] = mask;
    }
    rows.resize(size);
    masks.resize(size);
    return {std::move(rows), std::move(masks)};
}

// Close rows of a level in the backward sweep: those of a slice whose first row is `first`.
inline void finish_rows(BlockSweep& s, Span<const Narrow> rows, Span<const uint64_t> masks, int64_t first,
                        Span<const double> times, int64_t level) {
    const PathSums sums{s.dependency, s.stress, {}, s.dependency_squares, {}};
    with(
        [&](auto stress, auto squares) {
            using Back = Backward<decltype(stress)::value, false, decltype(squares)::value, Narrow>;
            const Back backward{s, {}, {}, {{}, times.data}, every_column, sums};
            for (int64_t j = 0; j < rows.size; ++j) {
                const int64_t i = rows[j] - first, v = s.own + rows[j];
                Row total = zero_row(), paths_total = zero_row();
                if (s.met[i] != 0) {
                    total = load_row(s.totals[i]);
                    if constexpr (decltype(stress)::value) paths_total = load_row(s.path_totals[i]);
                }
                s.met[i] = 0;
                backward.finish(v, masks[j], total, paths_total, static_cast<double>(level));
                if (s.endpoints) s.dependency[v] += __builtin_popcountll(masks[j]);
            }
        },
        s.stress.is_there, s.dependency_squares.is_there);
}

// How many masks have each column.
inline Buffer<int64_t> count_columns(Span<const uint64_t> masks) {
    Buffer<int64_t> counts(columns, int64_t{0});
    for (const uint64_t mask : masks)
        for (int k = 0; k < columns; ++k) counts[k] += mask >> k & 1;
    return counts;
}

// Add the sums over the distances of rows that are owned, those of level l being starts[l]:starts[l + 1].
inline void sum_row_distances(const BlockSweep& s, Span<const Narrow> rows, Span<const uint64_t> masks,
                              Span<const int64_t> starts, const BatchSums& totals) {
    add_level_sums(rows.data, masks.data, starts, starts.size - 2, every_column, s.order, totals);
}

}  // namespace lagbc
