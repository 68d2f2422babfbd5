// Ozaki scheme I: which slices are multiplied, in which calls, and in which order the products are added.
#pragma once

#include <cstdint>
#include <vector>

#include "product/sides.hpp"
#include "slice/slice_unit.hpp"

namespace vernier {

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

}  // namespace vernier
