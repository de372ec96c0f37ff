// Families of kernels: one line a kernel is its place in the table of each level and its binding.
//
// `family.h` of a family lists its kernels. It is compiled once for each level, where it fills the table, and once more
// for the bindings, which read nothing of it but types (as if there were a level called "signatures").
#pragma once

#include <cstddef>

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

// A kernel without its type, which the bindings know.
using Pointer = void (*)();

// The kernels of a family at a level: the versions of each kernel. The type is the same at every level.
using Table = const Pointer* const*;

// A kernel as Python sees it, "name(arguments, by, name)", and its versions for types of arrays: a call runs the first
// version whose parameters fit.
template <Text text, auto... versions>
struct Kernel {};

template <class Level, class Kernel>
struct PointersOf;

template <class Level, Text text, auto... versions>
struct PointersOf<Level, Kernel<text, versions...>> {
    inline static const Pointer all[] = {reinterpret_cast<Pointer>(versions)...};
};

// The kernels of a family at a level.
template <class Level, Text text, class... Kernels>
struct Family {
    static constexpr Text name = text;

    static Table table() {
        static constexpr const Pointer* all[] = {PointersOf<Level, Kernels>::all...};
        return all;
    }
};

// The table of a level: kernels/family.cpp.in defines it.
template <class Level, Text family>
Table table_of();

}  // namespace lagbc
