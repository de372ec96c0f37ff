// Choices that are made once a call, and compiled into the loops.
#pragma once

#include <type_traits>

#include "arrays.h"

namespace lagbc {

// with(run, a, b) calls run(std::bool_constant<a>(), std::bool_constant<b>()): a version is compiled for each
// combination. Few flags, then: only flags that change the cost of an edge.
template <class Run>
LAGBC_INLINE auto with(const Run& run) {
    return run();
}

template <class Run, class... Rest>
LAGBC_INLINE auto with(const Run& run, bool first, Rest... rest) {
    if (first) return with([&](auto... others) { return run(std::true_type(), others...); }, rest...);
    return with([&](auto... others) { return run(std::false_type(), others...); }, rest...);
}

}  // namespace lagbc
