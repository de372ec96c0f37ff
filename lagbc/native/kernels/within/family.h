// The kernels of sums within bounds: one line each.
#pragma once

#include "../family.h"
#include "sums.h"

namespace lagbc::LAGBC_LEVEL {

using WithinKernels = Family<
    Level, "within",                                                   //
    Kernel<"find_ball(leaving, entering, roots, radius, most, ball)",  //
           find_ball<Narrow, uint16_t>, find_ball<Narrow, double>, find_ball<Wide, uint16_t>, find_ball<Wide, double>>,
    Kernel<"sum_ball(ball, asked, first, width, omega, times, near, found)",  //
           sum_ball<Narrow, uint16_t>, sum_ball<Narrow, double>, sum_ball<Wide, uint16_t>, sum_ball<Wide, double>>>;

}  // namespace lagbc::LAGBC_LEVEL
