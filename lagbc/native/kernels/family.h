// Families of kernels: one line a kernel is its place in the table of each level and its binding.
//
// `family.h` of a family lists its kernels. It is compiled once for each level, where it fills the table, and once more
// for the bindings, which read nothing of it but types (as if there were a level called "signatures").
#pragma once

#include <cstddef>
#include <tuple>
#include <utility>

#include "arrays.h"
#include "level.h"

namespace lagbc {

template <std::size_t n>
struct Text {
    char at[n] = {};
    consteval Text(const char (&text)[n]) {
        for (std::size_t i = 0; i < n; ++i) at[i] = text[i];
    }
};

// A kernel as Python sees it, "name(arguments, by, name)", and its versions for types of arrays: a call runs the first
// version whose parameters fit.
template <Text call, auto... versions>
struct Kernel {
    using Versions = std::tuple<decltype(versions)...>;
    static constexpr const char* signature = call.at;

    static consteval Versions pointers() { return {versions...}; }
};

// Pointers to the kernels of a family; the type is the same at every level.
template <Text family, class... Versions>
struct Table {
    std::tuple<Versions...> kernels;
};

// The kernels of a family at a level.
template <class Level, Text name, class... Kernels>
struct Family {
    using Table = lagbc::Table<name, typename Kernels::Versions...>;

    static consteval Table table() { return {{Kernels::pointers()...}}; }

    // Call visit.operator()<kernel, its place>() for each kernel.
    template <class Visit>
    static void each(Visit visit) {
        [&]<std::size_t... place>(std::index_sequence<place...>) {
            (visit.template operator()<Kernels, place>(), ...);
        }(std::index_sequence_for<Kernels...>());
    }
};

// The table of a level: kernels/FAMILY.cpp defines it.
template <class Level, class Table>
const Table& table_of();

}  // namespace lagbc
