// Two operands with the scales that a rule gives them, and their integer product.
#pragma once

#include "residue/residues.hpp"
#include "residue/scale/scaling.hpp"
#include "samples.hpp"
#include "scaled_integer.hpp"
#include "spans.hpp"
#include "support/generators.hpp"

namespace vernier::test {

// Rules of the kinds that contracts make.
template <class T>
std::vector<ScalingRule> rules() {
  using F = Ieee754<T>;
  std::vector<ScalingRule> list = {
      {.unit_bits = 24, .twice_norm_bits_16 = 875, .largest_exponent = narrow_exponent},
      {.unit_bits = 53, .twice_norm_bits_16 = 1868, .largest_exponent = largest_exponent(1)},
      {.unit_bits = 53, .twice_norm_bits_16 = 1746, .largest_exponent = largest_exponent(1), .componentwise = false},
      {.unit_bits = 53, .most_twice_log2_g = 5, .twice_norm_bits_16 = 1746, .largest_exponent = largest_exponent(1)},
      {.unit_bits = 70, .twice_norm_bits_16 = 32 * 70 + 172, .largest_exponent = largest_exponent(2)},
  };
  for (ScalingRule& rule : list) {
    rule.precision = F::precision;
    rule.last_bit = F::min_exponent - (F::precision - 1);
  }
  return list;
}

// The square of the g in the bound g u |A||B|.
inline mpz_class square_of_g(const ScalingRule& rule, std::int64_t k) {
  const mpz_class square = mpz_class(k) * mpz_class(k);
  if (rule.most_twice_log2_g >= 128) return square;
  return std::min(square, mpz_class(mpz_class(1) << static_cast<unsigned long>(rule.most_twice_log2_g)));
}

template <class T>
struct Scaled {
  const Matrix<T>&a, &b;
  std::int64_t k;
  std::vector<VectorStatistics> a_statistics, b_statistics;
  std::vector<VectorProof> a_proofs, b_proofs;
  Scaling scaling;
  Spans spans;

  Scaled(const ScalingRule& rule, const Matrix<T>& x, const Matrix<T>& y, bool with_spans)
      : a(x),
        b(y),
        k(x.columns()),
        a_proofs(static_cast<std::size_t>(x.rows())),
        b_proofs(static_cast<std::size_t>(y.columns())) {
    for (std::int64_t i = 0; i < a.rows(); ++i) a_statistics.push_back(vector_statistics(&a(i, 0), a.ld(), k));
    for (std::int64_t j = 0; j < b.columns(); ++j) b_statistics.push_back(vector_statistics(&b(0, j), 1, k));
    if (!with_spans) {
      scaling = choose_scales(rule, k, a_statistics, b_statistics, a_proofs, b_proofs);
      return;
    }
    spans = block_spans<T>(best_backend<T>(), {a.data(), a.rows(), k, a.ld(), false},
                           {b.data(), b.columns(), k, b.ld(), true}, a_statistics, b_statistics);
    scaling = choose_scales(
        rule, k, a_statistics, b_statistics, a_proofs, b_proofs,
        {BlockCosts(spans.a_costs).first(a_proofs.size()), BlockCosts(spans.b_costs).first(b_proofs.size())});
  }

  const VectorProof& row(std::int64_t i) const { return a_proofs[static_cast<std::size_t>(i)]; }
  const VectorProof& column(std::int64_t j) const { return b_proofs[static_cast<std::size_t>(j)]; }
  bool ordinary(std::int64_t i, std::int64_t j) const { return entry_is_ordinary(row(i), column(j)); }
  bool beyond_scheme() const {
    return scaling.any_wide &&
           (moduli_for(scaling.wide_log2) == 0 || scaling.wide_exponent > largest_exponent(max_limbs));
  }
  int sum_of_scales(std::int64_t i, std::int64_t j) const {
    return ordinary(i, j) ? row(i).ordinary + column(j).ordinary : row(i).wide + column(j).wide;
  }

  // sum of x y and of |x| |y| over the rounded integers of row i and column j
  struct Sums {
    mpz_class product, magnitude;
  };
  Sums integer_product(std::int64_t i, std::int64_t j) const {
    const bool o = ordinary(i, j);
    Sums sums;
    for (std::int64_t l = 0; l < k; ++l) {
      const mpz_class term = scaled_integer(static_cast<double>(a(i, l)), o ? row(i).ordinary : row(i).wide) *
                             scaled_integer(static_cast<double>(b(l, j)), o ? column(j).ordinary : column(j).wide);
      sums.product += term;
      sums.magnitude += abs(term);
    }
    return sums;
  }
};

// Calls look(rule, scaled, name) for operands of every family that choose_scales may meet.
template <class T, class Look>
void for_all_operands(Look look) {
  std::uint64_t seed = 1;
  for (const std::string& family : operand_families())
    for (const std::int64_t k : {1, 3, 20, 130}) {
      const Operands<T> o = make_operands<T>(family, 5, 6, k, ++seed);
      for (const ScalingRule& rule : rules<T>()) {
        for (const bool with_spans : {false, true})
          look(rule, Scaled<T>(rule, o.a, o.b, with_spans), joined(family, ", k = ", k, ", 2^-", rule.unit_bits));
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  Random random(1);
  for (int repetition = 0; repetition < 20; ++repetition) {
    const std::int64_t k = random.integer(1, 50);
    const Matrix<T> a = transposed(vectors_of_all_kinds<T>(k, 7, random)), b = vectors_of_all_kinds<T>(k, 8, random);
    for (const ScalingRule& rule : rules<T>()) {
      for (const bool with_spans : {false, true})
        look(rule, Scaled<T>(rule, a, b, with_spans), joined("all kinds, k = ", k, ", 2^-", rule.unit_bits));
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

}  // namespace vernier::test
