// Kernels of readers of files for Python.
#include "../kernels/io/family.h"
#include "bind.h"

void lagbc::bind_io(nb::module_& m, int level) {
    bind<signatures::Io>(m, level);
}
