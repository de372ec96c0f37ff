// The kernels of traversals: one line each.
#pragma once

#include "../family.h"
#include "dijkstra.h"
#include "hops.h"
#include "totals.h"

namespace lagbc::LAGBC_LEVEL {

using Traversal = Family<
    Level, "traversal",                                                                  //
    Kernel<"sweep_hops(graph, places, trail, asked, roots, omega, times, sums, found)",  //
           sweep_hops<Narrow, Totals>, sweep_hops<Narrow, Near<Narrow>>,                 //
           sweep_hops<Wide, Totals>, sweep_hops<Wide, Near<Wide>>>,
    Kernel<"sweep_lengths(graph, search, queue, trail, asked, roots, omega, times, sums, found)",  //
           sweep_lengths<Narrow, Buckets<uint32_t>, Totals>, sweep_lengths<Narrow, Buckets<uint32_t>, Near<Narrow>>,
           sweep_lengths<Narrow, Buckets<uint64_t>, Totals>, sweep_lengths<Narrow, Buckets<uint64_t>, Near<Narrow>>,
           sweep_lengths<Narrow, Heap<Narrow>, Totals>, sweep_lengths<Narrow, Heap<Narrow>, Near<Narrow>>,
           sweep_lengths<Wide, Buckets<uint32_t>, Totals>, sweep_lengths<Wide, Buckets<uint32_t>, Near<Wide>>,
           sweep_lengths<Wide, Buckets<uint64_t>, Totals>, sweep_lengths<Wide, Buckets<uint64_t>, Near<Wide>>,
           sweep_lengths<Wide, Heap<Wide>, Totals>, sweep_lengths<Wide, Heap<Wide>, Near<Wide>>>,
    Kernel<"take_totals(totals, order, edge_order, dependency, stress, edges, reached, distance, inverse, "
           "dependency_squares, edges_squares, distance_squares, inverse_squares)",
           take_totals>,
    Kernel<"clear_totals(totals)", clear_totals>>;

}  // namespace lagbc::LAGBC_LEVEL
