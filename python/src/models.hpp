// Engine models and probes of model.hpp and hardware.hpp as Python classes.
#pragma once

#include <nanobind/nanobind.h>

namespace vernier::python {

void bind_models(nanobind::module_& m);

}  // namespace vernier::python
