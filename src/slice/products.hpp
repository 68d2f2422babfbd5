// Ozaki scheme I: which slices are multiplied, in which calls, and in which order the products are added.
#pragma once

#include <cstdint>
#include <vector>

#include "product/sides.hpp"
#include "slice/slice_unit.hpp"

namespace vernier {

// What decides it. Slices are counted from 0, slice 0 has the leading digits.
struct SliceCounts {
  Sides<std::vector<bool>> zero = {};  // slice by slice: no digit in it
  Sides<std::vector<bool>> few = {};   // so few that products with it go around the engine; or empty: none
  bool fast = false;                   // without the products of p + q >= max(slices of A, slices of B)
  bool grouped = false;                // products of equal p + q are added by the engine
  std::int64_t k = 0, k_block = 0;
  int neighbours = 1;      // slices of B that lie side by side in memory, from each multiple of it on
  bool any_order = false;  // the sum is exact: neighbours in weight come one after another
};

// One call: products of slice p of A with slices q .. q + count - 1 of B, over the block of k that begins at l, into
// `product` and what follows; or onto it.
struct SliceJob {
  int p, q, count;
  std::int64_t l, product;
  bool accumulate;
  enum class Few { none, a, b } few = Few::none;  // whose digits are multiplied one by one; count is 1
};

struct SliceProducts {
  std::vector<SliceJob> jobs;
  std::vector<SliceTerm>
      terms;               // from the smallest weights to the largest: p + q falling, p rising; any_order: p, q rising
  std::int64_t count = 0;  // stored products
  int products = 0;        // of the scheme, of all k
  std::int64_t skipped = 0;  // of them and the blocks of k, those of an empty slice
};

SliceProducts plan_slice_products(const SliceCounts& counts);

// Rates of a GPU: operations a second of cuBLAS, and of products of single digits with all vectors of the other
// operand.
struct SliceRates {
  double engine, few;
};

// Is a block's product of m x n x k faster without the engine, if one operand's slice has that many digits in the
// block, each to be multiplied with `others` vectors? With a quarter to spare, for turning the other operand's slices.
bool sparse_pays(double m, double n, double k, double digits, double others, const SliceRates& rates);

}  // namespace vernier
