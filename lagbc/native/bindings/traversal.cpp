// Kernels of traversals for Python.
#include "../kernels/traversal/dijkstra.h"
#include "../kernels/traversal/hops.h"
#include "../kernels/traversal/ties.h"
#include "../kernels/traversal/totals.h"
#include "families.h"
#include "numpy.h"
#include "records.h"
#include "sums.h"

namespace lagbc {

template <>
struct Rule<Buckets> {
    static std::string broken_by(const Buckets& queue) {
        const int64_t size = queue.last.size;
        if (size > 0 && (size & (size - 1)) == 0) return "";
        return "last has to be as long as a power of two, not of " + std::to_string(size) + " buckets";
    }
};

namespace {

template <class Index>
void bind_of_index(nb::module_& m, const std::string& bits) {
    using T = Trail<Index>;
    using D = Trips<Index>;
    using N = Near<Index>;
    using S = Search<Index>;
    using H = Heap<Index>;
    record<D>(m, ("Trips" + bits).c_str(), Field{"numbers", &D::numbers, "trips"}, Field{"ends", &D::ends, "trips"},
              Field{"first", &D::first, "n + 1"}, Field{"order", &D::order, "n"}, Field{"position", &D::position, "n"},
              Field{"shifts", &D::shifts, "n"}, Field{"targets", &D::targets, "n"});
    record<T>(m, ("Trail" + bits).c_str(), Field{"order", &T::order, "n"}, Field{"dist", &T::dist, "n"},
              Field{"sigma", &T::sigma, "n"}, Field{"tails", &T::tails, "most"}, Field{"heads", &T::heads, "most"},
              Field{"edges", &T::edges, "most"}, Field{"own", &T::own, "n"}, Field{"onward", &T::onward, "n"},
              Field{"class_sizes", &T::class_sizes, "n"}, Field{"trips", &T::trips});
    record<N>(m, ("Near" + bits).c_str(), Field{"bounds", &N::bounds, "3, decaying"}, Field{"cutoffs", &N::cutoffs},
              Field{"weights", &N::weights, "n"}, Field{"row_of_vertex", &N::row_of_vertex, "n"},
              Field{"vertex_of_row", &N::vertex_of_row, "n"}, Field{"vertex_rows", &N::vertex_rows, "n"},
              Field{"vertices", &N::vertices}, Field{"row_of_edge", &N::row_of_edge, "nnz"},
              Field{"edge_of_row", &N::edge_of_row, "nnz"}, Field{"edge_rows", &N::edge_rows, "most"},
              Field{"edges", &N::edges}, Field{"columns", &N::columns},
              Field{"by_vertex", &N::by_vertex, "n, of_vertices"}, Field{"by_edge", &N::by_edge, "nnz, of_edges"},
              Field{"by_root", &N::by_root, "roots, of_roots"});
    record<S>(m, ("Search" + bits).c_str(), Field{"dist", &S::dist, "n"}, Field{"places", &S::places, "n"},
              Field{"through", &S::through, "most"});
    record<H>(m, ("Heap" + bits).c_str(), Field{"keys", &H::keys, "n"}, Field{"vertices", &H::vertices, "n"});
}

}  // namespace
void bind_traversal(nb::module_& m) {
    record<Touched>(m, "Touched", Field{"names", &Touched::names, "room"}, Field{"count", &Touched::count},
                    Field{"kept_names", &Touched::kept_names, "kept"},
                    Field{"kept_sums", &Touched::kept_sums, "totals, kept"},
                    Field{"kept_ends", &Touched::kept_ends, "blocks"});
    record<Totals>(m, "Totals", Field{"dependency", &Totals::dependency, "n"}, Field{"stress", &Totals::stress, "n"},
                   Field{"edges", &Totals::edges, "nnz"}, Field{"reached", &Totals::reached, "n"},
                   Field{"distance", &Totals::distance, "n"}, Field{"inverse", &Totals::inverse, "n"},
                   Field{"dependency_squares", &Totals::dependency_squares, "n"},
                   Field{"edges_squares", &Totals::edges_squares, "nnz"},
                   Field{"distance_squares", &Totals::distance_squares, "n"},
                   Field{"inverse_squares", &Totals::inverse_squares, "n"}, Field{"of_vertices", &Totals::of_vertices},
                   Field{"of_edges", &Totals::of_edges}, Field{"block", &Totals::block}, Field{"kept", &Totals::kept});
    record<Asked>(m, "Asked", Field{"class_sizes", &Asked::class_sizes, "n"}, Field{"radius", &Asked::radius},
                  Field{"limit", &Asked::limit}, Field{"rtol", &Asked::rtol},
                  Field{"counts_paths", &Asked::counts_paths}, Field{"endpoints", &Asked::endpoints},
                  Field{"linear", &Asked::linear}, Field{"stop", &Asked::stop});
    record<Found>(m, "Found", Field{"reached", &Found::reached, "roots"}, Field{"depth", &Found::depth, "roots"},
                  Field{"overflowed", &Found::overflowed, "roots"});
    record<Columns>(m, "Columns", Field{"dependency", &Columns::dependency}, Field{"stress", &Columns::stress},
                    Field{"reached", &Columns::reached}, Field{"distance", &Columns::distance},
                    Field{"inverse", &Columns::inverse}, Field{"edges", &Columns::edges},
                    Field{"depth", &Columns::depth}, Field{"targets", &Columns::targets},
                    Field{"gravity", &Columns::gravity});
    bind_of_index<Narrow>(m, "32");
    bind_of_index<Wide>(m, "64");
    record<Buckets>(m, "Buckets", Field{"last", &Buckets::last, "buckets"}, Field{"before", &Buckets::before, "most"},
                    Field{"per_length", &Buckets::per_length});
    def<"graph", "places", "trail", "asked", "roots", "omega", "times", "sums", "found">(
        m, "sweep_hops", sweep_hops<Narrow, Totals>, sweep_hops<Narrow, Near<Narrow>>, sweep_hops<Wide, Totals>,
        sweep_hops<Wide, Near<Wide>>);
    def<"graph", "search", "queue", "trail", "asked", "roots", "omega", "times", "sums", "found">(
        m, "sweep_lengths", sweep_lengths<Narrow, Buckets, Totals>, sweep_lengths<Narrow, Buckets, Near<Narrow>>,
        sweep_lengths<Narrow, Heap<Narrow>, Totals>, sweep_lengths<Narrow, Heap<Narrow>, Near<Narrow>>,
        sweep_lengths<Wide, Buckets, Totals>, sweep_lengths<Wide, Buckets, Near<Wide>>,
        sweep_lengths<Wide, Heap<Wide>, Totals>, sweep_lengths<Wide, Heap<Wide>, Near<Wide>>);
    def<"graph", "roots", "most", "near">(m, "find_near_tie", find_near_tie<Narrow>, find_near_tie<Wide>);
    def<"totals", "order", "edge_order", "sums">(m, "take_totals", take_totals);
    def<"totals">(m, "clear_totals", clear_totals);
}

}  // namespace lagbc
