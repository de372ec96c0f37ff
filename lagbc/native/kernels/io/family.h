// The kernels of readers of files: one line each.
#pragma once

#include "../family.h"
#include "scan.h"
#include "vertices.h"

namespace lagbc::LAGBC_LEVEL {

using IoKernels =
    Family<Level, "io",  //
           Kernel<"split_line(text, separator, glued)", split_line>,
           Kernel<"split_lines(text, separator, columns, wanted, glued, starts, stops, lines)", split_lines>,
           Kernel<"parse_integers(text, starts, stops, plain, values)", parse_integers>,
           Kernel<"parse_rows(text)", parse_rows>, Kernel<"parse_floats(text, starts, stops)", parse_floats>,
           Kernel<"number_integers(known, keys)", number_integers>,
           Kernel<"number_names(known, tails, heads)", number_names>,
           Kernel<"join_views(views, buffers, text)", join_views>>;

}  // namespace lagbc::LAGBC_LEVEL
