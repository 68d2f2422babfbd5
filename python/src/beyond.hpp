// What vernier.beyond stands on: dd products and solutions, interval products, proofs (quad.hpp, verified.hpp).
#pragma once

#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace vernier::python {

void bind_beyond(nb::module_& m);

}  // namespace vernier::python
