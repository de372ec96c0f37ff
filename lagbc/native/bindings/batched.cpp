// Kernels of the batched method for Python.
#include "../kernels/batched/family.h"
#include "bind.h"

void lagbc::bind_batched(nb::module_& m, int level) {
    bind<signatures::Batched>(m, level);
}
