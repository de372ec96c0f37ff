// The sums of a batch as Python hands them over: `Sums.row` of lagbc/methods/sums.py.
#pragma once

#include "../kernels/batch_sums.h"
#include "numpy.h"

namespace lagbc {

inline auto items(BatchSums& sums) {
    return std::tuple(Item("dependency", sums.dependency), Item("stress", sums.stress), Item("edges", sums.edges),
                      Item("reached", sums.reached), Item("distance", sums.distance), Item("inverse", sums.inverse),
                      Item("dependency_squares", sums.dependency_squares), Item("edges_squares", sums.edges_squares),
                      Item("distance_squares", sums.distance_squares), Item("inverse_squares", sums.inverse_squares),
                      Item("depth", sums.depth));
}

}  // namespace lagbc
