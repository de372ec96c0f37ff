// Kernels of reductions for Python.
#include "../kernels/reduce/family.h"
#include "bind.h"

void lagbc::bind_reduce(nb::module_& m, int level) {
    bind<signatures::Reduce>(m, level);
}
