// Kernels of reductions for Python.
#include "../kernels/reduce/family.h"
#include "bind.h"
#include "tuples.h"

namespace lagbc {

template <class Index>
struct Items<Strong<Index>> {
    using Struct = Strong<Index>;
    static constexpr const char* name = "Strong";
    static constexpr std::tuple fields{Field{"component", &Struct::component}, Field{"of_block", &Struct::of_block},
                                       Field{"member_ptr", &Struct::member_ptr}, Field{"members", &Struct::members}};
};

template <class Index>
struct Items<Copies<Index>> {
    using Struct = Copies<Index>;
    static constexpr const char* name = "Copies";
    static constexpr std::tuple fields{Field{"ptr", &Struct::ptr},           Field{"vertices", &Struct::vertices},
                                       Field{"home", &Struct::home},         Field{"at_home", &Struct::at_home},
                                       Field{"attach", &Struct::attach},     Field{"at_attach", &Struct::at_attach},
                                       Field{"hung_ptr", &Struct::hung_ptr}, Field{"hung", &Struct::hung}};
};

template <>
struct Items<Ways> {
    static constexpr const char* name = "Ways";
    static constexpr std::tuple fields{
        Field{"ends", &Ways::ends},
        Field{"lengths", &Ways::lengths},
        Field{"starts", &Ways::starts},
        Field{"in_hops", &Ways::in_hops},
        Field{"distances", &Ways::distances},
        Field{"sources", &Ways::sources},
        Field{"targets", &Ways::targets},
        Field{"source_sums", &Ways::source_sums},
        Field{"target_sums", &Ways::target_sums},
        Field{"row_sources", &Ways::row_sources},
        Field{"row_targets", &Ways::row_targets},
        Field{"halves", &Ways::halves},
        Field{"first_halves", &Ways::first_halves},
    };
};

template <>
struct Items<Flows> {
    static constexpr const char* name = "Flows";
    static constexpr std::tuple fields{Field{"out", &Flows::out}, Field{"around", &Flows::around},
                                       Field{"within", &Flows::within}, Field{"onward", &Flows::onward}};
};

}  // namespace lagbc

void lagbc::bind_reduce(nb::module_& m, int level) {
    bind<signatures::Reduce>(m, level);
}
