// Chains with vertices inside and the demand inside them, as kernels read and write them: lagbc/reduce/chains.py.
#pragma once

#include "../arrays.h"

namespace lagbc {

// The chains with vertices inside, seen from either end.
//
// Arrays of two rows have the chains from their first ends on, and from their second. Vertices inside chain c are
// starts[c]:starts[c + 1], number i of a row being the i-th from that end; its sums of the first 0, 1, ... of them
// begin at starts[c] + c. Half 2 c + side is chain c seen from an end.
struct Ways {
    Matrix<const int64_t> ends;  // rows of the contracted graph
    Span<const double> lengths;
    Span<const int64_t> starts;
    bool in_hops;                    // whether all edges are of length 1
    Matrix<const double> distances;  // from the end
    Matrix<const double> sources, targets;
    Matrix<const double> source_sums, target_sums;
    Span<const double> row_sources, row_targets;  // of the junctions, 0 for midpoints
    Span<const int64_t> halves;                   // sorted by their first row, and then by their last
    Span<const int64_t> first_halves;

    int64_t count() const { return lengths.size; }
    int64_t rows() const { return row_sources.size; }
    int64_t inside(int64_t c) const { return starts[c + 1] - starts[c]; }
};

// Demand, both directions together, at the vertices inside chains; zeros at first.
struct Flows {
    Matrix<double> out;  // from each vertex by that end, to other chains and to junctions
    Matrix<double>
        around;  // from each vertex by that end, to vertices of its own chain; both rows seen from the first end
    Span<double> within;  // within the chain, with the vertex in its interior
    Span<double> onward;  // within the chain along the edge from the vertex to the next one
};

}  // namespace lagbc
