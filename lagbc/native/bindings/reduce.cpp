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
#include "families.h"
#include "numpy.h"

namespace lagbc {

template <class Index>
auto items(Strong<Index>& strong) {
    return std::tuple(Item("component", strong.component), Item("component_ptr", strong.component_ptr), Item("member_ptr", strong.member_ptr), Item("members", strong.members));
}
template <class Index>
auto items(Copies<Index>& copies) {
    return std::tuple(Item("ptr", copies.ptr), Item("vertices", copies.vertices), Item("home", copies.home), Item("at_home", copies.at_home), Item("attach", copies.attach), Item("at_attach", copies.at_attach), Item("hung_ptr", copies.hung_ptr), Item("hung", copies.hung));
}
auto items(Ways& ways) {
    return std::tuple(Item("ends", ways.ends), Item("lengths", ways.lengths), Item("starts", ways.starts), Item("in_hops", ways.in_hops), Item("distances", ways.distances), Item("sources", ways.sources), Item("targets", ways.targets), Item("source_sums", ways.source_sums), Item("target_sums", ways.target_sums), Item("row_sources", ways.row_sources), Item("row_targets", ways.row_targets), Item("halves", ways.halves), Item("first_halves", ways.first_halves));
}
auto items(Flows& flows) {
    return std::tuple(Item("out", flows.out), Item("around", flows.around), Item("within", flows.within), Item("onward", flows.onward));
}

void bind_reduce(nb::module_& m) {
    def<"graph", "stop">(m, "find_blocks", find_blocks<Narrow>, find_blocks<Wide>);
    def<"ptr", "indptr", "indices", "stop">(m, "find_strong", find_strong<Narrow>, find_strong<Wide>);
    def<"indptr", "indices", "strong">(m, "condense", condense<Narrow>, condense<Wide>);
    def<"home", "attach">(m, "lay_out", lay_out<Narrow>, lay_out<Wide>);
    def<"indptr", "indices", "copies", "columns", "places">(m, "lay_rows", lay_rows<Narrow, Narrow>, lay_rows<Narrow, Wide>, lay_rows<Wide, Wide>, lay_rows<Wide, Narrow>);
    def<"copies", "sources", "targets">(m, "sum_separated", sum_separated<Narrow>, sum_separated<Wide>);
    def<"copies", "strong", "ends", "heads", "rising", "weights">(m, "spread_along", spread_along<Narrow>, spread_along<Wide>);
    def<"out", "into">(m, "sum_keys", sum_keys<Narrow>, sum_keys<Wide>);
    def<"out", "into", "keys">(m, "join_open", join_open<Narrow>, join_open<Wide>);
    def<"out", "into", "keys", "first">(m, "join_closed", join_closed<Narrow>, join_closed<Wide>);
    def<"graph", "kept", "position">(m, "take_kept", take_kept<Narrow>, take_kept<Wide>);
    def<"out", "into", "first", "closed", "sources", "targets", "class_sizes">(m, "pairs_inside", pairs_inside<Narrow>, pairs_inside<Wide>);
    def<"graph", "number", "ends", "lengths", "counts", "inside", "distances", "steps">(m, "walk_chains", walk_chains<Narrow>, walk_chains<Wide>);
    def<"ways", "flows", "roots", "dist", "sigma", "column", "demand", "through", "junction", "stop">(m, "leave_chains", leave_chains<int32_t>, leave_chains<double>);
    def<"ways", "roots", "dist", "sigma", "demand", "through", "junction", "stop">(m, "enter_chains", enter_chains<int32_t>, enter_chains<double>);
    def<"starts", "weights", "sums">(m, "sum_inside", sum_inside);
    def<"ways", "flows", "along", "passed", "edges">(m, "spread_flows", spread_flows);
}

}  // namespace lagbc
