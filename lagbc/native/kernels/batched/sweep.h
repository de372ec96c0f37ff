// The records that one worker of the batched method keeps between calls. Rows are vertices in sweep order.
#pragma once

#include "queue.h"

namespace lagbc {

// The fields of every sweep: 64 roots are the 64 columns of a batch.
template <class Index>
struct Sweep {
    Ref<const Csr<Index>> out;                 // the graph in sweep order
    Ref<Queue<Index>> queue;                   // filled by the forward sweep
    Span<const int64_t> order;                 // (n,): the vertex of each row, in matrix order
    Span<const double> omega;                  // (n,): how many targets each vertex stands for
    Optional<Span<const double>> class_sizes;  // (n,): how many vertices each stands for on a path; None is one each
    Optional<Rows<double>> values;             // sigma, then c; None if distances are enough
    Optional<Rows<double>> paths;              // t, for stress
    Stop stop;
    double sigma_limit = 0;  // columns with larger counts are recomputed
    bool endpoints = false;  // whether the ends of a path count as vertices on it
    bool linear = false;     // whether a target counts by its nearness to the vertex; with squares alone
    // Found by the forward sweep, and read by the backward one:
    int64_t roots = 0;        // without absent ones
    int64_t entries = 0;      // of the queue
    int64_t depth = 0;        // levels, or phases
    uint64_t overflowed = 0;  // columns that left the range of float64, or are to be recomputed for another reason
};

// Hops, a row being counted at each level at which it is live; see levels.h.
template <class Index>
struct LevelSweep : Sweep<Index> {
    Ref<const Csr<Index>> into;  // the transpose
    Matrix<uint64_t> bits;       // (3, n): bits[l % 3] holds the frontier of level l while the sweep is near it
    Span<uint64_t> visited;      // (n,)
    Span<int64_t> starts;        // (n + 2,): entries of level l are starts[l]:starts[l + 1]
    int64_t active = 0;          // vertices with edges; they come first
    double pull_share = 0;       // a level pulls if its frontier has more than this share of the edges
};

// Hops on a block of a matrix that is dealt over ranks in a grid; see block.h. Its rows are some vertices, and those of
// `order`, `omega` and `values` the others, which edges lead from. What a rank owns is in both.
struct BlockSweep : Sweep<Narrow> {
    Ref<const Csr<Narrow>> into;   // edges by heads; those of `out` are by tails, too
    Ref<const Csr<Narrow>> reach;  // the transpose of `into`
    Span<uint64_t> bits;           // (n,): columns in which a vertex is on the frontier
    Span<uint64_t> wanted;  // (rows,): columns in which a row is to be summed; of no row before and after a search
    Span<uint8_t> marks;    // (rows,): zeros; whether a row was pushed to
    Rows<double> totals;    // (slice, 64): sums of rows that are owned, from all ranks of a grid row
    Optional<Rows<double>> path_totals;
    Span<uint64_t> met;       // (slice,): columns in which there is a sum; zeros
    int64_t own = 0;          // the first vertex that is owned
    Span<double> dependency;  // (n,): sums over paths
    Optional<Span<double>> stress, dependency_squares;
};

// Edges and the columns in which they are tight: row v has starts[v]:starts[v + 1].
template <class Index>
struct TightEdges {
    Span<const int64_t> starts;
    Span<const Index> ends;
    Span<const uint64_t> masks;
};

// Sweeps whose rows wait until they can be counted in most of their columns; see counting.h.
template <class Index>
struct CountingSweep : Sweep<Index> {
    double count_width = 0;  // a phase visits rows at most so much farther from their nearest root than the nearest row
    Span<uint64_t> waiting;  // (n,): columns in which a row waits, at first all that reach it
    Span<uint64_t> pushed;   // (n,): columns in which it was pushed to; zeros
    Span<double> nearest;    // (n,): distance from the nearest root; zeros at first
    Matrix<Index> lists;     // (2, n): rows pushed to
    Span<uint64_t> tight_masks;  // (nnz,): the columns in which each tight edge is tight
    Span<int64_t> in_starts;     // (n + 1,): the transpose of the tight edges
    Span<Index> in_ends;         // (nnz,)
    Span<uint64_t> in_masks;     // (nnz,)
};

// In hops; see waiting.h. The list of tight edges is the list of all edges.
template <class Index>
struct WaitingSweep : CountingSweep<Index> {
    Matrix<uint64_t> frontier;       // (2, n): bit rows of a level and of the next; zeros but while levels are found
    Queue<Index>* levels = nullptr;  // the entries of all levels, if distances are summed, and where each level begins:
    Optional<Span<int64_t>> level_starts;  // (n + 2,)
};

// With lengths; see lengths.h.
template <class Index>
struct LengthSweep : CountingSweep<Index> {
    double width = 0;        // of a bucket of Delta-stepping
    double rtol = 0;         // relative difference up to which two lengths are equal
    double longest = 0;      // largest of all lengths
    bool counts = false;     // whether paths are counted
    Rows<double> distances;  // the same as `values`, unless both are read when paths have been counted
    Optional<Rows<uint16_t>> short_distances;  // in their place while `is_short`: integers below 65535
    bool is_short = false;                     // until a distance is as large
    Optional<Span<int64_t>> tight_starts;      // (n + 1,): the edges that are tight in some column
    Optional<Span<Index>> tight_ends;          // (nnz,)
};

}  // namespace lagbc
