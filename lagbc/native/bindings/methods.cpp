// Kernels that several methods need for Python.
#include "../kernels/methods/family.h"
#include "bind.h"
#include "tuples.h"

namespace lagbc {

template <class T>
struct ArrayOf<Strided<T>> {
    using Item = T;
    using Array = nb::ndarray<nb::numpy, T, nb::ndim<2>, nb::device::cpu>;
    static constexpr const char* shape = "two dimensions";
    static Strided<T> view(const Array& array) {
        return {array.data(), static_cast<int64_t>(array.shape(0)), static_cast<int64_t>(array.shape(1)),
                array.stride(0), array.stride(1)};
    }
};

template <>
struct Items<BallScratch> {
    static constexpr const char* name = "Scratch";
    static constexpr std::tuple fields{Field{"row", &BallScratch::row, "n"}, Field{"dist", &BallScratch::dist, "n"},
                                       Field{"queue", &BallScratch::queue, "n + 1"},
                                       Field{"waits", &BallScratch::waits, "n"}};
};

}  // namespace lagbc

namespace nanobind::detail {

template <class T>
struct type_caster<lagbc::Strided<T>> : view_caster<lagbc::Strided<T>> {};

}  // namespace nanobind::detail

void lagbc::bind_methods(nb::module_& m, int level) {
    bind<signatures::Methods>(m, level);
}
