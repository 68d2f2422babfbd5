// Tensors of PyTorch: by DLPack's table of C functions where PyTorch has it, else by attributes.
#pragma once

#include "array.hpp"

namespace vernier::python {

// Describes x; false where Python has to look: another layout or device, no memory of its own, a lazy conjugate.
bool describe_tensor(nb::handle x, Array& array, bool fresh);

// Does PyTorch have to see a product of these, for gradients, in either mode, for tracing or a mode of its own?
bool tensors_need_operator(nb::handle a, nb::handle b, nb::handle out);

nb::object new_tensor(nb::handle x, const std::int64_t* shape, int dimensions);

}  // namespace vernier::python
