// The kernels of traversals: one line each.
#pragma once

#include "../family.h"
#include "dijkstra.h"
#include "hops.h"
#include "ties.h"
#include "totals.h"

namespace lagbc::LAGBC_LEVEL {

using TraversalKernels =
    Family<Level, "traversal",                                                                  //
           Kernel<"sweep_hops(graph, places, trail, asked, roots, omega, times, sums, found)",  //
                  sweep_hops<Narrow, Totals>, sweep_hops<Narrow, Near<Narrow>>,                 //
                  sweep_hops<Wide, Totals>, sweep_hops<Wide, Near<Wide>>>,
           Kernel<"sweep_lengths(graph, search, queue, trail, asked, roots, omega, times, sums, found)",  //
                  sweep_lengths<Narrow, Buckets, Totals>, sweep_lengths<Narrow, Buckets, Near<Narrow>>,
                  sweep_lengths<Narrow, Heap<Narrow>, Totals>, sweep_lengths<Narrow, Heap<Narrow>, Near<Narrow>>,
                  sweep_lengths<Wide, Buckets, Totals>, sweep_lengths<Wide, Buckets, Near<Wide>>,
                  sweep_lengths<Wide, Heap<Wide>, Totals>, sweep_lengths<Wide, Heap<Wide>, Near<Wide>>>,
           Kernel<"find_near_tie(graph, roots, most, near)", find_near_tie<Narrow>, find_near_tie<Wide>>,
           Kernel<"take_totals(totals, order, edge_order, sums)", take_totals>,
           Kernel<"clear_totals(totals)", clear_totals>>;

}  // namespace lagbc::LAGBC_LEVEL
