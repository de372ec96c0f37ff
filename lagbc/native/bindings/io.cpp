// Kernels of readers of files for Python, and the vertices that they number.
#include "../kernels/io/family.h"
#include "bind.h"
#include "tuples.h"

namespace lagbc {

template <>
struct Items<Texts> {
    static constexpr const char* name = "Texts";
    static constexpr std::tuple fields{Field{"text", &Texts::text, "bytes"}, Field{"starts", &Texts::starts, "values"},
                                       Field{"stops", &Texts::stops, "values"}, Field{"codes", &Texts::codes, "rows"},
                                       Field{"numbers", &Texts::numbers, "values"}};
};

namespace {

// An array of a record's, read-only; it holds until more vertices are numbered.
template <class T>
nb::object view(nb::handle self, const Buffer<T>& array, int64_t size) {
    const nb::ndarray<nb::numpy, const T, nb::ndim<1>> view(array.data(), {static_cast<std::size_t>(size)}, self);
    return nb::cast(view, nb::rv_policy::reference);
}

template <class... T>
int64_t bytes_of(const Buffer<T>&... arrays) {
    return (... + (arrays.size() * static_cast<int64_t>(sizeof(T))));
}

template <class Class>
nb::class_<Class> bind_vertices(nb::module_& m, const char* name) {
    Described<Class>::name = name;
    nb::class_<Class> bound(m, name);
    bound.def(nb::init<>())
        .def_ro("count", &Class::count)
        .def("free_slots", [](Class& known) { known.slots = {}; }, "Free the table; it is made anew when more come.");
    return bound;
}

}  // namespace
}  // namespace lagbc

void lagbc::bind_io(nb::module_& m, int level) {
    bind_vertices<Integers>(m, "Integers")
        .def_prop_ro("bytes", [](const Integers& known) { return bytes_of(known.ids, known.slots); })
        .def_prop_ro(
            "ids", [](nb::pointer_and_handle<Integers> self) { return view(self.h, self.p->ids, self.p->count); },
            nb::sig("def ids(self) -> numpy.typing.NDArray[numpy.int64]"));
    bind_vertices<Names>(m, "Names")
        .def_prop_ro("bytes",
                     [](const Names& known) { return bytes_of(known.text, known.offsets, known.hashes, known.slots); })
        .def_prop_ro(
            "offsets",
            [](nb::pointer_and_handle<Names> self) { return view(self.h, self.p->offsets, self.p->count + 1); },
            nb::sig("def offsets(self) -> numpy.typing.NDArray[numpy.int64]"))
        .def_prop_ro(
            "text",
            [](nb::pointer_and_handle<Names> self) {
                return view(self.h, self.p->text, self.p->offsets[self.p->count]);
            },
            nb::sig("def text(self) -> numpy.typing.NDArray[numpy.uint8]"));
    bind(m, level, signatures::IoKernels());
}
