// Kernels of readers of files for Python, and the vertices that they number, whose arrays hold until more come.
#include "../kernels/io/scan.h"
#include "../kernels/io/vertices.h"
#include "numpy.h"

namespace lagbc {

inline auto items(Texts& texts) {
    return std::tuple(Item("text", texts.text), Item("starts", texts.starts),
                      Item("stops", texts.stops, texts.starts.size));
}

namespace {

template <class... T>
int64_t bytes_of(const Buffer<T>&... arrays) {
    return (... + (arrays.size() * static_cast<int64_t>(sizeof(T))));
}

template <class Class>
nb::class_<Class> bind_vertices(nb::module_& m, const char* name) {
    nb::class_<Class> bound(m, name);
    bound.def(nb::init<>())
        .def_ro("count", &Class::count)
        .def("free_slots", [](Class& known) { known.slots = {}; }, "Free the table; it is made anew when more come.");
    return bound;
}

}  // namespace

void bind_io(nb::module_& m) {
    bind_vertices<Integers>(m, "Integers")
        .def_prop_ro("bytes", [](const Integers& known) { return bytes_of(known.ids, known.slots); })
        .def_prop_ro("ids", [](nb::pointer_and_handle<Integers> self) {
            return shown(Span<const int64_t>{self.p->ids.data(), self.p->count}, self.h);
        });
    bind_vertices<Names>(m, "Names")
        .def_prop_ro("bytes",
                     [](const Names& known) { return bytes_of(known.text, known.offsets, known.hashes, known.slots); })
        .def_prop_ro("offsets",
                     [](nb::pointer_and_handle<Names> self) {
                         return shown(Span<const int64_t>{self.p->offsets.data(), self.p->count + 1}, self.h);
                     })
        .def_prop_ro("text", [](nb::pointer_and_handle<Names> self) {
            return shown(Span<const uint8_t>{self.p->text.data(), self.p->offsets[self.p->count]}, self.h);
        });
    def<"text", "separator", "glued">(m, "split_line", split_line);
    def<"text", "separator", "columns", "wanted", "glued", "starts", "stops", "lines">(m, "split_lines", split_lines);
    def<"text", "starts", "stops", "plain", "values">(m, "parse_integers", parse_integers);
    def<"text">(m, "parse_rows", parse_rows);
    def<"text", "starts", "stops">(m, "parse_floats", parse_floats);
    def<"known", "keys">(m, "number_integers", number_integers);
    def<"known", "tails", "heads">(m, "number_names", number_names);
}

}  // namespace lagbc
