// The sums of a batch of roots, to which kernels add: the same type at every level.
#pragma once

#include "arrays.h"

namespace lagbc {

// In matrix order; None for a sum that is not asked for.
struct BatchSums {
    Optional<Span<double>> dependency, stress, edges, reached, distance, inverse;
    Optional<Span<double>> dependency_squares, edges_squares, distance_squares, inverse_squares;
    Optional<Span<double>> depth;  // the largest distance of each root
};

}  // namespace lagbc
