// The extension module of a level of instructions, rows_v4 for instance: families of rows of 64 columns, and the one
// other kernel that gains by wider instructions.
#include "../kernels/graph/proximity.h"
#include "numpy.h"

namespace lagbc {

void bind_batched(nb::module_& m);
void bind_within(nb::module_& m);

namespace {

void add_to(nb::module_ core) {
    auto* held = static_cast<HeldMemory*>(nb::cast<nb::capsule>(core.attr("_held_memory")).data());
    if (held_memory == held) return;  // they are there: an import that was interrupted begins again
    held_memory = held;
    bind_batched(core);
    bind_within(core);
    // By the instructions of v2 it takes 1.2 times as long, by none of them 1.4 times.
    def<"points", "shift", "order", "first", "last", "leaf", "once", "steps">(core, "bisect", bisect);
}

}  // namespace
}  // namespace lagbc

NB_MODULE(LAGBC_MODULE, m) {
    m.def("add_to", lagbc::add_to, nb::arg("core"), "Add these kernels to `core`, and count memory with it.");
}
