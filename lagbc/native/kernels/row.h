// Rows of 64 columns under a mask of 64 bits, whose bit k stands for column k.
//
// A row is in memory (a pointer), or a value in registers as far as these suffice, such as a sum over edges. Each
// column is computed by itself, and sums over columns are a fixed binary tree: all levels of instructions give the same
// bits.
//
// Whole distances may be uint16, a quarter of the bytes, with the largest number as infinity.
#pragma once

#include "lanes.h"

namespace lagbc {

inline constexpr uint16_t short_infinity = 65535;

struct Row {
    Lanes part[parts];
};

// Call body(i) for each part i of a row, inlined with i a constant: loops take 1.3 times as long, even over short
// vectors, which are more than there are registers.
template <int count = parts, class Body>
LAGBC_INLINE void each_part(const Body& body) {
#pragma GCC unroll 32
    for (int i = 0; i < count; ++i) body(i);
}

LAGBC_INLINE Lanes splat(double number) {
    return Lanes{} + number;
}

LAGBC_INLINE ShortLanes splat(uint16_t number) {
    return ShortLanes{} + number;
}

LAGBC_INLINE Row zero_row() {
    Row row;  // part by part: GCC clears Row{} in memory
    each_part([&](int i) LAGBC_INLINED { row.part[i] = Lanes{}; });
    return row;
}

LAGBC_INLINE Row load_row(const double* values) {
    Row row;
    each_part([&](int i) LAGBC_INLINED { row.part[i] = load(values, i); });
    return row;
}

LAGBC_INLINE Row splat_row(double number) {
    Row row;
    each_part([&](int i) LAGBC_INLINED { row.part[i] = splat(number); });
    return row;
}

LAGBC_INLINE Row scaled_row(const double* values, double factor) {
    Row row;
    each_part([&](int i) LAGBC_INLINED { row.part[i] = load(values, i) * factor; });
    return row;
}

LAGBC_INLINE void store_row(double* values, const Row& row) {
    each_part([&](int i) LAGBC_INLINED { store(values, i, row.part[i]); });
}

// total += where(mask, values, 0)
LAGBC_INLINE void add_row(Row& total, const double* values, uint64_t mask) {
    each_part([&](int i) LAGBC_INLINED { total.part[i] += where(set_of(mask, i), load(values, i)); });
}

// `add_row` that is called.
[[gnu::noinline]] inline void add_row_apart(Row& total, const double* values, uint64_t mask) {
    add_row(total, values, mask);
}

LAGBC_INLINE void scale_row(Row& row, double factor) {
    each_part([&](int i) LAGBC_INLINED { row.part[i] *= factor; });
}

// Write where(mask, row, values); return the bits of the mask where row > limit.
LAGBC_APART uint64_t put_row(double* values, uint64_t mask, const Row& row, double limit) {
    uint64_t above = 0;
    each_part([&](int i) LAGBC_INLINED {
        store(values, i, select(set_of(mask, i), row.part[i], load(values, i)));
        above |= bits_of(is_less(splat(limit), row.part[i])) << (lanes * i);
    });
    return above & mask;
}

// Combine the two halves of a vector of lanes, then the halves of the result, down to one number.
template <class Combine>
LAGBC_INLINE double tree_of_lanes(Lanes whole, const Combine& combine) {
    double lane[lanes];
    for (int k = 0; k < lanes; ++k) lane[k] = whole[k];
    for (int width = lanes / 2; width > 0; width /= 2)
        for (int k = 0; k < width; ++k) lane[k] = combine(lane[k], lane[k + width]);
    return lane[0];
}

// Combine the two halves of a row, then the halves of the result, down to one part; of(i) is part i of the row. Part i
// of a result of `width` parts is made of the parts i and i + width of twice as many, as it is needed: so few parts are
// in registers at a time.
template <int width = 1, class Of, class Combine>
LAGBC_INLINE auto tree_of_parts(const Of& of, const Combine& combine, int i = 0) {
    if constexpr (width == parts) {
        return of(i);
    } else {
        const auto low = tree_of_parts<2 * width>(of, combine, i);
        const auto high = tree_of_parts<2 * width>(of, combine, i + width);
        return combine(low, high);
    }
}

// The same down to one number.
template <class Of, class Combine>
LAGBC_INLINE double tree(const Of& of, const Combine& combine) {
    return tree_of_lanes(tree_of_parts(of, combine), combine);
}

// sum(where(mask, of(i), 0)), of(i) being part i of a row
template <class Of>
LAGBC_INLINE double masked_sum(uint64_t mask, const Of& of) {
    return tree([&](int i) LAGBC_INLINED { return where(set_of(mask, i), of(i)); },
                [](auto low, auto high) LAGBC_INLINED { return low + high; });
}

// Part i of a row under a mask, and ones in its other columns. Nothing was written there: it may be a number below the
// normal ones, with which an operation takes a hundred times as long.
LAGBC_INLINE Lanes load_live(const double* values, uint64_t mask, int i) {
    return select(set_of(mask, i), load(values, i), splat(1.0));
}

// sum(where(mask, one * other * times, 0))
LAGBC_APART double dot_rows(const double* one, const double* other, uint64_t mask, const double* times) {
    return masked_sum(mask, [&](int i) LAGBC_INLINED {
        return load_live(one, mask, i) * load_live(other, mask, i) * load(times, i);
    });
}

// Close a vertex in the backward sweep, with sigma = values: write where(mask, omega / sigma + total, sigma); return
// sum(where(mask, sigma * total * times, 0)).
LAGBC_APART double finish_row(double* values, uint64_t mask, const Row& total, const Row& omega, const double* times) {
    return masked_sum(mask, [&](int i) LAGBC_INLINED {
        const Lanes sigma = load_live(values, mask, i);
        store(values, i, select(set_of(mask, i), omega.part[i] / sigma + total.part[i], load(values, i)));
        return sigma * total.part[i] * load(times, i);
    });
}

// Sums of a row's columns and of their squares, each column as often as it counts.
struct Moments {
    double sum, squares;
};

// sum(where(mask, of(i) * times, 0)) and sum(where(mask, of(i)^2 * times, 0)), of(i) being part i of a row
template <class Of>
LAGBC_INLINE Moments masked_moments(uint64_t mask, const double* times, const Of& of) {
    struct Both {
        Lanes sum, squares;
    };
    const Both both = tree_of_parts(
        [&](int i) LAGBC_INLINED {
            const Lanes x = where(set_of(mask, i), of(i)), counted = x * load(times, i);
            return Both{counted, counted * x};
        },
        [](const Both& low, const Both& high)
            LAGBC_INLINED { return Both{low.sum + high.sum, low.squares + high.squares}; });
    const auto add = [](double low, double high) LAGBC_INLINED { return low + high; };
    return {tree_of_lanes(both.sum, add), tree_of_lanes(both.squares, add)};
}

// `dot_rows` with squares. Few sweeps ask for squares: such operations are not inlined.
[[gnu::noinline]] inline Moments dot_rows_moments(const double* one, const double* other, uint64_t mask,
                                                  const double* times) {
    return masked_moments(mask, times,
                          [&](int i) LAGBC_INLINED { return load_live(one, mask, i) * load_live(other, mask, i); });
}

// `finish_row` with squares.
[[gnu::noinline]] inline Moments finish_row_moments(double* values, uint64_t mask, const Row& total, const Row& omega,
                                                    const double* times) {
    return masked_moments(mask, times, [&](int i) LAGBC_INLINED {
        const Lanes sigma = load_live(values, mask, i);
        store(values, i, select(set_of(mask, i), omega.part[i] / sigma + total.part[i], load(values, i)));
        return sigma * total.part[i];
    });
}

// The same for numbers of paths, before `finish_row`: write where(mask, omega + total, paths); return
// sum(where(mask, values * total * times, 0)).
LAGBC_APART double finish_paths_row(double* paths, const double* values, uint64_t mask, const Row& total,
                                    const Row& omega, const double* times) {
    return masked_sum(mask, [&](int i) LAGBC_INLINED {
        store(paths, i, select(set_of(mask, i), omega.part[i] + total.part[i], load(paths, i)));
        return load_live(values, mask, i) * total.part[i] * load(times, i);
    });
}

// sum(where(mask, values, 0)), and sum(where(mask, 1 / values, 0))
LAGBC_INLINE double sum_row(const double* values, uint64_t mask) {
    return masked_sum(mask, [&](int i) LAGBC_INLINED { return load(values, i); });
}

LAGBC_INLINE double sum_inverse_row(const double* values, uint64_t mask) {
    return masked_sum(mask, [&](int i) LAGBC_INLINED { return splat(1.0) / load(values, i); });
}

// sum(where(mask, values^2, 0)), and sum(where(mask, 1 / values^2, 0))
LAGBC_INLINE double sum_squares_row(const double* values, uint64_t mask) {
    return masked_sum(mask, [&](int i) LAGBC_INLINED { return load(values, i) * load(values, i); });
}

LAGBC_INLINE double sum_inverse_squares_row(const double* values, uint64_t mask) {
    return masked_sum(mask, [&](int i) LAGBC_INLINED {
        const Lanes inverse = splat(1.0) / load(values, i);
        return inverse * inverse;
    });
}

// largest = maximum(where(mask, values, 0), largest)
LAGBC_INLINE void raise_row(Row& largest, const double* values, uint64_t mask) {
    each_part([&](int i) LAGBC_INLINED {
        const Lanes value = where(set_of(mask, i), load(values, i));
        largest.part[i] = select(is_less(largest.part[i], value), value, largest.part[i]);
    });
}

// Distances of either type; `length_of` turns the length of an edge into that type.

LAGBC_INLINE double infinite_distance(const double*) {
    return infinity;
}
LAGBC_INLINE uint16_t infinite_distance(const uint16_t*) {
    return short_infinity;
}

LAGBC_INLINE Lanes length_of(double length, const double*) {
    return splat(length);
}
LAGBC_INLINE ShortLanes length_of(double length, const uint16_t*) {
    return splat(static_cast<uint16_t>(length));
}

LAGBC_INLINE Lanes lengthen(Lanes near, Lanes length) {
    return near + length;
}
LAGBC_INLINE ShortLanes lengthen(ShortLanes near, ShortLanes length) {
    return add_saturated(near, length);
}

// The columns in the sets is(i) of lanes, one set for each part of a row.
template <class Distance, class Is>
LAGBC_INLINE uint64_t mask_of(const Is& is) {
    uint64_t mask = 0;
    each_part<parts_of<Distance>>([&](int i) LAGBC_INLINED { mask |= bits_of(is(i)) << (lanes_of<Distance> * i); });
    return mask;
}

// Whether any column is in these sets.
template <class Distance, class Is>
LAGBC_INLINE bool any_of(const Is& is) {
    auto some = is(0);
    each_part<parts_of<Distance> - 1>([&](int i) LAGBC_INLINED { some |= is(i + 1); });
    return is_any(some);
}

// Write far = minimum(near + length, far); return the columns that fell. Most edges let none fall.
template <class Distance>
LAGBC_INLINE uint64_t relax_row(const Distance* near, Distance* far, VectorOf<Distance> along) {
    auto is_smaller = [&](int i) LAGBC_INLINED { return is_less(lengthen(load(near, i), along), load(far, i)); };
    if (!any_of<Distance>(is_smaller)) return 0;
    uint64_t smaller = 0;
    each_part<parts_of<Distance>>([&](int i) LAGBC_INLINED {
        const auto through = lengthen(load(near, i), along), known = load(far, i);
        const auto nearer = is_less(through, known);
        smaller |= bits_of(nearer) << (lanes_of<Distance> * i);
        store(far, i, select(nearer, through, known));
    });
    return smaller;
}

// The smallest distance under a mask, infinity without any.
LAGBC_INLINE double minimum_of_row(const double* values, uint64_t mask) {
    return tree([&](int i) LAGBC_INLINED { return select(set_of(mask, i), load(values, i), splat(infinity)); },
                [](auto low, auto high) LAGBC_INLINED { return low < high ? low : high; });
}

LAGBC_INLINE double minimum_of_row(const uint16_t* values, uint64_t mask) {
    ShortLanes smallest = splat(short_infinity);
    each_part<parts_of<uint16_t>>([&](int i) LAGBC_INLINED {
        const ShortLanes value = select(short_set_of(mask, i), load(values, i), splat(short_infinity));
        smallest = select(is_less(value, smallest), value, smallest);
    });
    const uint16_t least = smallest_of(smallest);
    return least == short_infinity ? infinity : least;
}

// The columns with distances below infinity, and those with numbers above zero.
template <class Distance>
LAGBC_INLINE uint64_t finite_in_row(const Distance* values) {
    return mask_of<Distance>([&](int i)
                                 LAGBC_INLINED { return is_less(load(values, i), splat(infinite_distance(values))); });
}

LAGBC_INLINE uint64_t positive_in_row(const double* values) {
    return mask_of<double>([&](int i) LAGBC_INLINED { return is_less(Lanes{}, load(values, i)); });
}

// The columns in which an edge leads on a shortest path from `near` to `far`:
//
//     near < far   and   abs(near + length - far) <= rtol * far
//
// False where the tail is not reached, as infinity is below nothing. Distances are final: where the tail is reached, so
// is the head. Distances of type uint16 are compared exactly, whatever `rtol` is.
LAGBC_INLINE uint64_t tight_in_row(const double* near, const double* far, double length, double rtol) {
    const Lanes along = splat(length);
    return mask_of<double>([&](int i) LAGBC_INLINED {
        const Lanes from = load(near, i), to = load(far, i);
        const Lanes gap = from + along - to, most = splat(rtol) * to;
        return static_cast<Set>(is_less(from, to) & is_at_most(gap, most) & is_at_most(-most, gap));
    });
}

LAGBC_INLINE uint64_t tight_in_row(const uint16_t* near, const uint16_t* far, double length, double) {
    const ShortLanes along = length_of(length, near);
    auto is_tight = [&](int i) LAGBC_INLINED {
        const ShortLanes from = load(near, i), to = load(far, i);
        return static_cast<ShortSet>(is_less(from, to) & is_equal(lengthen(from, along), to));
    };
    return any_of<uint16_t>(is_tight) ? mask_of<uint16_t>(is_tight) : 0;
}

}  // namespace lagbc
