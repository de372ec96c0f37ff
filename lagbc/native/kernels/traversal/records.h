// Records of the traversals, as long as a worker lives; the same types at every level.
#pragma once

#include "../batch_sums.h"

namespace lagbc {

// Targets of each root by itself. Rows of trips are in the caller's order. A row is divided by two to its shift, and
// its root counts as much more often.
template <class Index>
struct Trips {
    Span<const double> numbers;
    Span<const Index> ends;
    Span<const int64_t> first, order, position, shifts;
    Span<double> targets;  // (n,) room for the targets of one root, in sweep order; 0 before and after
};

// The results of the search of one root, and room for the sums over it.
//
// All numbers of a vertex, but its name in `order`, stand at its place in that order, and an edge names the places of
// its ends. So a sweep reads and writes entries that lie together, whatever the graph's own order. Entries past the
// settled vertices, and past the tight edges, are not read.
template <class Index>
struct Trail {
    Span<Index> order;              // (n,) vertices as they were settled: after those before them on shortest paths
    Span<double> dist;              // (n,) distance from the root of order[i]
    Span<double> sigma;             // (n,) number of its shortest paths
    Span<Index> tails, heads;       // (most,) places in `order` of the ends of each tight edge; tails never fall
    Optional<Span<int64_t>> edges;  // (most,) number of the edge in the searched graph; None where edges are not summed
    Span<double> own, onward;       // (n,) room for the weight of a vertex, and for the sum over its tight successors
    Optional<Span<double>> class_sizes;  // (n,) how many vertices order[i] stands for; None is one each
    Trips<Index>* trips = nullptr;       // in place of common targets; None where all roots have the same
};

// Sums of a block of roots, by vertices and edges of the searched graph, but for the depth. `dependency` is there
// wherever a sum over paths is.
//
// Where roots reach little, to go through all vertices or edges would take longer than to search: so those of each root
// are listed, as long as there is room, and no others are taken or cleared. The sums of a whole block whose lists have
// room are kept as entries: a vertex or edge, and its number in each of its totals that is there.
struct Touched {
    Span<int64_t> names;                 // (room,) those that roots have reached, some often
    int64_t count = 0;                   // of these; -1 if they exceed the room
    Optional<Span<int64_t>> kept_names;  // (kept,)
    Optional<Matrix<double>> kept_sums;  // (totals, kept)
    Optional<Span<int64_t>> kept_ends;   // (blocks,) count of entries up to the end of each kept block
};

struct Totals : BatchSums {
    Touched *of_vertices = nullptr, *of_edges = nullptr;  // None if nobody asks
    int64_t block = 0;                                    // roots of a block; 0 is all
    int64_t kept = 0;                                     // count of kept blocks
};

// The request for each root.
struct Asked {
    Optional<Span<const double>> class_sizes;  // (n,) how many vertices each stands for on a path
    double radius;                             // no vertex beyond it is searched
    double limit;                              // a root with a larger path count has overflowed
    double rtol = 0.0;                         // how much longer than the shortest a path may be, relatively
    bool counts_paths = true;
    bool endpoints = false;
    bool linear = false;  // whether a target counts by its nearness to a vertex, in `dependency` and its squares
    Stop stop;
};

// The results of a kernel for each root of a block.
struct Found {
    Span<int64_t> reached;  // count of vertices, the root among them; 0 if it is absent
    Span<double> depth;     // the largest distance; 0 if the root is absent or has overflowed
    Span<bool> overflowed;
};

// First column of each sum, in its array; -1 where it is not asked for.
struct Columns {
    int64_t dependency, stress, reached, distance, inverse, edges, depth, targets, gravity;
};

// Room for the sums of a block of roots within bounds. Touched vertices and edges get rows, in the order of the first
// touch.
template <class Index>
struct Near {
    Matrix<const double> bounds;  // (3, C * D) radii and decays of columns that decay; C cutoffs of the others
    int64_t cutoffs;              // C
    Span<double> weights;         // (n,) room for the weight of the target at each place
    Span<Index> row_of_vertex, vertex_of_row;
    Span<Index> vertex_rows;  // (n,) rows of the vertices of a trail, in its order
    int64_t vertices = 0;     // count of vertices with a row
    Span<int64_t> row_of_edge, edge_of_row;
    Span<int64_t> edge_rows;  // (most,) rows of the tight edges of a trail
    int64_t edges = 0;
    Columns columns;
    Matrix<double> by_vertex, by_edge;  // 0 but in the rows that are taken
    Matrix<double> by_root;
};

// The vertices and edges of a search with lengths, besides the trail.
template <class Index>
struct Search {
    Span<double> dist;     // (n,) distances known so far; inf before and after a search
    Span<Index> places;    // (n,) place of a settled vertex in the trail, or of a waiting one in the heap; else n
    Span<double> through;  // (most,) length of the path that ends with the edge of each note
};

// Notes that wait in buckets, taken round and round.
struct Buckets {
    Span<uint32_t> last;    // (a power of two,) last note in each; the largest number if it is empty
    Span<uint32_t> before;  // (most,) the note before each one in its bucket
    double per_length;      // one over the width of a bucket
};

// A heap of vertices that wait; the children of slot i are 4 i + 1 to 4 i + 4.
template <class Index>
struct Heap {
    Span<double> keys;  // (n,)
    Span<Index> vertices;
};

}  // namespace lagbc
