// A function a family binds its kernels and classes, in a file of its own.
#pragma once

#include <nanobind/nanobind.h>

namespace lagbc {

void bind_batched(nanobind::module_& m);
void bind_extended(nanobind::module_& m);
void bind_graph(nanobind::module_& m);
void bind_io(nanobind::module_& m);
void bind_methods(nanobind::module_& m);
void bind_reduce(nanobind::module_& m);
void bind_traversal(nanobind::module_& m);
void bind_within(nanobind::module_& m);

}  // namespace lagbc
