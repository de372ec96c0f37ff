// Records that Python keeps as tuples of arrays and numbers, mostly named ones: a kernel takes them as a struct.
#pragma once

#include "bind.h"

namespace lagbc {

// The fields of a struct, in the order of the tuple: `Items<Struct>::name` and `Items<Struct>::fields`.
template <class Struct>
struct Items;

template <class Struct>
concept IsTuple = requires { Items<Struct>::fields; };

// Call visit(field, its place) for each field, until one says no; whether none did.
template <IsTuple Struct, class Visit>
bool each_item(const Visit& visit) {
    return std::apply(
        [&](const auto&... field) {
            std::size_t place = 0;
            return (visit(field, place++) && ...);
        },
        Items<Struct>::fields);
}

template <IsTuple Struct>
struct Described<Struct> {
    static std::string annotation() {
        std::string all;
        each_item<Struct>([&]<class T>(const Field<Struct, T>&, std::size_t place) {
            all += (place == 0 ? "" : ", ") + Described<T>::annotation();
            return true;
        });
        return "tuple[" + all + "]";
    }
    static std::string wanted() {
        std::string all = std::string("a ") + Items<Struct>::name + ", a tuple (";
        each_item<Struct>([&]<class T>(const Field<Struct, T>& field, std::size_t place) {
            const std::string shape = field.shape.empty() ? "" : " " + as_tuple(field.shape);
            all += (place == 0 ? "" : ", ") + (field.name + shape + ": " + Described<T>::wanted());
            return true;
        });
        return all + ")";
    }
};

}  // namespace lagbc

namespace nanobind::detail {

template <lagbc::IsTuple Struct>
struct type_caster<Struct> {
    NB_TYPE_CASTER(Struct, const_name("tuple"))

    bool from_python(handle source, uint32_t, cleanup_list*) noexcept {
        constexpr std::size_t size = std::tuple_size_v<std::remove_cvref_t<decltype(lagbc::Items<Struct>::fields)>>;
        if (!PyTuple_Check(source.ptr()) || PyTuple_Size(source.ptr()) != size) return false;
        lagbc::Sizes sizes;
        return lagbc::each_item<Struct>([&]<class T>(const lagbc::Field<Struct, T>& field, std::size_t place) {
            lagbc::Argument<T> item;
            if (!lagbc::load<T>(item, PyTuple_GetItem(source.ptr(), static_cast<Py_ssize_t>(place)))) return false;
            value.*field.place = item.operator cast_t<T>();
            return lagbc::fits(sizes, field, value.*field.place);
        });
    }
};

}  // namespace nanobind::detail
