// DLPack's table of C functions for exchange (DLPack 1.2), which PyTorch has from 2.10 on: one call describes a tensor,
// where seven attributes and methods would be asked for.
#pragma once

#include "array.hpp"

namespace vernier::python {

struct ExchangeTable;

// The table in the capsule that a class offers; null where there is none, or one of another major version.
const ExchangeTable* exchange_table(nb::handle capsule);

// Type, device, shape and strides of x; false, without an error of Python, where the table cannot tell.
bool describe_by_table(const ExchangeTable& table, nb::handle x, Array& array);

// The current stream of a GPU; false, without an error of Python, where the table has none.
bool stream_by_table(const ExchangeTable& table, int device, void*& stream);

// Bytes on a GPU from the library's own allocator, on its current stream; null, without an error of Python, where there
// are none. What is returned goes to release_by_table, which takes null too.
void* allocate_by_table(const ExchangeTable& table, std::size_t bytes, int device, void*& data);
void release_by_table(void* managed);

}  // namespace vernier::python
