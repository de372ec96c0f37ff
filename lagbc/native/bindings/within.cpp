// Kernels of sums within bounds for Python.
#include "../kernels/within/family.h"
#include "bind.h"

void lagbc::bind_within(nb::module_& m, int level) {
    bind<signatures::Within>(m, level);
}
