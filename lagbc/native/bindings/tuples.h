// Records that Python keeps as tuples of arrays and numbers, mostly named ones: a kernel takes them as a struct.
#pragma once

#include <array>

#include "records.h"

namespace lagbc {

// The fields of a struct, in the order of the tuple: `Items<Struct>::name` and `Items<Struct>::fields`.
template <class Struct>
struct Items;

template <class Struct>
concept IsTuple = requires { Items<Struct>::fields; };

// Call visit(field, its place) for each field, until one returns false; returns whether none did.
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
constexpr auto items_of() {
    return std::apply(
        []<class... T>(const Field<Struct, T>&... field) {
            return std::array{Description::Item{description<T>(), field.name, field.shape}...};
        },
        Items<Struct>::fields);
}

template <IsTuple Struct>
struct Described<Struct> {
    static constexpr auto items = items_of<Struct>();
    static constexpr Description description{.form = Description::Form::tuple,
                                             .name = &Items<Struct>::name,
                                             .items = items.data(),
                                             .count = static_cast<int>(items.size())};
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
            lagbc::Lengths lengths;
            return !lagbc::lengths_at<T>(&(value.*field.place), lengths) || sizes.fit(field.shape, lengths);
        });
    }
};

}  // namespace nanobind::detail
