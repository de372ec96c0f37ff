// Kernels of sums within bounds for Python.
#include "../kernels/within/family.h"
#include "bind.h"

namespace lagbc {
namespace {

template <class Number>
void bind_ball(nb::module_& m, const char* name) {
    using B = Ball<Number>;
    record<B>(m, name, Field{"rows", &B::rows}, Field{"edges", &B::edges}, Field{"row", &B::row},
              Field{"nearest", &B::nearest}, Field{"queue", &B::queue}, Field{"is_queued", &B::is_queued},
              Field{"vertices", &B::vertices}, Field{"roots", &B::roots}, Field{"out_indptr", &B::out_indptr},
              Field{"out_indices", &B::out_indices}, Field{"out_lengths", &B::out_lengths},
              Field{"into_indptr", &B::into_indptr}, Field{"into_indices", &B::into_indices},
              Field{"into_lengths", &B::into_lengths}, Field{"places", &B::places}, Field{"place_rows", &B::place_rows},
              Field{"far", &B::far}, Field{"dist", &B::dist}, Field{"sigma", &B::sigma}, Field{"own", &B::own},
              Field{"beyond", &B::beyond}, Field{"waits", &B::waits}, Field{"plain", &B::plain},
              Field{"tight", &B::tight}, Field{"totals", &B::totals});
}

}  // namespace
}  // namespace lagbc

void lagbc::bind_within(nb::module_& m, int level) {
    bind_ball<uint16_t>(m, "Ball16");
    bind_ball<uint32_t>(m, "Ball32");
    bind_ball<double>(m, "BallFloat");
    bind<signatures::Within>(m, level);
}
