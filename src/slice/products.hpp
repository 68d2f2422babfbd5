// Ozaki scheme I: which slices are multiplied, in which calls, and in which order the products are added.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "number/ieee754.hpp"
#include "product/sides.hpp"
#include "slice/slice_unit.hpp"
#include "vernier/level3.hpp"
#include "vernier/model.hpp"
#include "vernier/slices.hpp"

namespace vernier {

// Splits both operands as they are asked for: until nothing is left, until that is little, or into so many slices.
// Returns how many they are, and says in the report.
//   empty(side, slices), left_after(side, slices): what is left after so many slices;  next(side, slice): makes one
template <class T, class Empty, class LeftAfter, class Next>
Sides<int> split_as_asked(const SliceOptions& options, std::int64_t k, const Empty& empty, const LeftAfter& left_after,
                          const Next& next, SliceReport& report) {
  const bool correctly_rounded = options.mode == SliceMode::correctly_rounded;
  const double tolerance = std::sqrt(static_cast<double>(k)) * std::ldexp(1.0, -Ieee754<T>::precision);
  Sides<int> count{};
  Sides<double> left{};
  Sides<bool> done;
  for (;;) {
    for (const Side side : both_sides) done[side] = empty(side, count[side]);
    const int d = std::max(count.a, count.b);
    if (done.a && done.b) break;
    if (!correctly_rounded && d > 0) {
      for (const Side side : both_sides) left[side] = left_after(side, count[side]);
      const bool enough = std::max(left.a, left.b) <= tolerance;
      if (options.slices == 0 ? enough : d == options.slices) break;
    }
    for (const Side side : both_sides)
      if (!done[side]) next(side, count[side]++);
  }
  report.left_a = done.a ? 0 : left.a, report.left_b = done.b ? 0 : left.b;
  report.slices_a = count.a, report.slices_b = count.b;
  report.fast = !correctly_rounded && !options.all_products && !(done.a && done.b);
  return count;
}

// What decides it. Slices are counted from 0, slice 0 has the leading digits.
struct SliceCounts {
  Sides<int> slices = {};
  bool fast = false;  // without the products of p + q >= max(slices of A, slices of B)
  std::int64_t k = 0, k_block = 0;
  int neighbours = 1;      // slices of B that lie side by side in memory, from each multiple of it on
  bool any_order = false;  // the sum is exact: neighbours in weight come one after another
};

// One call: products of slice p of A with slices q .. q + count - 1 of B, over the block of k that begins at l, into
// `product` and what follows.
struct SliceJob {
  int p, q, count;
  std::int64_t l, product;
};

struct SliceProducts {
  std::vector<SliceJob> jobs;
  std::vector<SliceTerm>
      terms;               // from the smallest weights to the largest: p + q falling, p rising; any_order: p, q rising
  std::int64_t count = 0;  // stored products: of each pair and block of k
};

SliceProducts plan_slice_products(const SliceCounts& counts);

// ---- the engines that multiply slices: those of the model, and the fp64 product of the BLAS underneath.

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

  std::string name_;
  bool blas_ = false;
  model::Engine engine_;
};

// Of gemm_by_slices, on CPU and GPU. Throws Error.
void check_slice_options(const SliceOptions& options);

}  // namespace vernier
