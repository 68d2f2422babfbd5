// Prepared operands of prepared.hpp as a Python class.
#pragma once

#include <nanobind/nanobind.h>

namespace vernier::python {

void bind_prepared(nanobind::module_& m);

}  // namespace vernier::python
