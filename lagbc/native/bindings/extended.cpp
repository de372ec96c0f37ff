// Kernels of single roots for Python, and the object by which they are searched.
#include "../kernels/extended/root.h"
#include "numpy.h"

namespace lagbc {
namespace {

template <class Index>
void bind_root(nb::module_& m, const char* name) {
    using S = RootSweep<Index>;
    nb::class_<S> bound(m, name);
    // The graphs, class sizes and flag live as long as the sweep.
    method(
        bound, "__init__",
        [](S* self, In<"out", const Csr<Index>&> out, In<"into", const Csr<Index>&> into,
           In<"class_sizes", Optional<Span<const double>>> class_sizes, In<"rtol", double> rtol,
           In<"radius", double> radius, In<"stop", Stop> stop) {
            sized(class_sizes, out.value.n());
            require_size("into", into.value, out.value.n(), out.value.indices.size);
            new (self) S{&out.value, &into.value, class_sizes, rtol, radius, stop};
        },
        nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(), nb::keep_alive<1, 7>());
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
