// Kernels that several methods need for Python.
#include "../kernels/methods/family.h"
#include "bind.h"

namespace lagbc {

template <class T>
struct ArrayOf<Strided<T>> {
    using Item = T;
    static constexpr int dimensions = 2;
    static constexpr bool in_order = false;
    static constexpr const char* shape = "two dimensions";
    static bool view(const NumpyArray& array, Strided<T>& value) {
        constexpr Py_ssize_t item = sizeof(T);
        value = {reinterpret_cast<T*>(array.data), array.shape[0], array.shape[1], array.strides[0] / item,
                 array.strides[1] / item};
        return array.strides[0] % item == 0 && array.strides[1] % item == 0;
    }
};

}  // namespace lagbc

namespace nanobind::detail {

template <class T>
struct type_caster<lagbc::Strided<T>> : view_caster<lagbc::Strided<T>> {};

}  // namespace nanobind::detail

void lagbc::bind_methods(nb::module_& m, int level) {
    bind(m, level, signatures::MethodsKernels());
}
