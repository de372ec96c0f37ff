// Kernels of sums within bounds for Python.
#include "../kernels/within/sums.h"
#include "families.h"
#include "numpy.h"
#include "records.h"
#include "sums.h"

namespace lagbc {
namespace {

template <class Number>
void bind_ball(nb::module_& m, const char* name) {
    using B = Ball<Number>;
    record<B>(
        m, name, Field{"rows", &B::rows}, Field{"edges", &B::edges}, Field{"row", &B::row, "n"},
        Field{"nearest", &B::nearest, "n"}, Field{"queue", &B::queue, "n + 1"}, Field{"is_queued", &B::is_queued, "n"},
        Field{"vertices", &B::vertices, "rows + 1"}, Field{"roots", &B::roots, "64"},
        Field{"out_indptr", &B::out_indptr, "rows + 1"}, Field{"out_indices", &B::out_indices, "edges"},
        Field{"out_lengths", &B::out_lengths, "edges"}, Field{"into_indptr", &B::into_indptr, "rows + 1"},
        Field{"into_indices", &B::into_indices, "edges"}, Field{"into_lengths", &B::into_lengths, "edges"},
        Field{"places", &B::places, "edges"}, Field{"place_rows", &B::place_rows, "edges"}, Field{"far", &B::far},
        Field{"dist", &B::dist, "rows, 64"}, Field{"sigma", &B::sigma, "rows, 64"}, Field{"own", &B::own, "rows, 64"},
        Field{"beyond", &B::beyond, "rows, 64"}, Field{"waits", &B::waits, "rows"}, Field{"plain", &B::plain, "rows"},
        Field{"tight", &B::tight, "edges"}, Field{"totals", &B::totals, "rows"});
}

}  // namespace
void bind_within(nb::module_& m) {
    bind_ball<uint16_t>(m, "Ball16");
    bind_ball<double>(m, "BallFloat");
    def<"leaving", "entering", "roots", "radius", "most", "ball">(m, "find_ball", find_ball<Narrow, uint16_t>,
                                                                  find_ball<Narrow, double>, find_ball<Wide, uint16_t>,
                                                                  find_ball<Wide, double>);
    def<"ball", "asked", "first", "width", "omega", "times", "near", "found">(
        m, "sum_ball", sum_ball<Narrow, uint16_t>, sum_ball<Narrow, double>, sum_ball<Wide, uint16_t>,
        sum_ball<Wide, double>);
}

}  // namespace lagbc
