// A build without XLA's headers.
#include "jax_ffi.hpp"

namespace vernier::python {

void bind_jax(nanobind::module_& m) {
  m.def("jax_targets", [] { return nanobind::dict(); });
}

}  // namespace vernier::python
