// The kernels of the batched method: one line each.
#pragma once

#include "../family.h"
#include "lengths.h"
#include "levels.h"
#include "waiting.h"

namespace lagbc::LAGBC_LEVEL {

using Batched = Family<
    Level, "batched",  //
    Kernel<"search_levels(sweep, positions)", search_levels<Narrow>, search_levels<Wide>>,
    Kernel<"sum_levels(sweep, omega, times, edge_order, dependency, stress, edges)", sum_levels<Narrow>,
           sum_levels<Wide>>,
    Kernel<"sum_level_distances(sweep, reached, distance, inverse, deepest)", sum_level_distances<Narrow>,
           sum_level_distances<Wide>>,
    Kernel<"level_distances(sweep, dist)", level_distances<Narrow>, level_distances<Wide>>,
    Kernel<"search_waiting(sweep, positions)", search_waiting<Narrow>, search_waiting<Wide>>,
    Kernel<"sum_waiting(sweep, omega, times, edge_order, dependency, stress, edges)", sum_waiting<Narrow>,
           sum_waiting<Wide>>,
    Kernel<"sum_waiting_distances(sweep, reached, distance, inverse, deepest)", sum_waiting_distances<Narrow>,
           sum_waiting_distances<Wide>>,
    Kernel<"waiting_distances(sweep, dist)", waiting_distances<Narrow>, waiting_distances<Wide>>,
    Kernel<"search_lengths(sweep, positions)", search_lengths<Narrow>, search_lengths<Wide>>,
    Kernel<"sum_lengths(sweep, omega, times, edge_order, dependency, stress, edges)", sum_lengths<Narrow>,
           sum_lengths<Wide>>,
    Kernel<"sum_length_distances(sweep, reached, distance, inverse, deepest)", sum_length_distances<Narrow>,
           sum_length_distances<Wide>>,
    Kernel<"length_distances(sweep, positions, dist)", length_distances<Narrow>, length_distances<Wide>>,
    Kernel<"clear_unreached(dist, sigma)", clear_unreached<double>, clear_unreached<uint16_t>>>;

}  // namespace lagbc::LAGBC_LEVEL
