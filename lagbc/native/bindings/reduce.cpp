// Kernels of reductions for Python.
#include "../kernels/reduce/alike.h"
#include "../kernels/reduce/biconnected.h"
#include "../kernels/reduce/chains.h"
#include "../kernels/reduce/layout.h"
#include "../kernels/reduce/reach.h"
#include "../kernels/reduce/streams.h"
#include "../kernels/reduce/strong.h"
#include "../kernels/reduce/twins.h"
#include "../kernels/reduce/weights.h"
#include "numpy.h"

namespace lagbc {

template <class Index>
auto items(Strong<Index>& s) {
    return std::tuple(Item("component", s.component, s.members.size), Item("component_ptr", s.component_ptr),
                      Item("member_ptr", s.member_ptr), Item("members", s.members));
}

template <class Index>
auto items(Copies<Index>& c) {
    const int64_t copies = c.vertices.size, n = c.home.size, blocks = c.attach.size;
    return std::tuple(Item("ptr", c.ptr, blocks + 1), Item("vertices", c.vertices, copies), Item("home", c.home, n),
                      Item("at_home", c.at_home, n), Item("attach", c.attach, blocks),
                      Item("at_attach", c.at_attach, blocks), Item("hung_ptr", c.hung_ptr, n + 1),
                      Item("hung", c.hung, blocks));
}

inline auto items(Ways& w) {
    const int64_t chains = w.lengths.size, inside = w.distances.width, rows = w.row_sources.size;
    return std::make_tuple(
        Item("ends", w.ends, 2, chains), Item("lengths", w.lengths, chains), Item("starts", w.starts, chains + 1),
        std::ref(w.in_hops), Item("distances", w.distances, 2, inside), Item("sources", w.sources, 2, inside),
        Item("targets", w.targets, 2, inside), Item("source_sums", w.source_sums, 2, inside + chains),
        Item("target_sums", w.target_sums, 2, inside + chains), Item("row_sources", w.row_sources, rows),
        Item("row_targets", w.row_targets, rows), Item("halves", w.halves, 2 * chains),
        Item("first_halves", w.first_halves, rows + 1));
}

inline auto items(Flows& f) {
    const int64_t inside = f.within.size;
    return std::tuple(Item("out", f.out, 2, inside), Item("around", f.around, 2, inside),
                      Item("within", f.within, inside), Item("onward", f.onward, inside));
}

void bind_reduce(nb::module_& m) {
    def<"graph", "stop">(m, "find_blocks", find_blocks<Narrow>, find_blocks<Wide>);
    def<"ptr", "indptr", "indices", "stop">(m, "find_strong", find_strong<Narrow>, find_strong<Wide>);
    def<"indptr", "indices", "strong">(m, "condense", condense<Narrow>, condense<Wide>);
    def<"home", "attach">(m, "lay_out", lay_out<Narrow>, lay_out<Wide>);
    def<"indptr", "indices", "copies", "first", "last", "counts">(m, "count_laid", count_laid<Narrow>,
                                                                  count_laid<Wide>);
    def<"indptr", "indices", "copies", "first", "last", "next", "columns", "places">(
        m, "lay_rows", lay_rows<Narrow, Narrow>, lay_rows<Narrow, Wide>, lay_rows<Wide, Wide>, lay_rows<Wide, Narrow>);
    def<"copies", "sources", "targets">(m, "sum_separated", sum_separated<Narrow>, sum_separated<Wide>);
    def<"copies", "strong", "ends", "heads", "rising", "weights">(m, "spread_along", spread_along<Narrow>,
                                                                  spread_along<Wide>);
    def<"out", "into", "first", "last", "keys">(m, "sum_keys", sum_keys<Narrow>, sum_keys<Wide>);
    def<"out", "into", "keys">(m, "join_open", join_open<Narrow>, join_open<Wide>);
    def<"out", "into", "keys", "first", "last", "smallest", "closed">(m, "join_closed", join_closed<Narrow>,
                                                                      join_closed<Wide>);
    def<"graph", "kept", "position", "first", "last", "counts">(m, "count_kept", count_kept<Narrow>, count_kept<Wide>);
    def<"graph", "kept", "position", "first", "last", "starts", "columns", "lengths">(m, "take_kept", take_kept<Narrow>,
                                                                                      take_kept<Wide>);
    def<"out", "into", "first", "closed", "sources", "targets", "class_sizes">(m, "pairs_inside", pairs_inside<Narrow>,
                                                                               pairs_inside<Wide>);
    def<"graph", "number", "ends", "lengths", "counts", "inside", "distances", "steps">(
        m, "walk_chains", walk_chains<Narrow>, walk_chains<Wide>);
    def<"ways", "flows", "roots", "dist", "sigma", "column", "demand", "through", "junction", "stop">(
        m, "leave_chains", leave_chains<int32_t>, leave_chains<double>);
    def<"ways", "roots", "dist", "sigma", "demand", "through", "junction", "stop">(
        m, "enter_chains", enter_chains<int32_t>, enter_chains<double>);
    def<"starts", "weights", "sums">(m, "sum_inside", sum_inside);
    def<"ways", "flows", "along", "passed", "edges">(m, "spread_flows", spread_flows);
}

}  // namespace lagbc
