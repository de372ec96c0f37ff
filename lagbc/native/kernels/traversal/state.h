// A worker of the traversals: its search, its trail and its sums.
#pragma once

#include <limits>

#include "../batch_sums.h"
#include "../buffer.h"
#include "../memory.h"

namespace lagbc {

// The sizes of a worker's arrays: `Size` in lagbc/methods/cpu/traversal.py.
struct TraversalSize {
    int64_t n = 0, nnz = 0;  // vertices and edges
    int64_t most = 0;        // tight edges of a root, or notes
    int64_t buckets = 0;     // of the queue, a power of two; 0 is a heap, and -1 a search in hops
    uint32_t sums = 0;       // asked for, as bits of `Asks`
    int64_t block = 0;       // roots that are summed together; 0 is all
    int64_t most_kept = 0;   // blocks that are kept at once
    bool has_omega = false, has_class_sizes = false, has_coordinates = false, has_trips = false;
    int64_t roots = 0;                                    // roots of a block within bounds; 0 without bounds
    int64_t of_vertices = 0, of_edges = 0, of_roots = 0;  // columns of the sums within bounds
};

// Targets of each root by itself: the trips of root s are numbers[first[s]:first[s + 1]], at their ends, in the
// caller's order. They are divided by 2**shifts[s], and the root counts 2**shifts[s] times as often.
template <class Index>
struct Trips {
    Span<const double> numbers;
    Span<const Index> ends;
    Span<const int64_t> first, shifts;
    Optional<Span<double>> targets;  // (n,) room for the targets of one root, in sweep order; 0 between two roots
};

// The results of the search from one root, and room for its sums.
//
// The numbers of a vertex stand at its place in `order`, and an edge names the places of its ends. So a sweep reads and
// writes entries that lie together, whatever the graph's own order. Entries behind the settled vertices, and behind the
// tight edges, are not read.
template <class Index>
struct Trail {
    Span<Index> order;              // (n,) vertices as they were settled, each behind its predecessors
    Span<double> dist;              // (n,) distance from the root of order[i]
    Span<double> sigma;             // (n,) number of its shortest paths
    Span<Index> tails, heads;       // (most,) places in `order` of the ends of each tight edge; tails never fall
    Optional<Span<int64_t>> edges;  // (most,) number of the edge in the searched graph; None where edges are not summed
    Span<double> own, onward;       // (n,) room for the weight of a target, and for the sum over its tight successors
    Optional<Span<double>> class_sizes;  // (n,) how many vertices order[i] stands for; None is one each
};

// The vertices or edges that the roots of a block have reached.
//
// Where roots reach little, a pass over all vertices or edges takes longer than the searches. So the reached ones are
// listed while there is room, and only these are taken and cleared. A block whose lists have room is kept as entries: a
// vertex or edge, and its number in each total.
struct Touched {
    Span<int64_t> names;         // (room,) with repetitions
    int64_t count = 0;           // of names; -1 if they exceed the room
    int64_t rows = 0;            // count of totals
    Buffer<int64_t> kept_names;  // (entries,), made when the first block is kept
    Buffer<double> kept_sums;    // (rows, entries)
    Buffer<int64_t> kept_ends;   // (blocks,) count of entries up to the end of each kept block
};

// Sums of a block of roots, by vertices and edges of the searched graph, without `depth`. `dependency` is there if any
// sum over paths is.
struct Totals : BatchSums {
    Optional<Touched> of_vertices, of_edges;  // where a sum of the kind is asked for
    int64_t block = 0;                        // roots of a block; 0 is all
    int64_t most_kept = 0;                    // blocks that are kept at once
    int64_t kept = 0;                         // count of kept blocks
};

// The request for each root.
struct TraversalRequest {
    double radius = infinity;  // no vertex beyond it is searched
    double limit = infinity;   // a root with a larger path count has overflowed
    double rtol = 0.0;         // how much longer than the shortest a path may be, relatively
    bool endpoints = false;
    bool linear = false;  // as in `SweepPlan`
};

struct Asked : TraversalRequest {
    Optional<Span<const double>> class_sizes;  // (n,) how many vertices each stands for on a path
    bool counts_paths = true;
    Stop stop;
};

// Results, an entry a root.
struct Found {
    Buffer<int64_t> reached;  // count of vertices, the root among them; 0 if it is absent
    Buffer<double> depth;     // the largest distance; 0 if the root is absent or has overflowed
    Buffer<bool> overflowed;

    explicit Found(int64_t roots) : reached(roots, 0), depth(roots, 0.0), overflowed(roots, false) {}
};

// The first column of each sum in its array; -1 where it is not asked for.
struct Columns {
    int64_t dependency = -1, stress = -1, reached = -1, distance = -1, inverse = -1;
    int64_t edges = -1, depth = -1, targets = -1, gravity = -1, straight = -1;
};

struct Bounds {
    Span<const double> radii, decays;  // radii of the columns that decay, the decays of the first cutoff first
    Span<const double> cutoffs;        // of the other columns
    Columns columns;
};

// The sums of a block of roots within bounds. Touched vertices and edges get rows, in the order of the first touch.
template <class Index>
struct Near : Bounds {
    Span<double> weights;         // (n,) room for the weight of the target at each place
    Optional<Span<double>> x, y;  // (n,) coordinates of each vertex; None where no lines are summed
    Span<Index> row_of_vertex, vertex_of_row;
    Span<Index> vertex_rows;  // (n,) rows of the vertices of a trail, in its order
    int64_t vertices = 0;     // count of vertices with a row
    Span<int64_t> row_of_edge, edge_of_row;
    Span<int64_t> edge_rows;  // (most,) rows of the tight edges of a trail
    int64_t edges = 0;
    Matrix<double> by_vertex, by_edge, by_root;  // 0 in rows without a name

    double decay(int64_t column) const { return decays[column % decays.size]; }
};

// The state of a search besides its trail; in hops `places` alone.
template <class Index>
struct Search {
    Span<double> dist;     // (n,) distances known so far; inf before and after a search
    Span<Index> places;    // (n,) place of a settled vertex in the trail, or of a waiting one in the heap; else n
    Span<double> through;  // (most,) length of the path that ends with the edge of each note
};

// Notes that wait in buckets; the array of buckets is a ring.
struct Buckets {
    Span<uint32_t> last;      // (a power of two,) last note in each; the largest number if it is empty
    Span<uint32_t> before;    // (most,) the note before each one in its bucket
    double per_length = 0.0;  // one over the width of a bucket
};

// A heap of vertices that wait; the children of slot i are 4 i + 1 to 4 i + 4.
template <class Index>
struct Heap {
    Span<double> keys;  // (n,)
    Span<Index> vertices;
};

template <class Index>
struct Traversal {
    Memory memory;                              // of all its arrays
    const Csr<Index>* graph = nullptr;          // in sweep order
    Span<const int64_t> order;                  // (n,) the vertex at each place of that order
    Optional<Span<const int64_t>> position;     // (n,) the place of each root; None if roots are places
    Optional<Span<const double>> root_weights;  // (n,) how often each root counts; None is once
    Optional<Span<double>> omega, class_sizes;  // (n,) of each place: target weights, and members of a vertex
    int64_t buckets_of_queue;                   // as in `TraversalSize`
    Search<Index> search;
    Buckets buckets;
    Heap<Index> heap;
    Trail<Index> trail;
    Trips<Index> trips;
    Asked asked;
    Totals totals;
    Near<Index> near;
    // Searches roots first to last of some, and adds them to the sums within bounds; from the module that made this.
    void (*sum_near)(Traversal& s, Span<const int64_t> roots, int64_t first, int64_t last, Found& found) = nullptr;

    explicit Traversal(const TraversalSize& size, bool only_counts = false)
        : memory(only_counts),
          omega(maybe(size.has_omega, [&] { return memory.array<double>("omega", size.n); })),
          class_sizes(maybe(size.has_class_sizes, [&] { return memory.array<double>("class_sizes", size.n); })),
          buckets_of_queue(size.buckets) {
        make_search(size);
        make_trail(size);
        trips.targets = maybe(size.has_trips, [&] { return memory.zeros<double>("targets", size.n); });
        near.x = maybe(size.has_coordinates, [&] { return memory.array<double>("x", size.n); });
        near.y = maybe(size.has_coordinates, [&] { return memory.array<double>("y", size.n); });
        if (size.roots > 0)
            make_near(size);
        else
            make_totals(size);
        asked.counts_paths = Asks::of(size.sums).paths();
        asked.class_sizes = class_sizes;
    }

private:
    void make_search(const TraversalSize& size) {
        search.places = memory.filled("places", size.n, static_cast<Index>(size.n));
        if (size.buckets < 0) return;
        search.dist = memory.filled("known", size.n, infinity);
        search.through = memory.array<double>("through", size.most);
        if (size.buckets == 0)
            heap = {memory.array<double>("keys", size.n), memory.array<Index>("vertices", size.n)};
        else
            buckets = {memory.filled("last", size.buckets, std::numeric_limits<uint32_t>::max()),
                       memory.array<uint32_t>("before", size.most)};
    }

    void make_trail(const TraversalSize& size) {
        const Asks asks = Asks::of(size.sums);
        trail = {memory.array<Index>("order", size.n),
                 memory.array<double>("dist", size.n),
                 memory.array<double>("sigma", size.n),
                 memory.array<Index>("tails", size.most),
                 memory.array<Index>("heads", size.most),
                 maybe(asks.of_edges(), [&] { return memory.array<int64_t>("tight edges", size.most); }),
                 memory.array<double>("own", size.n),
                 memory.array<double>("onward", size.n),
                 maybe(size.has_class_sizes, [&] { return memory.array<double>("class_sizes of trail", size.n); })};
    }

    void make_totals(const TraversalSize& size) {
        const Asks asks = Asks::of(size.sums);
        const bool of_distances =
            asks.reached || asks.distance || asks.inverse || asks.distance_squares || asks.inverse_squares;
        if (asks.paths() || of_distances) make_list(totals.of_vertices, "touched vertices", size.n);
        if (asks.of_edges()) make_list(totals.of_edges, "touched edges", size.nnz);
        const auto sum = [&](bool is_there, const char* name, Touched& kind, int64_t count) {
            kind.rows += is_there;
            return maybe(is_there, [&] { return memory.zeros<double>(name, count); });
        };
        const auto of_vertices = [&](bool is_there, const char* name) {
            return sum(is_there, name, totals.of_vertices, size.n);
        };
        totals.dependency = of_vertices(asks.paths(), "dependency");
        totals.stress = of_vertices(asks.stress, "stress");
        totals.reached = of_vertices(asks.reached, "reached");
        totals.distance = of_vertices(asks.distance, "distance");
        totals.inverse = of_vertices(asks.inverse, "inverse");
        totals.dependency_squares = of_vertices(asks.dependency_squares, "dependency_squares");
        totals.distance_squares = of_vertices(asks.distance_squares, "distance_squares");
        totals.inverse_squares = of_vertices(asks.inverse_squares, "inverse_squares");
        totals.edges = sum(asks.edges, "edges", totals.of_edges, size.nnz);
        totals.edges_squares = sum(asks.edges_squares, "edges_squares", totals.of_edges, size.nnz);
        totals.block = size.block;
        totals.most_kept = size.most_kept;
    }

    // The room of a list is one vertex or edge in `sparsity`: to add an entry takes about as many times as long as to
    // add a number of a row.
    void make_list(Optional<Touched>& kind, const char* name, int64_t all) {
        constexpr int64_t sparsity = 8;
        kind.names = memory.array<int64_t>(name, all / sparsity);
        kind.is_there = true;
    }

    void make_near(const TraversalSize& size) {
        const Asks asks = Asks::of(size.sums);
        const int64_t n = size.n, nnz = asks.edges ? size.nnz : 0;
        near.weights = memory.array<double>("weights", n);
        near.row_of_vertex = memory.filled("row_of_vertex", n, std::numeric_limits<Index>::max());
        near.vertex_of_row = memory.array<Index>("vertex_of_row", n);
        near.vertex_rows = memory.array<Index>("vertex_rows", n);
        near.row_of_edge = memory.filled("row_of_edge", nnz, std::numeric_limits<int64_t>::max());
        near.edge_of_row = memory.array<int64_t>("edge_of_row", nnz);
        near.edge_rows = memory.array<int64_t>("edge_rows", asks.edges ? size.most : 0);
        const int64_t before = memory.bytes();
        near.by_vertex = memory.zero_matrix<double>("by_vertex", n, size.of_vertices);
        near.by_edge = memory.zero_matrix<double>("by_edge", nnz, asks.edges ? size.of_edges : 0);
        near.by_root = memory.zero_matrix<double>("by_root", size.roots, size.of_roots);
        memory.count(memory.bytes() - before);  // a block's sums are copied when they are taken
    }
};

}  // namespace lagbc
