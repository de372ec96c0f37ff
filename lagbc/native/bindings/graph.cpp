// Kernels of graphs and their orders for Python.
#include "../kernels/graph/family.h"
#include "bind.h"

void lagbc::bind_graph(nb::module_& m, int level) {
    bind<signatures::Graphs>(m, level);
}
