// The engines that multiply slices: those of the model, and the fp64 product of the BLAS underneath.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "vernier/level3.hpp"
#include "vernier/model.hpp"
#include "vernier/slices.hpp"

namespace vernier {

// Digits of one slice as the engine reads them, k contiguous.
using EncodedSlice = std::vector<std::byte>;

class SliceEngine {
 public:
  explicit SliceEngine(const std::string& name);  // throws Error

  // The most bits of a slice for which sums of k products are exact, signs included; throws Error if there is none.
  int bits(std::int64_t k) const;

  EncodedSlice encode(Side side, const std::vector<std::int32_t>& digits) const;

  struct Product {
    std::int64_t m = 0, n = 0, k = 0;  // of the block
    const EncodedSlice *a = nullptr, *b = nullptr;
    std::int64_t ld = 0;  // k of the whole slices
    std::int64_t first_row = 0, first_column = 0, first_k = 0;
  };
  // Into out[i + j * m]. Exact.
  void multiply(const Product& product, double* out) const;

 private:
  const std::byte* at(const EncodedSlice& slice, model::Format format, std::int64_t index) const;
  void multiply_by_blas(const Product& product, double* out) const;

  std::string name_;
  bool blas_ = false;
  model::Engine engine_;
};

// Of gemm_by_slices, on CPU and GPU. Throws Error.
void check_slice_options(const SliceOptions& options);

}  // namespace vernier
