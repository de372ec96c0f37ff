// Kernels of single roots for Python, and the record that they search by.
#include "../kernels/extended/root.h"
#include "families.h"
#include "numpy.h"
#include "records.h"
#include "sums.h"

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
void bind_extended(nb::module_& m) {
    bind_root<Narrow>(m, "RootSweep32");
    bind_root<Wide>(m, "RootSweep64");
    def<"sweep", "root">(m, "search_root", search_root<Narrow>, search_root<Wide>);
    def<"sweep", "reached", "dist", "mantissas", "powers", "omega", "times", "times_power", "edges">(
        m, "sum_root", sum_root<Narrow>, sum_root<Wide>);
    def<"sweep", "reached", "dist", "mantissas", "powers", "omega">(m, "count_through", count_through<Narrow>,
                                                                    count_through<Wide>);
    def<"mantissas", "powers", "more", "more_powers">(m, "add_numbers", add_numbers);
}

}  // namespace lagbc
