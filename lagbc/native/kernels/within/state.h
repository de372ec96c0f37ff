// The arrays for a block of neighbouring roots and its ball.
#pragma once

#include "../memory.h"
#include "../traversal/state.h"

namespace lagbc {

// The sizes of the arrays; a tuple in Python.
struct BallSize {
    int64_t n = 0;                // vertices of the graph
    int64_t rows = 0, edges = 0;  // of a ball, at most
    bool is_symmetric = false;    // whether all edges lead both ways
    bool has_paths = false;       // whether paths are counted
    bool has_edges = false;       // whether edges are summed
};

// Matrices have a row for each vertex of the ball, and a lane for each root.
template <class Number>
struct Ball {
    Memory memory;                // of all its arrays; pages that no ball needs are never touched
    int64_t rows = 0, edges = 0;  // of the last ball
    // For the search of a ball; between two searches no vertex has a row, and none waits.
    Span<int32_t> row;         // (n,) from 1 on; 0 is none
    Span<double> nearest;      // (n,) distance from the nearest root, of vertices with a row
    Span<int32_t> queue;       // (n + 1,)
    Span<uint8_t> is_queued;   // (n,)
    Span<int32_t> vertices;    // (most rows + 1,) vertex of each row, and one more if a ball is too large
    Span<int64_t> roots;       // (64,) row of the root of each lane; -1 in a lane without a root
    Span<int64_t> out_indptr;  // the edges that leave each row
    Span<int32_t> out_indices;
    Span<Number> out_lengths;
    Span<int64_t> into_indptr;  // the edges that enter each row; the same arrays if all edges lead both ways
    Span<int32_t> into_indices;
    Span<Number> into_lengths;
    Optional<Span<int64_t>> places;      // of leaving edges in the graph; None where edges are not summed
    Optional<Span<int64_t>> place_rows;  // room for the rows of their sums
    Number far{};                        // stands for all distances beyond the radius
    Rows<Number> dist;
    Optional<Rows<double>> sigma;   // path counts, at least 1; None where no path is counted
    Rows<double> own;               // weight of each target, shared out among the paths to it
    Optional<Rows<double>> beyond;  // c: `own` with the sum of c over tight successors
    Span<uint8_t> waits;            // whether a row is to be made anew
    Span<uint8_t> plain;            // whether all path counts of a row are 1, as most are where lengths seldom tie
    Span<uint8_t> tight;            // whether an entering edge is tight in some lane
    Span<double> totals;            // room for a sum over the lanes of each row

    explicit Ball(const BallSize& size, bool only_counts = false)
        : memory(only_counts),
          row(memory.zeros<int32_t>("row", size.n)),
          nearest(memory.array<double>("nearest", size.n)),
          queue(memory.array<int32_t>("queue", size.n + 1)),
          is_queued(memory.zeros<uint8_t>("is_queued", size.n)),
          vertices(memory.array<int32_t>("vertices", size.rows + 1)),
          roots(memory.array<int64_t>("roots", columns)),
          out_indptr(memory.array<int64_t>("out_indptr", size.rows + 1)),
          out_indices(memory.array<int32_t>("out_indices", size.edges)),
          out_lengths(memory.array<Number>("out_lengths", size.edges)),
          into_indptr(size.is_symmetric ? out_indptr : memory.array<int64_t>("into_indptr", size.rows + 1)),
          into_indices(size.is_symmetric ? out_indices : memory.array<int32_t>("into_indices", size.edges)),
          into_lengths(size.is_symmetric ? out_lengths : memory.array<Number>("into_lengths", size.edges)),
          places(maybe(size.has_edges, [&] { return memory.array<int64_t>("places", size.edges); })),
          place_rows(maybe(size.has_edges, [&] { return memory.array<int64_t>("place_rows", size.edges); })),
          dist(memory.rows<Number>("dist", size.rows)),
          sigma(maybe(size.has_paths, [&] { return memory.rows<double>("sigma", size.rows); })),
          own(memory.rows<double>("own", size.rows)),
          beyond(maybe(size.has_paths, [&] { return memory.rows<double>("beyond", size.rows); })),
          waits(memory.array<uint8_t>("waits", size.rows)),
          plain(memory.array<uint8_t>("plain", size.rows)),
          tight(memory.array<uint8_t>("tight", size.edges)),
          totals(memory.array<double>("totals", size.rows)) {}
};

// A ball, and the worker that holds its sums.
template <class Index, class Number>
struct BallOf : Ball<Number> {
    Traversal<Index>* worker = nullptr;
    const Csr<Index>* into = nullptr;  // the transpose of its graph
    double worth = 0;                  // vertices whose search root by root costs as much as a row

    using Ball<Number>::Ball;
};

}  // namespace lagbc
