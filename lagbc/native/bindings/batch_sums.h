// The sums of a batch as Python hands them over: `Sums.row` of lagbc/methods/sums.py.
#pragma once

#include "../kernels/batch_sums.h"
#include "tuples.h"

namespace lagbc {

template <>
struct Items<BatchSums> {
    using S = BatchSums;
    static constexpr const char* name = "row of sums";
    static constexpr std::tuple fields{
        Field{"dependency", &S::dependency, "n"},
        Field{"stress", &S::stress, "n"},
        Field{"edges", &S::edges, "nnz"},
        Field{"reached", &S::reached, "n"},
        Field{"distance", &S::distance, "n"},
        Field{"inverse", &S::inverse, "n"},
        Field{"dependency_squares", &S::dependency_squares, "n"},
        Field{"edges_squares", &S::edges_squares, "nnz"},
        Field{"distance_squares", &S::distance_squares, "n"},
        Field{"inverse_squares", &S::inverse_squares, "n"},
        Field{"depth", &S::depth, "roots"},
    };
};

}  // namespace lagbc
