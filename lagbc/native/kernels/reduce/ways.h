// Chains with vertices inside, and the demand inside them: lagbc/reduce/chains.py.
#pragma once

#include "../arrays.h"

namespace lagbc {

// The chains with vertices inside. In arrays of two rows, row 0 counts from the first ends of chains, row 1 from the
// second. The vertices inside chain c are starts[c]:starts[c + 1]; sums of the first 0, 1, ... of them begin at
// starts[c] + c. Half 2 c + side is chain c seen from one end.
struct Ways {
    Matrix<const int64_t> ends;  // rows of the contracted graph
    Span<const double> lengths;
    Span<const int64_t> starts;
    bool in_hops;                    // whether all edges are of length 1
    Matrix<const double> distances;  // of the vertices inside from that end
    Matrix<const double> sources, targets;
    Matrix<const double> source_sums, target_sums;
    Span<const double> row_sources, row_targets;  // of the junctions, 0 for midpoints
    Span<const int64_t> halves;                   // by the junction at their end, then by that at the other end
    Span<const int64_t> first_halves;             // where the halves of each junction begin

    int64_t count() const { return lengths.size; }
    int64_t rows() const { return row_sources.size; }
    int64_t inside(int64_t c) const { return starts[c + 1] - starts[c]; }
};

// Demand, both directions together, at the vertices inside chains; zeros at first.
struct Flows {
    Matrix<double> out;     // from each vertex by that end, to other chains and to junctions
    Matrix<double> around;  // from each vertex by that end to its own chain; both rows count from the first end
    Span<double> within;    // through each vertex, of paths within the chain
    Span<double> onward;    // along the edge from each vertex to the next one, of paths within the chain
};

}  // namespace lagbc
