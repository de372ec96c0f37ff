// Kernels of single roots for Python, and the record that they search by.
#include "../kernels/extended/family.h"
#include "bind.h"
#include "records.h"

namespace lagbc {
namespace {

template <class Index>
void bind_root(nb::module_& m, const char* name) {
    using S = RootSweep<Index>;
    record<S>(m, name, Field{"out", &S::out, "n, nnz"}, Field{"into", &S::into, "n, nnz"},
              Field{"class_sizes", &S::class_sizes, "n"}, Field{"rtol", &S::rtol}, Field{"radius", &S::radius},
              Field{"stop", &S::stop});
}

}  // namespace
}  // namespace lagbc

void lagbc::bind_extended(nb::module_& m, int level) {
    bind_root<Narrow>(m, "RootSweep32");
    bind_root<Wide>(m, "RootSweep64");
    bind(m, level, signatures::ExtendedKernels());
}
