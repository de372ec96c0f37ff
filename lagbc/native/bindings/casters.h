// How arguments and fields become the types of kernels: numpy arrays of the exact type and order, never copies. A view
// lives as long as the call; a view in a record keeps its array, too. `Described<T>` has the form of a type as data,
// from which errors and annotations are made.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <string>
#include <string_view>

#include "../kernels/buffer.h"
#include "numpy.h"

namespace nb = nanobind;

namespace lagbc {

template <class T>
constexpr const char* dtype_name() {
    using Plain = std::remove_const_t<T>;
    if constexpr (std::is_same_v<Plain, double>)
        return "float64";
    else if constexpr (std::is_same_v<Plain, float>)
        return "float32";
    else if constexpr (std::is_same_v<Plain, bool>)
        return "bool";
    else if constexpr (std::is_same_v<Plain, int32_t>)
        return "int32";
    else if constexpr (std::is_same_v<Plain, int64_t>)
        return "int64";
    else if constexpr (std::is_same_v<Plain, uint8_t>)
        return "uint8";
    else if constexpr (std::is_same_v<Plain, uint16_t>)
        return "uint16";
    else if constexpr (std::is_same_v<Plain, uint32_t>)
        return "uint32";
    else if constexpr (std::is_same_v<Plain, uint64_t>)
        return "uint64";
    else
        static_assert(sizeof(T) == 0, "arrays of this type have no name yet");
}

// The dtype of an array, and the array, as the C API of numpy lays them out, which it never changes. They are read in
// place: to ask for a buffer, or by DLPack, takes 150 ns an array.
struct NumpyType {
    PyObject_HEAD PyTypeObject* scalar;
    char kind, letter, byte_order, reserved;
    int number;
};

struct NumpyArray {
    PyObject_HEAD char* data;
    int dimensions;
    Py_ssize_t *shape, *strides;
    PyObject* base;
    NumpyType* type;
    int flags;
};

// numpy.ndarray, kept as long as the process; a module finds it first.
inline PyTypeObject* array_type = nullptr;

inline void find_array_type() {
    const nb::object found = nb::module_::import_("numpy").attr("ndarray");
    array_type = reinterpret_cast<PyTypeObject*>(nb::object(found).release().ptr());
}

// Whether a number of numpy's enum of types stands for T: the numbers of integers stand for C's types, signed and
// unsigned ones in turn, of which two may have one size.
template <class T>
constexpr bool is_number_of(int number) {
    using Plain = std::remove_const_t<T>;
    constexpr std::size_t sizes[] = {sizeof(char), sizeof(short), sizeof(int), sizeof(long), sizeof(long long)};
    if constexpr (std::is_same_v<Plain, bool>) return number == 0;
    if constexpr (std::is_same_v<Plain, float>) return number == 11;
    if constexpr (std::is_same_v<Plain, double>) return number == 12;
    if (number < 1 || number > 10) return false;
    return sizes[(number - 1) / 2] == sizeof(T) && (number % 2 == 1) == std::is_signed_v<Plain>;
}

// The array of a handle, if its type is T, aligned and in the machine's order of bytes, writable unless T is const.
template <class T>
const NumpyArray* array_of(nb::handle source, int dimensions, bool in_order) noexcept {
    if (!PyObject_TypeCheck(source.ptr(), array_type)) return nullptr;
    const auto* array = reinterpret_cast<const NumpyArray*>(source.ptr());
    const int wanted = (in_order ? 0x1 : 0) | 0x100 | (std::is_const_v<T> ? 0 : 0x400);  // C order, aligned, writable
    const char bytes = array->type->byte_order;
    const bool fits = array->dimensions == dimensions && (array->flags & wanted) == wanted &&
                      is_number_of<T>(array->type->number) && (bytes == '=' || bytes == '|');
    return fits ? array : nullptr;
}

// The kinds of arrays: `view` makes a kernel's view of one, if its shape fits.
template <class View>
struct OldArrayOf;

template <class T>
struct OldArrayOf<Span<T>> {
    using Item = T;
    static constexpr int dimensions = 1;
    static constexpr bool in_order = true;
    static constexpr const char* shape = "one dimension";
    static bool view(const NumpyArray& array, Span<T>& value) {
        value = {reinterpret_cast<T*>(array.data), array.shape[0]};
        return true;
    }
};

template <class T>
struct OldArrayOf<Matrix<T>> {
    using Item = T;
    static constexpr int dimensions = 2;
    static constexpr bool in_order = true;
    static constexpr const char* shape = "two dimensions";
    static bool view(const NumpyArray& array, Matrix<T>& value) {
        value = {reinterpret_cast<T*>(array.data), array.shape[0], array.shape[1]};
        return true;
    }
};

template <class T>
struct OldArrayOf<Rows<T>> {
    using Item = T;
    static constexpr int dimensions = 2;
    static constexpr bool in_order = true;
    static constexpr const char* shape = "shape (n, 64)";
    static bool view(const NumpyArray& array, Rows<T>& value) {
        value = {reinterpret_cast<T*>(array.data), array.shape[0]};
        return array.shape[1] == columns;
    }
};

}  // namespace lagbc

namespace nanobind::detail {

template <class View>
struct view_caster {
    using Of = lagbc::OldArrayOf<View>;
    NB_TYPE_CASTER(View, const_name("numpy.typing.NDArray"))

    // Never converted: a copy would be written in place of the array.
    bool from_python(handle source, uint32_t, cleanup_list*) noexcept {
        const auto* array = lagbc::array_of<typename Of::Item>(source, Of::dimensions, Of::in_order);
        return array != nullptr && Of::view(*array, value);
    }
};

template <class T>
struct type_caster<lagbc::Span<T>> : view_caster<lagbc::Span<T>> {};
template <class T>
struct type_caster<lagbc::Matrix<T>> : view_caster<lagbc::Matrix<T>> {};
template <class T>
struct type_caster<lagbc::Rows<T>> : view_caster<lagbc::Rows<T>> {};

template <class View>
struct type_caster<lagbc::Optional<View>> {
    NB_TYPE_CASTER(lagbc::Optional<View>, optional_name(make_caster<View>::Name))

    bool from_python(handle source, uint32_t flags, cleanup_list* cleanup) noexcept {
        if (source.is_none()) return true;
        if (!view.from_python(source, flags, cleanup)) return false;
        value = {view.value, true};
        return true;
    }

private:
    make_caster<View> view;
};

template <>
struct type_caster<lagbc::Stop> {
    NB_TYPE_CASTER(lagbc::Stop, make_caster<lagbc::Span<const uint8_t>>::Name)

    bool from_python(handle source, uint32_t flags, cleanup_list* cleanup) noexcept {
        if (!view.from_python(source, flags, cleanup) || view.value.size != 1) return false;
        value = {view.value};
        return true;
    }

private:
    make_caster<lagbc::Span<const uint8_t>> view;
};

// Another record.
template <class Record>
struct type_caster<lagbc::Ref<Record>> {
    NB_TYPE_CASTER(lagbc::Ref<Record>, make_caster<Record>::Name)

    bool from_python(handle source, uint32_t flags, cleanup_list* cleanup) noexcept {
        if (source.is_none() || !record.from_python(source, flags, cleanup)) return false;
        value = {record.operator std::remove_const_t<Record>*()};
        return true;
    }

private:
    make_caster<Record> record;
};

// An array that a kernel made becomes Python's, which frees it.
template <class T>
struct type_caster<lagbc::Buffer<T>> {
    using Array = ndarray<numpy, T, ndim<1>>;
    NB_TYPE_CASTER(lagbc::Buffer<T>, make_caster<Array>::Name)

    static handle from_cpp(lagbc::Buffer<T>&& buffer, rv_policy, cleanup_list* cleanup) noexcept {
        const auto size = static_cast<size_t>(buffer.size());
        auto* kept = new lagbc::Buffer<T>(std::move(buffer));
        capsule owner(kept, [](void* memory) noexcept { delete static_cast<lagbc::Buffer<T>*>(memory); });
        return make_caster<Array>::from_cpp(Array(kept->data(), {size}, owner), rv_policy::reference, cleanup);
    }
};

}  // namespace nanobind::detail

namespace lagbc {

// The form of a type: an array, a number, True or False, a record, a tuple of these, or nothing.
struct Description {
    enum class Form { array, stop, whole, real, flag, record, tuple, nothing } form;
    const char* dtype = nullptr;  // of arrays and whole numbers
    const char* shape = nullptr;  // of an array, in words
    bool is_writable = false, is_optional = false;
    const char* const* name = nullptr;  // of a record or tuple; a record has one when it is bound
    struct Item;
    const Item* items = nullptr;  // of a tuple
    int count = 0;
};

// An item of a tuple, with its name and shape, if any.
struct Description::Item {
    const Description* type;
    const char* name = "";
    std::string_view shape = {};
};

// The form in words, for errors, and as an annotation, for type checkers.
std::string wanted(const Description& type);
std::string annotation(const Description& type);

template <class T>
struct Described;

template <class T>
constexpr const Description* description() {
    return &Described<std::remove_cvref_t<T>>::description;
}

template <class View>
    requires requires { typename OldArrayOf<View>::Item; }
struct Described<View> {
    using Item = typename OldArrayOf<View>::Item;
    static constexpr Description description{.form = Description::Form::array,
                                             .dtype = dtype_name<Item>(),
                                             .shape = OldArrayOf<View>::shape,
                                             .is_writable = !std::is_const_v<Item>};
};

template <class View>
constexpr Description optional_of() {
    Description of = Described<View>::description;
    of.is_optional = true;
    return of;
}

template <class View>
struct Described<Optional<View>> {
    static constexpr Description description = optional_of<View>();
};

template <>
struct Described<Stop> {
    static constexpr Description description{.form = Description::Form::stop, .dtype = "uint8"};
};

template <class T>
struct Described<Buffer<T>> : Described<Span<T>> {};

template <>
struct Described<bool> {
    static constexpr Description description{.form = Description::Form::flag};
};

template <class T>
    requires std::is_integral_v<T>
struct Described<T> {
    static constexpr Description description{.form = Description::Form::whole, .dtype = dtype_name<T>()};
};

template <>
struct Described<double> {
    static constexpr Description description{.form = Description::Form::real};
};

template <>
struct Described<void> {
    static constexpr Description description{.form = Description::Form::nothing};
};

template <class... Items>
struct Described<std::tuple<Items...>> {
    static constexpr Description::Item items[] = {{lagbc::description<Items>()}...};
    static constexpr Description description{
        .form = Description::Form::tuple, .items = items, .count = sizeof...(Items)};
};

// Classes of records have the name that they are bound by.
template <class T>
struct Described {
    static inline const char* name = "";
    static constexpr Description description{.form = Description::Form::record, .name = &name};
};

template <class Record>
struct Described<Ref<Record>> : Described<std::remove_const_t<Record>> {};

template <class Record>
struct Described<Record*> {
    static constexpr Description description = optional_of<std::remove_const_t<Record>>();
};

template <class T>
using Argument = nb::detail::make_caster<T>;

// Numbers of numpy's types are converted; all other objects are taken unchanged.
template <class T>
bool load(Argument<T>& argument, nb::handle source) noexcept {
    using Plain = std::remove_cvref_t<T>;
    constexpr bool is_number = std::is_arithmetic_v<Plain> && !std::is_same_v<Plain, bool>;
    constexpr auto flags =
        is_number ? static_cast<uint32_t>(nb::detail::cast_flags::convert) : nb::detail::none_disallowed_flag<T>;
    return argument.from_python(source, flags, nullptr);
}

// An argument in words: the dtype and shape of an array, or the type of any other object.
std::string found_old(nb::handle source);

}  // namespace lagbc
