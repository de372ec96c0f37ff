// The sums of a batch of roots, to which kernels add.
#pragma once

#include "arrays.h"

namespace lagbc {

// In matrix order; None where a sum is not asked for.
struct BatchSums {
    Optional<Span<double>> dependency, stress, edges, reached, distance, inverse;
    Optional<Span<double>> dependency_squares, edges_squares, distance_squares, inverse_squares;
    Optional<Span<double>> depth;  // the largest distance of each root
};

// The sums that are asked for.
struct Asks {
    bool dependency, stress, edges, reached, distance, inverse;
    bool dependency_squares, edges_squares, distance_squares, inverse_squares, depth;

    // Of a bit for each, in this order: `bits_of` in lagbc/methods/sums.py.
    static Asks of(uint32_t bits) {
        const auto has = [bits](int place) { return (bits >> place & 1) != 0; };
        return {has(0), has(1), has(2), has(3), has(4), has(5), has(6), has(7), has(8), has(9), has(10)};
    }

    bool path_squares() const { return dependency_squares || edges_squares; }
    bool of_edges() const { return edges || edges_squares; }
    bool paths() const { return dependency || stress || of_edges() || path_squares(); }
    bool distances() const { return reached || distance || inverse || distance_squares || inverse_squares || depth; }
};

}  // namespace lagbc
