// Kernels of traversals for Python.
#include "../kernels/traversal/family.h"
#include "bind.h"

void lagbc::bind_traversal(nb::module_& m, int level) {
    bind<signatures::Traversal>(m, level);
}
