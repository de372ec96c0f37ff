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

namespace nb = nanobind;

namespace lagbc {

// Take the GIL back. Where the interpreter has ended meanwhile, this thread sleeps until the process ends.
void take_gil(PyThreadState* state);

// Call without the GIL.
template <class Call>
auto without_gil(const Call& call) {
    const struct Released {
        PyThreadState* state = PyEval_SaveThread();
        ~Released() { take_gil(state); }
    } released;
    return call();
}

// A name as an argument of a template, of one type for any length, as clang deduces no lengths in a pack.
struct Text {
    char at[32] = {};
    template <std::size_t n>
    consteval Text(const char (&text)[n]) {
        std::copy_n(text, n, at);
    }
};

// The nanobind array that a view is made of.
template <class View, class T, class... Form>
struct ViewOf {
    using type = nb::ndarray<T, nb::device::cpu, Form...>;
    static View view(const type& array) {
        const auto size = static_cast<int64_t>(array.shape(0));
        if constexpr (requires { View{array.data(), size, size, size, size}; })
            return {array.data(), size, static_cast<int64_t>(array.shape(1)), array.stride(0), array.stride(1)};
        else if constexpr (requires { View{array.data(), size, size}; })
            return {array.data(), size, static_cast<int64_t>(array.shape(1))};
        else
            return {array.data(), size};
    }
};

// The same of a type of views, with its shape in words.
template <class View>
struct ArrayOf;
template <class T>
struct ArrayOf<Span<T>> : ViewOf<Span<T>, T, nb::ndim<1>, nb::c_contig> {
    static constexpr const char* shape = "one dimension";
};
template <class T>
struct ArrayOf<Matrix<T>> : ViewOf<Matrix<T>, T, nb::ndim<2>, nb::c_contig> {
    static constexpr const char* shape = "two dimensions";
};
template <class T>
struct ArrayOf<Rows<T>> : ViewOf<Rows<T>, T, nb::shape<-1, columns>, nb::c_contig> {
    static constexpr const char* shape = "shape (n, 64)";
};
template <>
struct ArrayOf<Stop> : ViewOf<Stop, const uint8_t, nb::shape<1>, nb::c_contig> {
    static constexpr const char* shape = "shape (1,)";
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

// Raise the TypeError of an array of another form.
[[noreturn]] void refuse(const char* name, nb::dlpack::dtype dtype, const char* shape, bool is_writable,
                         bool is_contiguous, bool is_optional, nb::handle given);

[[noreturn]] void refuse_tuple(const char* name, int64_t count, nb::handle given);

// Take an object, or a pointer to one.
template <class T>
bool take(T& value, nb::handle given, const char*, bool) {
    if constexpr (std::is_pointer_v<T>)
        return nb::try_cast(given, value) && value != nullptr;
    else
        return nb::try_cast(given, value);
}

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
    refuse(name, nb::dtype<std::remove_const_t<Item>>(), ArrayOf<View>::shape, !std::is_const_v<Item>,
           Array::Config::Order::value == 'C', is_optional<View>, given);
}

// Raise the ValueError of an array of another size; a width below 0 is none.
[[noreturn]] void refuse_size(const char* name, int64_t rows, int64_t width, int64_t found_rows, int64_t found_width);

template <IsArray View>
void sized(const View& array, const char* name, int64_t rows, int64_t width = -1) {
    if constexpr (is_optional<View>)
        if (!array.is_there) return;
    if (width < 0) width = array.width;
    if (array.size != rows || array.width != width) refuse_size(name, rows, width, array.size, array.width);
}

// A struct of arrays and numbers is a tuple in Python: `items(Struct&)` returns a number, or an `Item`, for each.
// `rows` and `width` are the size that an array has to have; below 0 is any.
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
bool take(Item<T>& item, nb::handle given, const char*, bool is_last) {
    return take(item.place, given, item.name, is_last);
}

template <class T>
void require_size(const T& item) {
    if constexpr (requires { item.place; })
        if (item.rows >= 0) sized(item.place, item.name, item.rows, item.width);
}

// Take the items of a tuple.
template <IsTuple Struct>
bool take(Struct& all, nb::handle given, const char* name, bool is_last) {
    const auto each = [&](auto&... item) {
        constexpr Py_ssize_t count = sizeof...(item);
        if (!PyTuple_Check(given.ptr()) || PyTuple_Size(given.ptr()) != count) {
            if (is_last) refuse_tuple(name, count, given);
            return false;
        }
        Py_ssize_t place = 0;
        return (take(item, PyTuple_GetItem(given.ptr(), place++), name, is_last) && ...);
    };
    if (auto places = items(all); !std::apply(each, places)) return false;
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

// Make a kernel's memory an array of Python, which frees it.
template <class T>
nb::ndarray<nb::numpy, T> given_away(Table<T>&& table) {
    auto* kept = new Buffer<T>(std::move(table.numbers));
    nb::capsule owner(kept, [](void* memory) noexcept { delete static_cast<Buffer<T>*>(memory); });
    const std::size_t shape[] = {static_cast<std::size_t>(table.rows), static_cast<std::size_t>(table.width)};
    return nb::ndarray<nb::numpy, T>(kept->data(), table.width < 0 ? 1 : 2, shape, owner);
}
template <class T>
auto given_away(Buffer<T>&& buffer) {
    const int64_t size = buffer.size();
    return given_away(Table<T>{std::move(buffer), size, -1});
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
void put_in_order(Span<double> to, Optional<Span<const double>> from, Span<const int64_t> order);

// Raise the IndexError of a root that is no vertex; negative ones are absent.
void require_roots(Span<const int64_t> roots, int64_t n);

// Raise the error of roots that are no vertices, or more than a block may have.
void require_block(Span<const int64_t> roots, int64_t n, int64_t most);

// Raise the ValueError of a graph of another size.
void require_size(const char* name, int64_t n, int64_t nnz, int64_t found_n, int64_t found_nnz);
template <class Index>
void require_size(const char* name, const Csr<Index>& graph, int64_t n, int64_t nnz) {
    require_size(name, n, nnz, graph.n(), graph.indices.size);
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
template <class Owner, class Function, class... Extra>
void method(Owner& owner, const char* name, const Function& function, const Extra&... extra) {
    [&]<class Result, class Self, Text... texts, class... T>(Result (Function::*)(Self, In<texts, T>...) const) {
        owner.def(name, function, argument<T>(texts.at)..., extra...);
    }(&Function::operator());
}

// Give a class with a memory the methods `array(name)` and `bytes`; `make` makes an object that only counts.
template <class Class, class Make>
void show_memory(nb::class_<Class>& bound, const Make& make) {
    method(bound, "array", [](nb::handle_t<Class> self, In<"name", const char*> name) {
        return array_named(nb::cast<Class&>(self).memory, self, name);
    });
    [&]<Text... texts, class... T>(Class (Make::*)(In<texts, T>...) const) {
        const auto bytes = [make](In<texts, T>... size) { return make(size...).memory.bytes(); };
        bound.def_static("bytes", bytes, argument<T>(texts.at)...);
    }(&Make::operator());
}

// The type of the `In` for a parameter: views are passed by value.
template <class T, class Plain = std::remove_cvref_t<T>>
using Given = std::conditional_t<IsArray<Plain> || IsTuple<Plain> || std::is_arithmetic_v<Plain>, Plain, T>;

// Whether all versions of a kernel have a parameter of this type at a place: any of them raises its error, else the
// last.
template <std::size_t place, class Kernel>
struct ParameterOf;
template <std::size_t place, class Result, class... T>
struct ParameterOf<place, Result (*)(T...)> : std::tuple_element<place, std::tuple<T...>> {};
template <std::size_t place, class T, class... Kernels>
inline constexpr bool is_of_all = (std::is_same_v<T, typename ParameterOf<place, Kernels>::type> && ...);

// Bind a kernel, which runs without the GIL; of several versions, Python calls the first that takes its arguments.
template <Text... texts, class Owner, class... Kernels>
void def(Owner& owner, const char* name, Kernels... kernels) {
    using Last = std::tuple_element_t<sizeof...(Kernels) - 1, std::tuple<Kernels...>>;
    const auto bind = [&]<class Result, class... T, std::size_t... place>(Result (*kernel)(T...),
                                                                          std::index_sequence<place...>) {
        constexpr bool is_last = std::is_same_v<Result (*)(T...), Last>;
        const auto call = [kernel](In<texts, Given<T>, is_last || is_of_all<place, T, Kernels...>>... in) {
            return without_gil([&] { return kernel(static_cast<T>(in)...); });
        };
        owner.def(name, call, argument<T>(texts.at)...);
    };
    (bind(kernels, std::make_index_sequence<sizeof...(texts)>()), ...);
}

}  // namespace lagbc

namespace nanobind::detail {

template <class Memory>
    requires requires(Memory& memory) { lagbc::given_away(std::move(memory)); }
struct type_caster<Memory> {
    using Array = decltype(lagbc::given_away(std::declval<Memory>()));
    static constexpr auto Name = make_caster<Array>::Name;

    static handle from_cpp(Memory&& memory, rv_policy policy, cleanup_list* cleanup) noexcept {
        try {
            return make_caster<Array>::from_cpp(lagbc::given_away(std::move(memory)), policy, cleanup);
        } catch (...) {
            return PyErr_NoMemory();
        }
    }
};

template <lagbc::Text text, class T, bool is_last>
struct type_caster<lagbc::In<text, T, is_last>> {
    using In = lagbc::In<text, T, is_last>;
    static constexpr auto Name = [] {
        if constexpr (lagbc::IsTuple<T>)
            return const_name("tuple");
        else if constexpr (lagbc::IsArray<T>)
            return make_caster<typename lagbc::ArrayOf<T>::type>::Name;
        else
            return make_caster<T>::Name;
    }();
    template <class>
    using Cast = In;
    template <class>
    static constexpr bool can_cast() {
        return true;
    }

    bool from_python(handle source, uint32_t flags, cleanup_list*) {
        // nanobind first tries all versions without conversions, then with them: only then is it an error.
        return lagbc::take(given, source, text.at, is_last && (flags & (uint8_t)cast_flags::convert) != 0);
    }

    operator In() {
        if constexpr (std::is_reference_v<T>)
            return {*given};
        else
            return {given};
    }

private:
    std::conditional_t<std::is_reference_v<T>, std::remove_reference_t<T>*, T> given{};
};

}  // namespace nanobind::detail
