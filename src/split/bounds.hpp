// The bound of error-corrected products with runs outside the engine (docs/accuracy.md, theorem 9).
#pragma once

#include <cstdint>

namespace vernier {

// What of an engine's block sum the bound reads.
struct BlockSum {
  int block = 16;          // products added in one go, with c
  int fraction_bits = 25;  // terms are cut at 2^(e_max - F)
};

struct SplitBoundRule {
  BlockSum engine;
  int run = 32;              // k whose main products stay inside
  double growth = 1.002;     // of |A||B| by the rounding of part 0
  double parts = 8;          // what the parts and the products left out lose
  int corrections = 2;       // products for each k, in one chain,
  int log2_correction = 10;  // below 2^-this growth |A||B|
  bool carried = false;      // outside, next to nothing is lost
};

inline constexpr SplitBoundRule halfhalf_bound{{16, 25}, 32}, halfhalf_long_bound{{16, 25}, 64},
    tf32tf32_bound{{8, 25}, 16}, bf16x6_bound{{16, 25}, 32, 1.02, 1.03, 5, 7, true},
    bf16x6_short_bound{{16, 25}, 16, 1.02, 1.03, 5, 7, true};

// The c in |T - AB| <= c u32 |A||B|, before T is unscaled and rounded, for data that the split's statistics permit.
double split_error_bound(const SplitBoundRule& rule, std::int64_t k);

// halfhalf_long is for k from here on: its bound is smaller than with runs of 32 (from 1313 on), and on data of one
// sign its error less than twice as large.
inline constexpr std::int64_t shortest_for_long_runs = 2048;

// Is it at most k + 1 for all?
bool split_keeps_fp32(std::int64_t k);

}  // namespace vernier
