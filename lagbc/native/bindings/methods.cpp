// Kernels that several methods need for Python.
#include "../kernels/methods/columns.h"
#include "../kernels/methods/groups.h"
#include "numpy.h"

namespace lagbc {

template <class T>
struct ArrayOf<Strided<T>> {
    using type = nb::ndarray<T, nb::ndim<2>, nb::device::cpu>;
    static constexpr const char* shape = "two dimensions";
    static Strided<T> view(const type& array) {
        return {array.data(), static_cast<int64_t>(array.shape(0)), static_cast<int64_t>(array.shape(1)),
                array.stride(0), array.stride(1)};
    }
};

void bind_methods(nb::module_& m) {
    def<"weights", "smallest", "largest">(m, "find_extremes", find_extremes);
    def<"dist", "sigma">(m, "clear_unreached", clear_unreached<double>, clear_unreached<float>);
    def<"columns", "rows">(m, "turn", turn);
    def<"rows", "columns">(m, "turn_back", turn_back<double, double>, turn_back<double, int32_t>,
                           turn_back<float, double>, turn_back<float, int32_t>);
    def<"into", "reached", "dist", "sigma", "is_log", "rtol", "in_group", "endpoints", "shares", "is_passed", "totals">(
        m, "add_group_shares", add_group_shares<Narrow>, add_group_shares<Wide>);
}

}  // namespace lagbc
