// Named arguments, with NumPy's arrays as views, and results: all that bindings share.
//
// `In<"roots", Span<const int64_t>>` is an argument of a Python function. `def` binds a kernel by the names of its
// parameters, and `method` a function whose parameters are such arguments. An array is never converted: a kernel would
// write to the copy. Only `take` checks dtype, dimensions and order of an array, and only `sized` its size.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <string>

#include "../kernels/buffer.h"
#include "../kernels/memory.h"
#include "gil.h"

namespace nb = nanobind;

namespace lagbc {

// A name as an argument of a template, of one type for any length, as clang deduces no lengths in a pack.
struct Text {
    char at[32] = {};
    template <std::size_t n>
    consteval Text(const char (&text)[n]) {
        std::copy_n(text, n, at);
    }
};

// The nanobind array that a view is made of, and its shape in words.
template <class View>
struct ArrayOf;

template <class T>
struct ArrayOf<Span<T>> {
    using type = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
    static constexpr const char* shape = "one dimension";
    static Span<T> view(const type& array) { return {array.data(), static_cast<int64_t>(array.shape(0))}; }
};

template <class T>
struct ArrayOf<Matrix<T>> {
    using type = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
    static constexpr const char* shape = "two dimensions";
    static Matrix<T> view(const type& array) {
        return {array.data(), static_cast<int64_t>(array.shape(0)), static_cast<int64_t>(array.shape(1))};
    }
};

template <class T>
struct ArrayOf<Rows<T>> {
    using type = nb::ndarray<T, nb::shape<-1, columns>, nb::c_contig, nb::device::cpu>;
    static constexpr const char* shape = "shape (n, 64)";
    static Rows<T> view(const type& array) { return {array.data(), static_cast<int64_t>(array.shape(0))}; }
};

template <>
struct ArrayOf<Stop> {
    using type = nb::ndarray<const uint8_t, nb::shape<1>, nb::c_contig, nb::device::cpu>;
    static constexpr const char* shape = "shape (1,)";
    static Stop view(const type& array) { return {{array.data(), 1}}; }
};

template <class View>
struct ArrayOf<Optional<View>> : ArrayOf<View> {};

template <class View>
concept IsArray = requires { typename ArrayOf<View>::type; };
template <class View>
inline constexpr bool is_optional = false;
template <class View>
inline constexpr bool is_optional<Optional<View>> = true;

[[noreturn]] void raise_value(const std::string& message);

// The form that an array has to have.
struct Form {
    nb::dlpack::dtype dtype;
    const char* shape;
    bool is_writable, is_contiguous, is_optional;
};

// Raise the TypeError of an array of another form.
[[noreturn]] void refuse(const char* name, const Form& wanted, nb::handle given);

[[noreturn]] void refuse_tuple(const char* name, int64_t count, nb::handle given);

// View an array of NumPy. If it does not fit, return false for another version of the function to take it; the last one
// raises.
template <IsArray View>
bool take(View& view, nb::handle given, const char* name, bool is_last) {
    using Array = typename ArrayOf<View>::type;
    using Item = typename Array::Scalar;
    if constexpr (is_optional<View>) {
        view.is_there = !given.is_none();
        if (!view.is_there) return true;
    }
    nb::detail::make_caster<Array> found;
    if (!given.is_none() && found.from_python(given, 0, nullptr) &&
        reinterpret_cast<std::uintptr_t>(found.value.data()) % alignof(Item) == 0) {
        using Plain = std::remove_cvref_t<decltype(ArrayOf<View>::view(found.value))>;
        static_cast<Plain&>(view) = ArrayOf<View>::view(found.value);
        return true;
    }
    if (!is_last) return false;
    constexpr bool is_contiguous = Array::Config::Order::value == 'C';
    refuse(name,
           {nb::dtype<std::remove_const_t<Item>>(), ArrayOf<View>::shape, !std::is_const_v<Item>, is_contiguous,
            is_optional<View>},
           given);
}

// Raise the ValueError of an array of another size; a width below 0 is none.
[[noreturn]] void refuse_size(const char* name, int64_t rows, int64_t width, int64_t found_rows, int64_t found_width);

template <class T>
void sized(const Span<T>& array, const char* name, int64_t rows, int64_t = -1) {
    if (array.size != rows) refuse_size(name, rows, -1, array.size, -1);
}
template <class T>
void sized(const Rows<T>& array, const char* name, int64_t rows, int64_t = columns) {
    if (array.size != rows) refuse_size(name, rows, columns, array.size, columns);
}
template <class T>
void sized(const Matrix<T>& array, const char* name, int64_t rows, int64_t width) {
    if (array.size != rows || array.width != width) refuse_size(name, rows, width, array.size, array.width);
}
template <class View>
void sized(const Optional<View>& array, const char* name, int64_t rows, int64_t width = -1) {
    if (array.is_there) sized(static_cast<const View&>(array), name, rows, width);
}

// A struct of arrays and numbers is a tuple in Python: `items(Struct&)` returns an `Item` for each. `rows` and `width`
// are the size that an array has to have; below 0 is any.
template <class T>
struct Item {
    const char* name;
    T& place;
    int64_t rows = -1, width = -1;
};
template <class T, class... Size>
Item(const char*, T&, Size...) -> Item<T>;

template <class Struct>
concept IsTuple = requires(Struct& all) { items(all); };

template <class T>
bool take_item(const Item<T>& item, nb::handle given, bool is_last) {
    if constexpr (IsArray<T>)
        return take(item.place, given, item.name, is_last);
    else
        return nb::try_cast(given, item.place);
}

template <class T>
void require_size(const Item<T>& item) {
    if constexpr (IsArray<T>)
        if (item.rows >= 0) sized(item.place, item.name, item.rows, item.width);
}

// Take the items of a tuple.
template <IsTuple Struct>
bool take(Struct& all, nb::handle given, const char* name, bool is_last) {
    const auto each = [&](const auto&... item) {
        constexpr Py_ssize_t count = sizeof...(item);
        if (!PyTuple_Check(given.ptr()) || PyTuple_Size(given.ptr()) != count) {
            if (is_last) refuse_tuple(name, count, given);
            return false;
        }
        Py_ssize_t place = 0;
        return (take_item(item, PyTuple_GetItem(given.ptr(), place++), is_last) && ...);
    };
    if (!std::apply(each, items(all))) return false;
    std::apply([](const auto&... item) { (require_size(item), ...); }, items(all));
    return true;
}

// An argument: a view of an array, a struct, or any type that nanobind knows.
template <Text text, class T, bool is_last = true>
struct In {
    static constexpr const char* name = text.at;
    T value;
    operator T() const { return value; }
};
template <Text text, class T, bool is_last>
    requires(IsArray<T> || IsTuple<T>)
struct In<text, T, is_last> : T {
    static constexpr const char* name = text.at;
};

template <Text text, class T, bool is_last, class... Size>
void sized(const In<text, T, is_last>& array, Size... size) {
    sized(static_cast<const T&>(array), text.at, size...);
}

// Check arrays with a number for each of n vertices.
template <class... Array>
void sized_by_vertex(int64_t n, const Array&... arrays) {
    (sized(arrays, n), ...);
}

// Make a kernel's buffer an array of Python, which frees it.
template <class T>
nb::ndarray<nb::numpy, T> given_away(Buffer<T>&& buffer, int64_t rows, int64_t width = -1) {
    auto* kept = new Buffer<T>(std::move(buffer));
    nb::capsule owner(kept, [](void* memory) noexcept { delete static_cast<Buffer<T>*>(memory); });
    const std::size_t shape[] = {static_cast<std::size_t>(rows), static_cast<std::size_t>(width)};
    return nb::ndarray<nb::numpy, T>(kept->data(), width < 0 ? 1 : 2, shape, owner);
}

// Turn the result of a kernel, and the items of a tuple, into results of Python.
template <class T>
T result(T&& value) {
    return std::forward<T>(value);
}
template <class T>
auto result(Buffer<T>&& buffer) {
    const int64_t size = buffer.size();
    return given_away(std::move(buffer), size);
}
template <class... Items>
auto result(std::tuple<Items...>&& items) {
    return std::apply([](auto&&... item) { return std::tuple(result(std::move(item))...); }, std::move(items));
}

// Call without the GIL.
template <class Call>
auto without_gil(const Call& call) {
    const WithoutGil released;
    return call();
}

// View an array of an object as NumPy's, with the object as its base.
template <class T>
nb::ndarray<nb::numpy, T> shown(Span<T> array, nb::handle holder) {
    const std::size_t shape[] = {static_cast<std::size_t>(array.size)};
    return nb::ndarray<nb::numpy, T>(array.data, 1, shape, holder);
}

// View an array of a memory by its name.
nb::ndarray<nb::numpy> array_named(const Memory& memory, nb::handle holder, const char* name);

// Copy numbers in matrix order into sweep order.
inline void put_in_order(Span<double> to, Optional<Span<const double>> from, Span<const int64_t> order) {
    for (int64_t i = 0; from.is_there && i < order.size; ++i) to[i] = from[order[i]];
}

// Raise the IndexError of a root that is no vertex; negative ones are absent.
inline void require_roots(Span<const int64_t> roots, int64_t n) {
    for (const int64_t root : roots)
        if (root >= n)
            throw nb::index_error(
                ("root " + std::to_string(root) + " is none of the " + std::to_string(n) + " vertices").c_str());
}

// Raise the ValueError of a graph of another size.
[[noreturn]] void refuse_graph(const char* name, int64_t n, int64_t nnz, int64_t found_n, int64_t found_nnz);

template <class Index>
void require_size(const char* name, const Csr<Index>& graph, int64_t n, int64_t nnz) {
    if (graph.n() != n || graph.indices.size != nnz) refuse_graph(name, n, nnz, graph.n(), graph.indices.size);
}

// The name of an argument for nanobind, and whether it may be None.
template <class T>
auto argument(const char* name) {
    if constexpr (is_optional<std::remove_cvref_t<T>>)
        return nb::arg(name).none();
    else
        return nb::arg(name);
}

// Bind a function as a method; its first parameter is the object, and the others are `In`.
template <class Owner, class Function, class Result, class Self, Text... texts, class... T, class... Extra>
void bind_method(Owner& owner, const char* name, const Function& function,
                 Result (Function::*)(Self, In<texts, T>...) const, const Extra&... extra) {
    owner.def(name, function, argument<T>(texts.at)..., extra...);
}
template <class Owner, class Function, class... Extra>
void method(Owner& owner, const char* name, const Function& function, const Extra&... extra) {
    bind_method(owner, name, function, &Function::operator(), extra...);
}

// Give a class with a memory the method `array(name)`.
template <class Class>
void show_arrays(nb::class_<Class>& bound) {
    method(bound, "array", [](nb::handle_t<Class> self, In<"name", const char*> name) {
        return array_named(nb::cast<Class&>(self).memory, self, name);
    });
}

// The type of the `In` for a parameter: views are passed by value.
template <class T, class Plain = std::remove_cvref_t<T>>
using Given = std::conditional_t<IsArray<Plain> || IsTuple<Plain> || std::is_arithmetic_v<Plain>, Plain, T>;

// The type of a parameter of a kernel.
template <std::size_t place, class Kernel>
struct ParameterOf;
template <std::size_t place, class Result, class... T>
struct ParameterOf<place, Result (*)(T...)> : std::tuple_element<place, std::tuple<T...>> {};

// Whether a version of a kernel raises the error of an argument: the last one does, or any if all have the same type
// there.
template <bool is_last, std::size_t place, class Kernel, class... Kernels>
inline constexpr bool tells =
    is_last ||
    (std::is_same_v<typename ParameterOf<place, Kernel>::type, typename ParameterOf<place, Kernels>::type> && ...);

template <bool is_last, class Kernel, class... Kernels>
struct Version;
template <bool is_last, class Result, class... T, class... Kernels>
struct Version<is_last, Result (*)(T...), Kernels...> {
    using Kernel = Result (*)(T...);

    template <Text... texts, class Owner, std::size_t... place>
    static void def(Owner& owner, const char* name, Kernel kernel, std::index_sequence<place...>) {
        const auto call = [kernel](In<texts, Given<T>, tells<is_last, place, Kernel, Kernels...>>... in) {
            if constexpr (std::is_void_v<Result>)
                without_gil([&] { kernel(static_cast<T>(in)...); });
            else
                return result(without_gil([&] { return kernel(static_cast<T>(in)...); }));
        };
        owner.def(name, call, argument<T>(texts.at)...);
    }
};

// Bind a kernel, which runs without the GIL; of several versions, Python calls the first that takes its arguments.
template <Text... texts, class Owner, class... Kernels>
void def(Owner& owner, const char* name, Kernels... kernels) {
    [&]<std::size_t... version>(std::index_sequence<version...>) {
        constexpr std::make_index_sequence<sizeof...(texts)> places;
        (Version<version + 1 == sizeof...(Kernels), Kernels, Kernels...>::template def<texts...>(owner, name, kernels,
                                                                                                 places),
         ...);
    }(std::index_sequence_for<Kernels...>());
}

}  // namespace lagbc

namespace nanobind::detail {

template <lagbc::Text text, class T, bool is_last>
struct type_caster<lagbc::In<text, T, is_last>> {
    using In = lagbc::In<text, T, is_last>;
    static constexpr bool is_viewed = lagbc::IsArray<T> || lagbc::IsTuple<T>;
    static constexpr auto Name = [] {
        if constexpr (lagbc::IsTuple<T>)
            return const_name("tuple");
        else if constexpr (!lagbc::IsArray<T>)
            return make_caster<T>::Name;
        else
            return make_caster<typename lagbc::ArrayOf<T>::type>::Name;
    }();
    template <class>
    using Cast = In;
    template <class>
    static constexpr bool can_cast() {
        return true;
    }

    bool from_python(handle source, uint32_t flags, cleanup_list* cleanup) {
        // nanobind first tries all versions without conversions, then with them: only then is it an error.
        if constexpr (is_viewed)
            return lagbc::take(inner, source, text.at, is_last && (flags & (uint8_t)cast_flags::convert) != 0);
        else
            return inner.from_python(source, flags_for_local_caster<T>(flags), cleanup);
    }

    operator In() {
        if constexpr (is_viewed)
            return {inner};
        else
            return {inner.operator cast_t<T>()};
    }

private:
    std::conditional_t<is_viewed, T, make_caster<T>> inner;
};

}  // namespace nanobind::detail
