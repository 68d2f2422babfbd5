// The product as a custom call of XLA, on CPUs and GPUs.
#pragma once

#include <nanobind/nanobind.h>

namespace vernier::python {

// jax_targets(): the handlers by platform, as capsules; empty in a build without XLA's headers.
void bind_jax(nanobind::module_& m);

}  // namespace vernier::python
