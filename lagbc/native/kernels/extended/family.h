// The kernels of single roots with numbers of any size: one line each.
#pragma once

#include "../family.h"
#include "root.h"

namespace lagbc::LAGBC_LEVEL {

using ExtendedKernels = Family<
    Level, "extended",  //
    Kernel<"search_root(sweep, root)", search_root<Narrow>, search_root<Wide>>,
    Kernel<"sum_root(sweep, reached, dist, mantissas, powers, omega, times, times_power, edges)", sum_root<Narrow>,
           sum_root<Wide>>,
    Kernel<"count_through(sweep, reached, dist, mantissas, powers, omega)", count_through<Narrow>, count_through<Wide>>,
    Kernel<"add_numbers(mantissas, powers, more, more_powers)", add_numbers>>;

}  // namespace lagbc::LAGBC_LEVEL
