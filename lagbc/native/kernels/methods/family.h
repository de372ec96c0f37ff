// Kernels that several methods need: one line each.
#pragma once

#include "../family.h"
#include "columns.h"
#include "groups.h"

namespace lagbc::LAGBC_LEVEL {

using MethodsKernels =
    Family<Level, "methods",  //
           Kernel<"find_extremes(weights, smallest, largest)", find_extremes>,
           Kernel<"clear_unreached(dist, sigma)", clear_unreached<double>, clear_unreached<float>>,
           Kernel<"turn(columns, rows)", turn>,
           Kernel<"turn_back(rows, columns)", turn_back<double, double>, turn_back<double, int32_t>,
                  turn_back<float, double>, turn_back<float, int32_t>>,
           Kernel<"add_group_shares(into, reached, dist, sigma, is_log, rtol, in_group, endpoints, shares, is_passed, "
                  "totals)",
                  add_group_shares<Narrow>, add_group_shares<Wide>>>;

}  // namespace lagbc::LAGBC_LEVEL
