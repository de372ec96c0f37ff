// The kernels of the batched method: one line each.
#pragma once

#include "../family.h"
#include "alone.h"
#include "block.h"
#include "groups.h"
#include "lengths.h"
#include "levels.h"
#include "probe.h"
#include "waiting.h"

namespace lagbc::LAGBC_LEVEL {

using BatchedKernels = Family<
    Level, "batched",  //
    Kernel<"search_batch(sweep, positions)", search_levels<Narrow>, search_levels<Wide>, search_waiting<Narrow>,
           search_waiting<Wide>, search_lengths<Narrow>, search_lengths<Wide>>,
    Kernel<"sum_paths(sweep, omega, times, edge_order, sums)", sum_levels<Narrow>, sum_levels<Wide>,
           sum_waiting<Narrow>, sum_waiting<Wide>, sum_lengths<Narrow>, sum_lengths<Wide>>,
    Kernel<"sum_distances(sweep, sums)", sum_level_distances<Narrow>, sum_level_distances<Wide>,
           sum_waiting_distances<Narrow>, sum_waiting_distances<Wide>, sum_length_distances<Narrow>,
           sum_length_distances<Wide>>,
    Kernel<"write_levels(sweep, dist)", level_distances<Narrow>, level_distances<Wide>, waiting_distances<Narrow>,
           waiting_distances<Wide>>,
    Kernel<"length_distances(sweep, positions, dist)", length_distances<Narrow, double>,
           length_distances<Narrow, uint16_t>, length_distances<Wide, double>, length_distances<Wide, uint16_t>>,
    Kernel<"add_batch_shares(sweep, groups, first, last, panel, totals)", add_batch_shares<WaitingSweep, Narrow>,
           add_batch_shares<WaitingSweep, Wide>, add_batch_shares<LengthSweep, Narrow>,
           add_batch_shares<LengthSweep, Wide>>,
    Kernel<"pack_rows(sweep, rows, masks, has_values, has_paths)", pack_rows>,
    Kernel<"take_rows(sweep, message, first, has_values, has_paths)", take_rows>,
    Kernel<"push_rows(sweep, live)", push_rows>,
    Kernel<"multiply_rows(sweep, block, rows, first, last, base, has_values, has_paths)", multiply_rows>,
    Kernel<"add_rows(sweep, message, first, has_values, has_paths)", add_rows>,
    Kernel<"found_rows(sweep, first, last)", found_rows>,
    Kernel<"finish_rows(sweep, rows, masks, first, times, level)", finish_rows>,
    Kernel<"count_columns(masks)", count_columns>,
    Kernel<"sum_row_distances(sweep, rows, masks, starts, sums)", sum_row_distances>,
    Kernel<"probe_hops(graph, roots, most, stop)", probe_hops<Narrow>, probe_hops<Wide>>,
    // For tests alone:
    Kernel<"relax_row(values, v, w, length)", alone::relax_row<double>, alone::relax_row<uint16_t>>,
    Kernel<"minimum_of_row(values, v, mask)", alone::minimum_of_row<double>, alone::minimum_of_row<uint16_t>>,
    Kernel<"finite_in_row(values, v)", alone::finite_in_row<double>, alone::finite_in_row<uint16_t>>,
    Kernel<"positive_in_row(values, v)", alone::positive_in_row>,
    Kernel<"tight_in_row(values, v, w, length, rtol)", alone::tight_in_row<double>, alone::tight_in_row<uint16_t>>,
    Kernel<"put_row(values, v, mask, total, limit)", alone::put_row>,
    Kernel<"finish_row(values, v, mask, total, omega, times)", alone::finish_row>,
    Kernel<"finish_paths_row(paths, values, v, mask, total, omega, times)", alone::finish_paths_row>,
    Kernel<"dot_rows(values, v, w, mask, times)", alone::dot_rows>, Kernel<"sum_row(values, v, mask)", alone::sum_row>,
    Kernel<"sum_inverse_row(values, v, mask)", alone::sum_inverse_row>,
    Kernel<"raise_row(largest, values, v, mask)", alone::raise_row>,
    Kernel<"gather(edges, bits, v, wanted, values, total)", alone::gather<Narrow>, alone::gather<Wide>>>;

}  // namespace lagbc::LAGBC_LEVEL
