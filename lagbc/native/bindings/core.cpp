// The extension module `core`: graphs, and the families of kernels but those of rows, which are added to it (rows.cpp).
#include "numpy.h"

namespace lagbc {

// Each is in a file of its own.
void bind_extended(nb::module_& m), bind_graph(nb::module_& m), bind_io(nb::module_& m), bind_methods(nb::module_& m),
    bind_paths(nb::module_& m), bind_reduce(nb::module_& m), bind_traversal(nb::module_& m);

namespace {

// A class of graphs, and the function `csr`, whose graph is of the class for the type of its indices.
template <class Index>
void bind_csr(nb::module_& m, const char* name) {
    using Graph = Csr<Index>;
    constexpr bool is_last = std::is_same_v<Index, Wide>;
    nb::class_<Graph> bound(m, name);
    m.def(
        "csr",
        [](In<"indptr", Span<const int64_t>> indptr, In<"indices", Span<const Index>, is_last> indices,
           In<"lengths", Optional<Span<const double>>> lengths) {
            if (indptr.size == 0 || indptr[0] != 0 || indptr[indptr.size - 1] != indices.size)
                raise_value("indptr has to rise from 0 to the " + std::to_string(indices.size) + " indices");
            sized(lengths, indices.size);
            return Graph{indptr, indices, lengths};
        },
        nb::arg("indptr"), nb::arg("indices"), nb::arg("lengths").none() = nb::none(), nb::keep_alive<0, 1>(),
        nb::keep_alive<0, 2>(), nb::keep_alive<0, 3>(), "Hand compressed rows to kernels, uncopied.");
    bound.def_prop_ro("indptr", [](nb::handle_t<Graph> self) { return shown(nb::cast<Graph&>(self).indptr, self); });
    bound.def_prop_ro("indices", [](nb::handle_t<Graph> self) { return shown(nb::cast<Graph&>(self).indices, self); });
}

}  // namespace
}  // namespace lagbc

NB_MODULE(core, m) {
    nb::set_leak_warnings(false);  // a process that is interrupted ends with states that are held
    using namespace lagbc;
    m.def(
        "held_memory",
        [] {
            const int64_t now = held_memory->now;
            return std::tuple(now, held_memory->most.exchange(now));
        },
        "Bytes that kernels, and arrays made by them, hold; and the most since this was last asked for.");
    m.attr("_held_memory") = nb::capsule(held_memory);
    bind_csr<Narrow>(m, "Csr32");
    bind_csr<Wide>(m, "Csr64");
    for (auto* bind : {bind_extended, bind_graph, bind_io, bind_methods, bind_paths, bind_reduce, bind_traversal})
        bind(m);
}
