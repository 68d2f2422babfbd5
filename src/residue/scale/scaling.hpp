// Powers of two for the rows of A and the columns of B: the definition of the result. Everything here is a pure
// function of the data's statistics and the contract's rule; no machine, engine or blocking enters.
#pragma once

#include <cstdint>
#include <span>

#include "product/sides.hpp"
#include "product/statistics.hpp"

namespace vernier {

// What a contract asks of the scales (made by residue/plan/bounds).
struct ScalingRule {
  int unit_bits = 53;               // u = 2^-unit_bits in the componentwise bound g u |A||B|
  int most_twice_log2_g = 1 << 20;  // 2 log2 g is that of k, but no more than this
  int twice_norm_bits_16 = 0;       // 16 times 2 log2 of the largest 2-norm of a scaled ordinary vector
  int largest_exponent = 0;         // of a scaled element of an ordinary vector
  bool componentwise = true;        // false: the bound is against norms and no vector is wide
  int precision = 53;               // significand bits of the input type ...
  int last_bit = -1074;             // ... and its smallest exponent
};

// Which argument proves the componentwise bound for a vector at its ordinary scale (docs/accuracy.md, theorem 2).
// An entry (i, j) is ordinary if row i and column j share one; all other entries are wide.
enum ScaleProof : std::uint8_t { proof_none = 0, proof_flat = 1, proof_own_span = 2, proof_blocks = 4 };
inline constexpr unsigned proof_sets = 8;

struct VectorProof {
  int ordinary = 0;         // s: elements are multiplied by 2^s and rounded to integers
  int wide = 0;             // the same for wide entries
  std::uint8_t proofs = 0;  // set of ScaleProof
};

struct Scaling {
  bool any_ordinary = true, any_wide = false;  // entries
  std::int64_t wide_rows = 0, wide_columns = 0;
  // Of wide entries; those of ordinary ones follow from the rule (residue/plan/bounds).
  double wide_log2 = 0;   // |integer product| <= 2^wide_log2
  int wide_exponent = 0;  // largest exponent of a scaled element, over A and B
};

// The scale of ordinary entries: it depends on the vector alone.
int ordinary_scale(const ScalingRule& rule, std::int64_t k, const VectorStatistics& v);

// What block_spans.hpp found out about the vectors of one operand; empty if it was not asked.
using BlockCosts = std::span<const std::uint8_t>;

// Writes the scales of the rows of op(A) and of the columns of op(B); k > 0. threads share long lists.
Scaling choose_scales(const ScalingRule& rule, std::int64_t k, std::span<const VectorStatistics> a,
                      std::span<const VectorStatistics> b, std::span<VectorProof> a_proofs,
                      std::span<VectorProof> b_proofs, const Sides<BlockCosts>& costs = {}, int threads = 1);

constexpr bool entry_is_ordinary(const VectorProof& row, const VectorProof& column) {
  return (row.proofs & column.proofs) != 0;
}

// A factor for a whole operand, in sixteenths, that uses what powers of two leave of a budget: elements become
// RN(x sixteenths / 16) before their power of two (docs/accuracy.md, theorem 11).
inline constexpr int no_factor = 16, most_factor = 31;  // sixteenths
inline constexpr int factor_sample = 8;                 // vectors that the choice looks at

// What the statistics of a vector become. The exponent stays: the largest element is below 2^(exponent + 2) then.
constexpr VectorStatistics multiplied(VectorStatistics v, int sixteenths) {
  const auto m = static_cast<std::uint64_t>(sixteenths);
  v.squares = (v.squares * m * m + 255) / 256;
  v.sum = (v.sum * m + 15) / 16;
  if (v.flatness != not_flat && sixteenths >= 23) --v.flatness;  // 2 log2(23 / 16) > 1, and half bits count
  return v;
}

// The factor with which the vectors of the sample lose least. Others are expected to have norms 2 % larger at most, and
// lose a bit where they have not.
int choose_factor(const ScalingRule& rule, std::int64_t k, std::span<const VectorStatistics> sample);

// Are all exponents such that scaling, multiplying and dividing stay within the normal numbers?
bool far_from_the_ends(std::span<const VectorStatistics> statistics);

}  // namespace vernier
