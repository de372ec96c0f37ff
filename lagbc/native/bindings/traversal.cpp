// Kernels of traversals for Python.
#include "../kernels/traversal/family.h"
#include "bind.h"

namespace lagbc {
namespace {

template <class Index>
void bind_of_index(nb::module_& m, const std::string& bits) {
    using T = Trail<Index>;
    using N = Near<Index>;
    using S = Search<Index>;
    using H = Heap<Index>;
    record<T>(m, ("Trail" + bits).c_str(), Field{"order", &T::order}, Field{"dist", &T::dist},
              Field{"sigma", &T::sigma}, Field{"tails", &T::tails}, Field{"heads", &T::heads},
              Field{"edges", &T::edges}, Field{"own", &T::own}, Field{"onward", &T::onward},
              Field{"members", &T::members});
    record<N>(m, ("Near" + bits).c_str(), Field{"bounds", &N::bounds}, Field{"cutoffs", &N::cutoffs},
              Field{"weights", &N::weights}, Field{"trips", &N::trips}, Field{"trip_ends", &N::trip_ends},
              Field{"first_trip", &N::first_trip}, Field{"order", &N::order}, Field{"position", &N::position},
              Field{"shifts", &N::shifts}, Field{"targets", &N::targets}, Field{"row_of_vertex", &N::row_of_vertex},
              Field{"vertex_of_row", &N::vertex_of_row}, Field{"vertex_rows", &N::vertex_rows},
              Field{"vertices", &N::vertices}, Field{"row_of_edge", &N::row_of_edge},
              Field{"edge_of_row", &N::edge_of_row}, Field{"edge_rows", &N::edge_rows}, Field{"edges", &N::edges},
              Field{"columns", &N::columns}, Field{"by_vertex", &N::by_vertex}, Field{"by_edge", &N::by_edge},
              Field{"by_root", &N::by_root});
    record<S>(m, ("Search" + bits).c_str(), Field{"dist", &S::dist}, Field{"places", &S::places},
              Field{"through", &S::through});
    record<H>(m, ("Heap" + bits).c_str(), Field{"keys", &H::keys}, Field{"vertices", &H::vertices});
}

template <class Note>
void bind_buckets(nb::module_& m, const char* name) {
    using B = Buckets<Note>;
    record<B>(m, name, Field{"last", &B::last}, Field{"before", &B::before}, Field{"per_length", &B::per_length});
}

}  // namespace
}  // namespace lagbc

void lagbc::bind_traversal(nb::module_& m, int level) {
    record<Totals>(m, "Totals", Field{"dependency", &Totals::dependency}, Field{"stress", &Totals::stress},
                   Field{"edges", &Totals::edges}, Field{"reached", &Totals::reached},
                   Field{"distance", &Totals::distance}, Field{"inverse", &Totals::inverse},
                   Field{"touched", &Totals::touched}, Field{"count", &Totals::count});
    record<Asked>(m, "Asked", Field{"members", &Asked::members}, Field{"radius", &Asked::radius},
                  Field{"limit", &Asked::limit}, Field{"rtol", &Asked::rtol},
                  Field{"counts_paths", &Asked::counts_paths}, Field{"endpoints", &Asked::endpoints},
                  Field{"stop", &Asked::stop});
    record<Found>(m, "Found", Field{"reached", &Found::reached}, Field{"depth", &Found::depth},
                  Field{"overflowed", &Found::overflowed});
    record<Columns>(m, "Columns", Field{"dependency", &Columns::dependency}, Field{"stress", &Columns::stress},
                    Field{"reached", &Columns::reached}, Field{"distance", &Columns::distance},
                    Field{"inverse", &Columns::inverse}, Field{"edges", &Columns::edges},
                    Field{"depth", &Columns::depth}, Field{"targets", &Columns::targets},
                    Field{"gravity", &Columns::gravity});
    bind_of_index<Narrow>(m, "32");
    bind_of_index<Wide>(m, "64");
    bind_buckets<uint32_t>(m, "Buckets32");
    bind_buckets<uint64_t>(m, "Buckets64");
    bind<signatures::Traversal>(m, level);
}
