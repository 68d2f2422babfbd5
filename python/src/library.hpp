// NumPy, CuPy or PyTorch as their adapters in the package describe them: functions and names, looked up once.
#pragma once

#include "array.hpp"
#include "exchange.hpp"

namespace vernier::python {

// One library's functions. Handles are immortal, as modules of Python are.
struct Library {
  explicit Library(const char* adapter);  // a module of the package

  nb::handle empty, contiguous, stream, workspace, dtypes[4];
  // Of PyTorch alone:
  nb::handle strided;
  nb::handle grad_enabled;                   // is a gradient asked for where a tensor wants one?
  nb::handle forward_mode, forward_enabled;  // the module that counts levels of forward mode; is it on?
  nb::handle modes[4];                       // each says how many modes of a kind look at every operation
  int mode_count = 0;
  nb::handle current_device;
  const ExchangeTable* exchange = nullptr;
};

// Its adapter is loaded when an array of it is seen first.
const Library& library(Maker maker);

// Attributes and methods that every call needs.
struct Names {
  Names();
  nb::handle array_struct, shape, strides, dtype, data, pointer, device_id, stride, data_ptr, get_device, layout,
      is_conj, is_neg, is_cpu, requires_grad, new_empty, current_level;
};
const Names& names();

// An attribute, and a call without arguments; nanobind's accessors would make strings of their names each time.
nb::object get(nb::handle x, nb::handle attribute);
nb::object call(nb::handle x, nb::handle method);
nb::object call(nb::handle function);
std::int64_t integer(nb::handle x);
void* address(nb::handle x);

}  // namespace vernier::python
