// What cublasLtMatmul does to a product besides, where libvernier can do it too.
#pragma once

#include <optional>

#include "call.hpp"
#include "cublas.hpp"

namespace vernier::interpose::cublas {

using Descriptor = void*;
using GetAttribute = Status (*)(Descriptor, int, void*, std::size_t, std::size_t*);

// The attributes of one descriptor. An older library lacks some: they have the default there.
struct Attributes {
  GetAttribute get;
  Descriptor descriptor;

  template <class Value>
  Value operator()(int attribute, Value otherwise) const {
    Value value = otherwise;
    std::size_t written = 0;
    return get(descriptor, attribute, &value, sizeof value, &written) == success && written == sizeof value ? value
                                                                                                            : otherwise;
  }
};

// Of a product with that many rows. Nothing where it is one that stays with cuBLAS.
std::optional<Epilogue> epilogue_of(const Attributes& product, int data_type, std::int64_t rows);

}  // namespace vernier::interpose::cublas
