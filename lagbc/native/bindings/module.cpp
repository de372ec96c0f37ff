// The extension module lagbc.native.core: records, and the kernels of the level that this process runs.
#include <nanobind/stl/vector.h>

#include <cstdlib>

#include "bind.h"
#include "records.h"

namespace lagbc {

// The rule of a graph: indptr rises from 0 to the count of indices.
template <class Index>
struct Rule<Csr<Index>> {
    static std::string broken_by(const Csr<Index>& graph) {
        const int64_t first = graph.indptr[0], last = graph.indptr[graph.n()];
        if (first == 0 && last == graph.indices.size) return "";
        return "indptr has to rise from 0 to the " + std::to_string(graph.indices.size) + " indices, not from " +
               std::to_string(first) + " to " + std::to_string(last);
    }
};

namespace {

// The level of LAGBC_LEVEL, or else the best.
int chosen_level() {
    const char* name = std::getenv("LAGBC_LEVEL");
    if (name != nullptr && *name == 0) name = nullptr;
    const int level = find_level(name);
    if (level >= 0) return level;
    if (name == nullptr) throw nb::import_error("lagbc was built for other processors than this one; build it here");
    std::string message = std::string("LAGBC_LEVEL=") + name +
                          " is not among the levels of instructions that were built and that this processor runs:";
    for (const std::string& level : names_of_levels(true)) message += " " + level;
    throw nb::import_error(message.c_str());
}

template <class Index>
void bind_csr(nb::module_& m, const char* name) {
    using Graph = Csr<Index>;
    record<Graph>(m, name, Field{"indptr", &Graph::indptr, "n + 1"}, Field{"indices", &Graph::indices, "nnz"},
                  Field{"lengths", &Graph::lengths, "nnz"});
}

}  // namespace
}  // namespace lagbc

NB_MODULE(core, m) {
    nb::set_leak_warnings(false);  // a process that is interrupted ends with states that are held
    using namespace lagbc;
    const int level = chosen_level();
    find_array_type();
    m.def("level", [level] { return name_of_level(level); });
    m.def("levels", [] { return names_of_levels(false); });
    m.def(
        "held_memory",
        [] {
            const HeldMemory held = held_memory();
            return std::tuple(held.now, held.most);
        },
        "Bytes that kernels, and arrays made by them, hold; and the most since this was last asked for.");
    bind_csr<Narrow>(m, "Csr32");
    bind_csr<Wide>(m, "Csr64");
    bind_batched(m, level);
    bind_extended(m, level);
    bind_traversal(m, level);
    bind_within(m, level);
    bind_reduce(m, level);
    bind_graph(m, level);
    bind_io(m, level);
    bind_methods(m, level);
}
