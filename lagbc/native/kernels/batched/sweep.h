// The sweeps of the batched method: what one worker keeps between batches. Rows are vertices in sweep order.
//
// A constructor takes a sweep's arrays, or counts them: see memory.h.
#pragma once

#include <memory>

#include "../batch_sums.h"
#include "../memory.h"
#include "queue.h"

namespace lagbc {

// What the arrays of a sweep depend on.
struct BatchSize {
    int64_t n, nnz;
    int64_t room;          // entries of the queue in its first size; less than 0 is no queue
    int64_t growth;        // bytes that the queue may take beyond its room; less than 0 is any
    Asks asks;             // the sums asked for
    bool has_class_sizes;  // whether vertices stand for several on a path
    bool is_short;         // whether distances begin as uint16
};

// The request to a sweep: `BatchRequest` in lagbc/methods/cpu/batched.py. Each sweep reads the numbers of its schedule.
struct BatchRequest {
    double sigma_limit = 0;  // columns with larger counts are recomputed
    bool endpoints = false;  // whether the ends of a path count as vertices on it
    bool linear = false;     // whether a target counts by its nearness to the vertex; with squares alone
    // Level by level:
    int64_t active = 0;     // vertices with edges; they come first
    double pull_share = 0;  // a level pulls if its frontier has more than this share of the edges
    // Where rows wait:
    double count_width = 0;  // a phase visits rows at most so much farther from their nearest root than the nearest row
    // With lengths:
    double width = 0;    // of a bucket of Delta-stepping
    double rtol = 0;     // relative difference up to which two lengths are equal
    double longest = 0;  // largest of all lengths
};

// The fields of every sweep: 64 roots are the 64 columns of a batch.
template <class Index>
struct Sweep : BatchRequest {
    Memory memory;  // of all its arrays
    Asks asks;
    Stop stop;
    const Csr<Index>* out = nullptr;      // the graph in sweep order
    std::unique_ptr<Queue<Index>> queue;  // filled by the forward sweep
    Span<const int64_t> order;            // (n,): the vertex of each row, in matrix order
    Span<const int64_t> position;         // (n,): the row of each vertex
    Span<double> omega;                   // (n,): how many targets each vertex stands for
    Optional<Span<double>> class_sizes;   // (n,): how many vertices each stands for on a path; None is one each
    Optional<Rows<double>> values;        // sigma, then c; None if distances are enough
    Optional<Rows<double>> paths;         // t, for stress
    // Found by the forward sweep, and read by the backward one:
    int64_t roots = 0;        // without absent ones
    int64_t entries = 0;      // of the queue
    int64_t depth = 0;        // levels, or phases
    uint64_t overflowed = 0;  // columns that left the range of float64, or are to be recomputed for another reason

    Sweep(const BatchSize& size, bool has_values, bool only_counts)
        : memory(only_counts),
          asks(size.asks),
          queue(size.room < 0 ? nullptr : queue_of(size)),
          omega(memory.filled("omega", size.n, 1.0)),
          class_sizes(maybe(size.has_class_sizes, [&] { return memory.array<double>("class_sizes", size.n); })),
          values(maybe(has_values, [&] { return memory.rows<double>("values", size.n); })),
          paths(maybe(size.asks.stress, [&] { return memory.rows<double>("paths", size.n); })) {
        if (size.room >= 0) memory.count(bytes_of_sums(size));
    }

    // A queue in its first size, which takes and resizes its arrays.
    std::unique_ptr<Queue<Index>> queue_of(const BatchSize& size) {
        memory.count(size.room * static_cast<int64_t>(sizeof(Index) + sizeof(uint64_t)));
        return memory.only_counts() ? nullptr : std::make_unique<Queue<Index>>(size.room, size.n, size.growth);
    }

    // The sums of a batch in sweep order: over paths and of edges, or over distances, whichever take more bytes.
    static int64_t bytes_of_sums(const BatchSize& size) {
        const Asks asks = size.asks;
        const int64_t kinds = 1 + asks.path_squares();
        const int64_t of_paths = (kinds + asks.stress) * size.n + (asks.of_edges() ? kinds * size.nnz : 0);
        const int64_t of_distances = (asks.distance_squares || asks.inverse_squares ? 5 : 3) * size.n + columns;
        const int64_t numbers = asks.distances() ? std::max(asks.paths() ? of_paths : 0, of_distances) : of_paths;
        return static_cast<int64_t>(sizeof(double)) * numbers;
    }
};

// Hops, a row being counted at each level at which it is live; see levels.h.
template <class Index>
struct LevelSweep : Sweep<Index> {
    const Csr<Index>* into = nullptr;  // the transpose
    Matrix<uint64_t> bits;             // (3, n): bits[l % 3] holds the frontier of level l while the sweep is near it
    Span<uint64_t> visited;            // (n,)
    Span<int64_t> starts;              // (n + 2,): entries of level l are starts[l]:starts[l + 1]

    explicit LevelSweep(const BatchSize& size, bool only_counts = false)
        : Sweep<Index>(size, size.asks.paths(), only_counts),
          bits(this->memory.template zero_matrix<uint64_t>("bits", 3, size.n)),
          visited(this->memory.template zeros<uint64_t>("visited", size.n)),
          starts(this->memory.template zeros<int64_t>("starts", size.n + 2)) {}
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
    Span<uint64_t> waiting;      // (n,): columns in which a row waits, at first all that reach it
    Span<uint64_t> pushed;       // (n,): columns in which it was pushed to; zeros
    Span<double> nearest;        // (n,): distance from the nearest root; zeros at first
    Matrix<Index> lists;         // (2, n): rows pushed to
    Span<uint64_t> tight_masks;  // (nnz,): the columns in which each tight edge is tight
    Span<int64_t> in_starts;     // (n + 1,): the transpose of the tight edges
    Span<Index> in_ends;         // (nnz,)
    Span<uint64_t> in_masks;     // (nnz,)

    CountingSweep(const BatchSize& size, bool only_counts)
        : Sweep<Index>(size, true, only_counts),
          waiting(this->memory.template zeros<uint64_t>("waiting", size.n)),
          pushed(this->memory.template zeros<uint64_t>("pushed", size.n)),
          nearest(this->memory.template zeros<double>("nearest", size.n)),
          lists(this->memory.template matrix<Index>("lists", 2, size.n)),
          tight_masks(this->memory.template array<uint64_t>("tight_masks", size.nnz)),
          in_starts(this->memory.template zeros<int64_t>("in_starts", size.n + 1)),
          in_ends(this->memory.template array<Index>("in_ends", size.nnz)),
          in_masks(this->memory.template array<uint64_t>("in_masks", size.nnz)) {}
};

// In hops; see waiting.h. The list of tight edges is the list of all edges.
template <class Index>
struct WaitingSweep : CountingSweep<Index> {
    Matrix<uint64_t> frontier;  // (2, n): bit rows of a level and of the next; zeros but while levels are found
    std::unique_ptr<Queue<Index>> levels;  // the entries of all levels, if distances are summed, and where each begins:
    Optional<Span<int64_t>> level_starts;  // (n + 2,)

    explicit WaitingSweep(const BatchSize& size, bool only_counts = false)
        : CountingSweep<Index>(size, only_counts),
          frontier(this->memory.template zero_matrix<uint64_t>("frontier", 2, size.n)),
          levels(size.asks.distances() ? this->queue_of(size) : nullptr),
          level_starts(maybe(size.asks.distances(),
                             [&] { return this->memory.template zeros<int64_t>("level_starts", size.n + 2); })) {}
};

// With lengths; see lengths.h.
template <class Index>
struct LengthSweep : CountingSweep<Index> {
    Rows<double> distances;  // the same as `values`, unless both are read when paths have been counted
    Optional<Rows<uint16_t>> short_distances;  // in their place while `is_short`: integers below 65535
    bool is_short = false;                     // until a distance is as large
    Span<int64_t> tight_starts;                // (n + 1,): the edges that are tight in some column
    Span<Index> tight_ends;                    // (nnz,)

    explicit LengthSweep(const BatchSize& size, bool only_counts = false)
        : CountingSweep<Index>(size, only_counts),
          distances(size.asks.paths() && size.asks.distances() ? this->memory.template rows<double>("distances", size.n)
                                                               : Rows<double>(this->values)),
          short_distances(
              maybe(size.is_short, [&] { return this->memory.template rows<uint16_t>("short_distances", size.n); })),
          is_short(size.is_short),
          tight_starts(this->memory.template zeros<int64_t>("tight_starts", size.n + 1)),
          tight_ends(this->memory.template array<Index>("tight_ends", size.nnz)) {}

    bool counts() const { return this->asks.paths(); }
};

// What the arrays of a rank's part of a grid depend on: the columns and rows of its block, and the rows of a slice.
struct BlockSize {
    int64_t n, rows, slice;
    Asks asks;
};

// Hops on a block of a matrix that is dealt over ranks in a grid; see block.h. Its rows are some vertices, and those of
// `order`, `omega` and `values` the others, which edges lead from. What a rank owns is in both.
struct BlockSweep : Sweep<Narrow> {
    const Csr<Narrow>* into = nullptr;   // edges by heads; those of `out` are by tails, too
    const Csr<Narrow>* reach = nullptr;  // the transpose of `into`
    Span<uint64_t> bits;                 // (n,): columns in which a vertex is on the frontier
    Span<uint64_t> wanted;  // (rows,): columns in which a row is to be summed; of no row before and after a search
    Span<uint8_t> marks;    // (rows,): zeros; whether a row was pushed to
    Rows<double> totals;    // (slice, 64): sums of rows that are owned, from all ranks of a grid row
    Optional<Rows<double>> path_totals;
    Span<uint64_t> met;       // (slice,): columns in which there is a sum; zeros
    int64_t own = 0;          // the first vertex that is owned
    Span<double> dependency;  // (n,): sums over paths
    Optional<Span<double>> stress, dependency_squares;

    explicit BlockSweep(const BlockSize& size, bool only_counts = false)
        : Sweep<Narrow>({size.n, 0, -1, -1, size.asks, false, false}, size.asks.paths(), only_counts),
          bits(memory.zeros<uint64_t>("bits", size.n)),
          wanted(memory.zeros<uint64_t>("wanted", size.rows)),
          marks(memory.zeros<uint8_t>("marks", size.rows)),
          totals(memory.rows<double>("totals", size.slice)),
          path_totals(maybe(size.asks.stress, [&] { return memory.rows<double>("path_totals", size.slice); })),
          met(memory.zeros<uint64_t>("met", size.slice)),
          dependency(memory.zeros<double>("dependency", size.n)),
          stress(maybe(size.asks.stress, [&] { return memory.zeros<double>("stress", size.n); })),
          dependency_squares(
              maybe(size.asks.dependency_squares, [&] { return memory.zeros<double>("dependency_squares", size.n); })) {
        const Span<int64_t> numbers = memory.array<int64_t>("order", size.n);
        for (int64_t v = 0; v < size.n && !only_counts; ++v) numbers[v] = v;
        order = numbers;
    }
};

}  // namespace lagbc
