// op(X) of a complex matrix on a GPU as a real one: rows [re -im; im re] of A, or columns [re; im] of B.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <type_traits>

#include "vernier/quad.hpp"

namespace vernier::cuda {

// op(X) of rows x columns; parts of one word of 64 bits (double) or two (dd, binary128). out: without gaps.
struct ComplexOperand {
  Op op;
  std::int64_t rows, columns;
  const std::uint64_t* data;
  std::int64_t ld;
  int words;
  bool signs;  // each word has a sign; else the last one of a part has

  // What turns the sign of a part's word w.
  constexpr std::uint64_t turn(int w) const { return signs || w == words - 1 ? std::uint64_t{1} << 63 : 0; }
};

template <class T>
ComplexOperand complex_operand(Op op, std::int64_t rows, std::int64_t columns, const T* x, std::int64_t ld) {
  constexpr int words = sizeof(T) / 16;
  return {op,
          rows,
          columns,
          reinterpret_cast<const std::uint64_t*>(x),
          ld,
          words,
          words == 1 || std::is_same_v<T, complex_dd>};
}

void expand_complex_on_device(const ComplexOperand& x, bool left, void* out, cudaStream_t stream);

}  // namespace vernier::cuda
