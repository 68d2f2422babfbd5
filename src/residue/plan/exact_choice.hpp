// How many moduli a correctly rounded product takes: spare bits against entries that have to be computed twice. A pure
// function; since the result is the same whatever it says, it may weigh samples and measured rates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "product/plan/native_cost.hpp"
#include "product/statistics.hpp"

namespace vernier {

// A vector as far as the choice sees it, against its 2-norm.
struct ExactVector {
  double exact_log2 = 0;        // log2 of the 2-norm from which on scaling makes integers of all elements
  double one_norm_log2 = 0;     // log2 of the 1-norm over the 2-norm
  double largest_log2 = 0;      // log2 of the largest element over the 2-norm
  std::vector<double> inexact;  // [e]: elements that are no integers if the largest has exponent e; 0 beyond the end
};

// From a vector's statistics and the exponent of its lowest bit, but for `inexact`.
ExactVector exact_vector(const VectorStatistics& statistics, int lowest_bit);

// [e]: elements that need exponent e, e = 0 .. the end; becomes those that need more, as `inexact` has them.
void count_inexact_above(std::vector<double>& needed);

// A sampled entry: vectors of the question, and log2 |C_ij| / (|A_i|_2 |B_j|_2), minus infinity for a zero.
struct ExactEntry {
  std::size_t row = 0, column = 0;
  double cosine_log2 = 0;
};

struct ExactQuestion {
  ProductShape shape;
  std::string_view engine;
  int threads = 1;
  bool device = false;                                 // one GPU in place of engine and threads
  int precision = 53;                                  // of the result
  double rows_exact_log2 = 0, columns_exact_log2 = 0;  // largest exact_log2 among all vectors
  std::vector<ExactVector> rows, columns;              // sampled
  std::vector<ExactEntry> entries;
};

struct ExactChoice {
  int moduli = 0;
  int row_budget_16 = 0, column_budget_16 = 0;  // 2 log2 of the largest 2-norm of a scaled vector, in sixteenths
  double undecided = 0;                         // expected share of entries that the first look leaves open
  double seconds = 0;                           // expected, products and second looks
};

// One number of moduli, and the best.
ExactChoice weigh_exact(const ExactQuestion& question, int moduli);
ExactChoice choose_exact(const ExactQuestion& question);

// The same, looking no further than it must: at the neighbours of `first`, if few entries stay open there.
ExactChoice choose_exact_near(const ExactQuestion& question, const ExactChoice& first);

// Scales made for the data cost a second conversion of A and B, about a tenth of a product.
inline constexpr double worth_other_scales = 0.9;

// Moduli for evenly distributed data, before any are read.
int ordinary_exact_moduli(int precision, std::int64_t k);
int ordinary_device_exact_moduli(int precision, const ProductShape& shape);  // on a GPU

// 2 log2 of the largest norm in sixteenths that this many moduli hold on both sides together, rounding to integers
// included (docs/accuracy.md, theorem 3).
int exact_budget_16(int moduli, std::int64_t k);

}  // namespace vernier
