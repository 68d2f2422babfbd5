// Factorisations and solvers of lapack.hpp, for matrices by columns that Python has made.
#pragma once

#include <nanobind/nanobind.h>

namespace vernier::python {

void bind_lapack(nanobind::module_& m);

}  // namespace vernier::python
