// Samplers of shortest paths for Python.
#include "../kernels/paths/sampler.h"
#include "numpy.h"

namespace lagbc {
namespace {

template <class Index>
void bind_sampler(nb::module_& m, const char* name) {
    using S = PathSampler<Index>;
    nb::class_<S> bound(m, name);
    // The graphs and the flag live as long as the sampler.
    method(
        bound, "__init__",
        [](S* self, In<"out", const Csr<Index>&> out, In<"into", const Csr<Index>&> into, In<"stop", Stop> stop) {
            const int64_t n = out.value.n();
            require_size("into", into.value, n, out.value.indices.size);
            if (n < 2) raise_value("out has to have two vertices at least");
            S& s = *new (self) S(n);
            s.out = &out.value;
            s.into = &into.value;
            s.stop = stop;
        },
        nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>());
    show_memory(bound, [](In<"n", int64_t> n) { return S(n, true); });
    method(
        bound, "draw",
        [](S& s, In<"seed", uint64_t> seed, In<"first", int64_t> first, In<"last", int64_t> last) {
            return without_gil([&] { return draw_paths<Index>(s, seed, first, last); });
        },
        "Draw the samples first to last: the vertices between the ends of their paths, of how many each, and the edges "
        "that were looked at.");
}

}  // namespace

void bind_paths(nb::module_& m) {
    bind_sampler<Narrow>(m, "PathSampler32");
    bind_sampler<Wide>(m, "PathSampler64");
}

}  // namespace lagbc
