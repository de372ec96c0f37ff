// The kernels of reductions: one line each.
#pragma once

#include "../family.h"
#include "alike.h"
#include "biconnected.h"
#include "chains.h"
#include "layout.h"
#include "reach.h"
#include "streams.h"
#include "strong.h"
#include "twins.h"
#include "weights.h"

namespace lagbc::LAGBC_LEVEL {

using ReduceKernels = Family<
    Level, "reduce",  //
    Kernel<"find_blocks(graph, stop)", find_blocks<Narrow>, find_blocks<Wide>>,
    Kernel<"find_strong(ptr, indptr, indices, stop)", find_strong<Narrow>, find_strong<Wide>>,
    Kernel<"condense(indptr, indices, strong)", condense<Narrow>, condense<Wide>>,
    Kernel<"lay_out(home, attach)", lay_out<Narrow>, lay_out<Wide>>,
    Kernel<"lay_rows(indptr, indices, copies, columns, places)", lay_rows<Narrow, Narrow>, lay_rows<Narrow, Wide>,
           lay_rows<Wide, Wide>, lay_rows<Wide, Narrow>>,
    Kernel<"sum_separated(copies, sources, targets)", sum_separated<Narrow>, sum_separated<Wide>>,
    Kernel<"spread_along(copies, strong, ends, heads, rising, weights)", spread_along<Narrow>, spread_along<Wide>>,
    Kernel<"sum_keys(out, into)", sum_keys<Narrow>, sum_keys<Wide>>,
    Kernel<"join_open(out, into, keys)", join_open<Narrow>, join_open<Wide>>,
    Kernel<"join_closed(out, into, keys, first)", join_closed<Narrow>, join_closed<Wide>>,
    Kernel<"take_kept(graph, kept, position)", take_kept<Narrow>, take_kept<Wide>>,
    Kernel<"pairs_inside(out, into, first, closed, sources, targets, class_sizes)", pairs_inside<Narrow>,
           pairs_inside<Wide>>,
    Kernel<"walk_chains(graph, number, ends, lengths, counts, inside, distances, steps)", walk_chains<Narrow>,
           walk_chains<Wide>>,
    Kernel<"leave_chains(ways, flows, roots, dist, sigma, column, demand, through, junction, stop)",
           leave_chains<int32_t>, leave_chains<double>>,
    Kernel<"enter_chains(ways, roots, dist, sigma, demand, through, junction, stop)", enter_chains<int32_t>,
           enter_chains<double>>,
    Kernel<"sum_inside(starts, weights, sums)", sum_inside>,
    Kernel<"spread_flows(ways, flows, along, passed, edges)", spread_flows>>;

}  // namespace lagbc::LAGBC_LEVEL
