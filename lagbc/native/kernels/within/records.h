// Room for a block of neighbouring roots and its ball; the same types at every level.
#pragma once

#include "../arrays.h"

namespace lagbc {

// A matrix has a row for each vertex of the ball, and a lane for each root.
template <class Number>
struct Ball {
    int64_t rows = 0, edges = 0;  // of the ball that was found last
    // Numbers of each vertex for a search; between two searches, no vertex has a row, and none waits.
    Span<int32_t> row;         // (n,) in the ball, from 1 on; 0 is none
    Span<double> nearest;      // (n,) distance from the nearest root, of a vertex with a row
    Span<int32_t> queue;       // (n + 1,)
    Span<uint8_t> is_queued;   // (n,)
    Span<int32_t> vertices;    // (most rows + 1,) vertex of each row; one more tells that a ball has no room
    Span<int64_t> roots;       // (64,) row of the root of each lane; -1 in a lane without a root
    Span<int64_t> out_indptr;  // edges that leave each row
    Span<int32_t> out_indices;
    Span<Number> out_lengths;
    Span<int64_t> into_indptr;  // edges that enter it; the same arrays where all edges lead both ways
    Span<int32_t> into_indices;
    Span<Number> into_lengths;
    Optional<Span<int64_t>> places;      // of the edges that leave, in the graph; None where edges are not summed
    Optional<Span<int64_t>> place_rows;  // room for their rows among the sums
    Number far;                          // the distance of all vertices beyond the radius
    Rows<Number> dist;
    Optional<Rows<double>> sigma;   // path counts, at least 1; None where no path is counted
    Rows<double> own;               // weight of a target per path to it
    Optional<Rows<double>> beyond;  // c: `own` with the sum of c over tight successors
    Span<uint8_t> waits;            // whether a row is to be made anew
    Span<uint8_t> plain;            // whether all path counts of a row are 1, as most are where lengths seldom tie
    Span<uint8_t> tight;            // whether each of the edges that enter is tight in some lane
    Span<double> totals;            // room for a sum over the lanes
};

}  // namespace lagbc
