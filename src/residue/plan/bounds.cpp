#include "residue/plan/bounds.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <type_traits>

#include "base/instantiate.hpp"
#include "number/ieee754.hpp"
#include "residue/plan/exact_choice.hpp"
#include "residue/residues.hpp"

namespace vernier {
namespace {

// Twice the log2 of the largest norm of a scaled vector, in sixteenths: as much as P / 2 of so many moduli holds.
constexpr int budget_7 = 875;              // 54.69 of 54.71
constexpr int budget_14 = 1746;            // 109.13 of 109.16
constexpr int budget_15 = 1868;            // 116.75 of 116.78
constexpr int budget_16_with_root = 1867;  // 116.69 of 116.69

// g = 32 sqrt(k)
int sqrt_rule_twice_log2_g(std::int64_t k) { return 10 + std::bit_width(static_cast<std::uint64_t>(k)) - 1; }

// log2(P (1 - 7 / sqrt(k))) of 14 moduli, in sixteenths, at the least k of each octave, since entries of random data
// stay below some 6 / sqrt(k) of their bound; and half of what is left of P, against that bound.
struct SpeculativeBudget {
  int twice_norm_bits_16;
  double largest_cosine;
};
constexpr SpeculativeBudget speculative_budget(std::int64_t k) {
  if (k < 1024) return {1754, 0.22};
  return k < 2048 ? SpeculativeBudget{1756, 0.16} : SpeculativeBudget{1758, 0.10};
}

}  // namespace

template <class T>
ScalingRule scaling_rule(const Contract& contract, std::int64_t k) {
  using F = Ieee754<T>;
  const int n = contract.bits_asked;
  ScalingRule rule;
  rule.unit_bits = n;
  rule.precision = F::precision;
  rule.last_bit = F::min_exponent - (F::precision - 1);
  rule.largest_exponent = largest_exponent(1 + n / limb_bits);
  switch (contract.kind) {
    case Contract::Kind::fp32:
      rule.twice_norm_bits_16 = budget_7;
      rule.largest_exponent = narrow_exponent;
      break;
    case Contract::Kind::fp64:
      rule.twice_norm_bits_16 = budget_15;
      break;
    case Contract::Kind::normwise:
      rule.twice_norm_bits_16 = 32 * n + (budget_14 - 32 * 53);
      rule.largest_exponent = largest_exponent(1 + (n + 2) / limb_bits);
      rule.componentwise = false;
      break;
    case Contract::Kind::bits:
      rule.twice_norm_bits_16 = 32 * n + (budget_15 - 32 * 53);  // as fp64, with n for 53
      break;
    case Contract::Kind::exact:
      return exact_rule<T>(ordinary_exact_moduli(F::precision, k), k);
  }
  return rule;
}

template <class T>
ScalingRule exact_rule(int moduli, std::int64_t k) {
  using F = Ieee754<T>;
  ScalingRule rule;
  rule.unit_bits = rule.precision = F::precision;
  rule.last_bit = F::min_exponent - (F::precision - 1);
  rule.twice_norm_bits_16 = exact_budget_16(moduli, k);
  rule.largest_exponent = largest_exponent(1 + rule.twice_norm_bits_16 / (32 * limb_bits));
  rule.componentwise = false;
  return rule;
}

template <class T>
std::optional<ScalingRule> sqrt_rule(const Contract& contract, std::int64_t k) {
  constexpr std::int64_t least_k = 1024;  // from here on 32 sqrt(k) <= k, and ordinary data are proved
  if (contract.kind != Contract::Kind::fp64 || contract.reproducible || k < least_k) return {};
  ScalingRule rule = scaling_rule<T>(contract, k);
  rule.twice_norm_bits_16 = budget_14;
  rule.most_twice_log2_g = sqrt_rule_twice_log2_g(k);
  return rule;
}

template <class T>
std::optional<BoundRule> bound_rule(const Contract& contract, std::int64_t k, std::int64_t chain) {
  constexpr std::int64_t longest_k = std::int64_t{1} << 20;  // sums in float keep three bits at least
  if (contract.reproducible || k > longest_k || contract.kind == Contract::Kind::exact ||
      contract.kind == Contract::Kind::normwise)
    return {};
  const ScalingRule rule = scaling_rule<T>(contract, k);
  return BoundRule{.unit_bits = rule.unit_bits,
                   .rms = contract.kind == Contract::Kind::bits ? 0 : bound_rms(k, chain),
                   .chain = chain,
                   .precision = rule.precision,
                   .last_bit = rule.last_bit,
                   .largest_exponent = largest_exponent(max_limbs)};
}

template <class T>
std::optional<SpeculativeProduct> speculative_product(const Contract& contract, std::int64_t k) {
  if (!std::is_same_v<T, double> || contract.kind != Contract::Kind::fp64 || contract.reproducible ||
      k < SpeculativeProduct::least_k || k > SpeculativeProduct::most_k)
    return {};
  const SpeculativeBudget budget = speculative_budget(k);
  SpeculativeProduct speculative{
      .rule = scaling_rule<T>(contract, k), .largest_cosine = budget.largest_cosine, .certain = 0};
  speculative.rule.twice_norm_bits_16 = budget.twice_norm_bits_16;
  speculative.rule.most_twice_log2_g = sqrt_rule_twice_log2_g(k);
  const double norm = std::exp2(budget.twice_norm_bits_16 / 32.0) + std::sqrt(static_cast<double>(k)) / 2;
  const double slack = 0x1p-20, product = std::exp2(log2_product_of_moduli(SpeculativeProduct::moduli));
  speculative.certain = product * (1 - slack) - norm * norm * (1 + slack);
  return speculative;
}

template <class T>
double log2_promised_bound(const Contract& contract, std::int64_t k) {
  if (contract.kind == Contract::Kind::exact)
    return (contract.rounding == Rounding::nearest ? 0 : 1) - Ieee754<T>::precision;
  constexpr int precision = Ieee754<T>::precision;
  if (contract.bits_asked == precision) return std::log2(static_cast<double>(k + 1)) - precision;
  return std::log2(static_cast<double>(k) * std::ldexp(1.0, -contract.bits_asked) + std::ldexp(1.0, -precision));
}

template <class T>
void describe_product(const ProductShape& shape, const Contract& contract, Plan& p) {
  p.type = std::string(std::is_same_v<T, float> ? "float" : "double");  // moved in: fewer instructions than copied
  p.m = shape.m;
  p.n = shape.n;
  p.k = shape.k;
  p.contract = contract;
  p.log2_bound = log2_promised_bound<T>(contract, std::max<std::int64_t>(shape.k, 1));
}

int moduli_of(const ScalingRule& rule, std::int64_t k, ModuliList list) {
  const double root_k = std::sqrt(static_cast<double>(std::max<std::int64_t>(k, 1)));
  // The 2-norm of a scaled vector: the budget, or k elements of the largest exponent; and its rounding to integers.
  const double norm =
      std::min(std::exp2(rule.twice_norm_bits_16 / 32.0), root_k * std::exp2(rule.largest_exponent + 1)) + root_k / 2;
  return moduli_for(2 * std::log2(norm) + 1e-8, list);
}

ScalingRule with_norms_of(ScalingRule rule, int moduli, std::int64_t k) {
  rule.twice_norm_bits_16 = static_cast<int>(16 * log2_bound_of(moduli));
  while (moduli_of(rule, k) > moduli) --rule.twice_norm_bits_16;
  const int norm = rule.twice_norm_bits_16 / 32;  // no element is larger; one more bit is not worth another limb
  while (rule.largest_exponent + 1 < norm) rule.largest_exponent += limb_bits;
  return rule;
}

template <class T>
ScalingRule complex_scaling_rule(const Contract& contract, std::int64_t k) {
  if (const std::optional<ScalingRule> speculative = sqrt_rule<T>(contract, k)) return *speculative;
  ScalingRule rule = scaling_rule<T>(contract, k);
  if (contract.kind == Contract::Kind::fp64 && !contract.reproducible) rule.twice_norm_bits_16 = budget_16_with_root;
  return rule;
}

template <class T>
int ordinary_moduli(const Contract& contract, std::int64_t k) {
  return moduli_of(scaling_rule<T>(contract, k), k);
}

VERNIER_REAL_INSTANCES(scaling_rule, exact_rule, sqrt_rule, bound_rule, speculative_product, describe_product,
                       log2_promised_bound, ordinary_moduli, complex_scaling_rule)

}  // namespace vernier
