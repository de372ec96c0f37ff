// Kernels of reductions for Python.
#include "../kernels/reduce/family.h"
#include "bind.h"
#include "tuples.h"

namespace lagbc {

template <class Index>
struct Items<Strong<Index>> {
    using Struct = Strong<Index>;
    static constexpr const char* name = "Strong";
    static constexpr std::tuple fields{
        Field{"component", &Struct::component, "copies"}, Field{"component_ptr", &Struct::component_ptr, "blocks + 1"},
        Field{"member_ptr", &Struct::member_ptr, "components + 1"}, Field{"members", &Struct::members, "copies"}};
};

template <class Index>
struct Items<Copies<Index>> {
    using Struct = Copies<Index>;
    static constexpr const char* name = "Copies";
    static constexpr std::tuple fields{Field{"ptr", &Struct::ptr, "blocks + 1"},
                                       Field{"vertices", &Struct::vertices, "copies"},
                                       Field{"home", &Struct::home, "n"},
                                       Field{"at_home", &Struct::at_home, "n"},
                                       Field{"attach", &Struct::attach, "blocks"},
                                       Field{"at_attach", &Struct::at_attach, "blocks"},
                                       Field{"hung_ptr", &Struct::hung_ptr, "n + 1"},
                                       Field{"hung", &Struct::hung, "blocks"}};
};

template <>
struct Items<Ways> {
    static constexpr const char* name = "Ways";
    static constexpr std::tuple fields{
        Field{"ends", &Ways::ends, "2, chains"},
        Field{"lengths", &Ways::lengths, "chains"},
        Field{"starts", &Ways::starts, "chains + 1"},
        Field{"in_hops", &Ways::in_hops},
        Field{"distances", &Ways::distances, "2, inside"},
        Field{"sources", &Ways::sources, "2, inside"},
        Field{"targets", &Ways::targets, "2, inside"},
        Field{"source_sums", &Ways::source_sums, "2, inside + chains"},
        Field{"target_sums", &Ways::target_sums, "2, inside + chains"},
        Field{"row_sources", &Ways::row_sources, "rows"},
        Field{"row_targets", &Ways::row_targets, "rows"},
        Field{"halves", &Ways::halves, "chains + chains"},
        Field{"first_halves", &Ways::first_halves, "rows + 1"},
    };
};

template <>
struct Items<Flows> {
    static constexpr const char* name = "Flows";
    static constexpr std::tuple fields{
        Field{"out", &Flows::out, "2, inside"}, Field{"around", &Flows::around, "2, inside"},
        Field{"within", &Flows::within, "inside"}, Field{"onward", &Flows::onward, "inside"}};
};

}  // namespace lagbc

void lagbc::bind_reduce(nb::module_& m, int level) {
    bind(m, level, signatures::ReduceKernels());
}
