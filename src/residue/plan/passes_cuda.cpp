// Plans of what follows where the data are known: passes of irregular and of correctly rounded products; and complex
// ones.
#include <algorithm>
#include <cmath>

#include "base/instantiate.hpp"
#include "residue/bound/bound_buffers.hpp"
#include "residue/convert/digits.hpp"
#include "residue/convert/winograd.hpp"
#include "residue/plan/bounds.hpp"
#include "residue/plan/plan_cuda.hpp"
#include "residue/recombine/crt.hpp"
#include "residue/residues.hpp"

namespace vernier {

DevicePass ordinary_device_pass(const DeviceProductPlan& plan) {
  return {.blocking = plan.ordinary, .words = ordinary_words(plan.rule)};
}

bool strassen_serves(const DeviceProductPlan& plan, int moduli, int words) {
  return plan.ordinary.form.strassen && moduli <= most_winograd_moduli && words <= (plan.single_precision ? 2 : 3);
}

ScalingRule guess_rule(const DeviceProductPlan& plan, int moduli) {
  ScalingRule rule = plan.contract_rule;
  // By unequal shares one side's rounding to integers is larger beside its norm.
  const double rounding = std::exp2(cuda::largest_share_32 / 32.0) * std::sqrt(static_cast<double>(plan.shape.k)) / 2;
  const double norm = std::exp2(log2_bound_of(moduli) / 2) - rounding;
  rule.twice_norm_bits_16 = static_cast<int>(std::floor(32 * std::log2(norm) - 1e-6));
  // 16 moduli hold little more than two words do.
  constexpr int most_of_two_words = 16;
  if (moduli > most_of_two_words)
    rule.largest_exponent = std::max(rule.largest_exponent, exponent_of_same_words(largest_exponent(1) + 1));
  return rule;
}

DevicePass guessed_device_pass(const DeviceProductPlan& plan, int moduli) {
  ScalingRule rule = guess_rule(plan, moduli);
  rule.twice_norm_bits_16 += cuda::largest_share_32;
  DevicePass pass{.words = ordinary_words(rule)};
  const auto blocking = [&](bool strassen) {
    return choose_device_blocking(plan.shape, moduli, plan.limits, plan.pass_bytes, {.strassen = strassen});
  };
  const bool strassen = guess_awaits_judge(plan.shape) && strassen_serves(plan, moduli, pass.words);
  pass.blocking = blocking(strassen);
  if (strassen && !guess_fits(plan, pass)) pass.blocking = blocking(false);
  return pass;
}

bool guess_fits(const DeviceProductPlan& plan, const DevicePass& pass) {
  return pass.blocking.whole(plan.shape) && pass.blocking.bytes + plan.bound_bytes <= plan.pass_bytes;
}

int guess_k_step(const DeviceProductPlan& plan, int moduli) {
  return cuda::bound_k_step(plan.shape.k, cuda::judged_finely(plan.least_guess, moduli));
}

// Of all operations, with those on the diagonal.
static double share_of(const DeviceProductPlan& plan, double share) { return plan.symmetric ? 0.55 * share : share; }

double guess_seconds(const DeviceProductPlan& plan, const DevicePass& pass) {
  const int moduli = pass.blocking.moduli;
  const double residues =
      device_residue_seconds(plan.shape, moduli, pass.blocking.form.strassen, plan.gpu, share_of(plan, 1));
  return device_guess_seconds(plan.shape, residues, guess_k_step(plan, moduli), plan.gpu);
}

int guess_worth_making(const DeviceProductPlan& plan, int next, int bound, double share) {
  if (!plan.may_guess(next)) return 0;
  const int moduli = cuda::guess_of(plan.least_guess, next).moduli;
  const double rival = bound == 0
                           ? device_native_seconds(plan.shape, plan.single_precision, plan.gpu)
                           : device_bound_seconds(plan.shape, plan.gpu, share) + bound_pass_seconds(plan, bound, share);
  const bool allowed = bound != 0 || plan.native == NativeUse::for_speed;
  return !allowed || guess_seconds(plan, guessed_device_pass(plan, moduli)) < rival ? next : 0;
}

DevicePass own_exact_pass(const DeviceProductPlan& plan, const ExactChoice& choice) {
  // No vector's largest element has an exponent above log2 of its norm.
  const int exponent =
      std::min(std::max(choice.row_budget_16, choice.column_budget_16) / 32 + 1, largest_exponent(max_limbs));
  return {.blocking = choose_device_blocking(plan.shape, choice.moduli, plan.limits, plan.pass_bytes, {.exact = true}),
          .words = words_for_exponent(exponent),
          .ordinary = false};
}

bool knows_filled(const DeviceProductPlan& plan, const DevicePass& pass, double share) {
  return is_hollow(share) && plan.gpu.clusters && pass.every_entry && pass.words <= 3 &&
         pass.blocking.moduli < cuda::least_moduli_of_many_words && !pass.blocking.form.strassen &&
         pass.blocking.whole(plan.shape);
}

DevicePass bound_device_pass(const DeviceProductPlan& plan, int moduli, int exponent, double share) {
  const int words = words_for_exponent(exponent);
  const auto pass_of = [&](bool strassen) {
    return DevicePass{
        .blocking = choose_device_blocking(plan.shape, moduli, plan.limits, plan.pass_bytes, {.strassen = strassen}),
        .words = strassen ? std::max(words, 2) : words,
        .ordinary = false};
  };
  const DevicePass plain = pass_of(false);
  if (!strassen_serves(plan, moduli, words) || knows_filled(plan, plain, share)) return plain;
  const DevicePass halved = pass_of(true);
  return halved.blocking.bytes > plan.pass_bytes ? plain : halved;
}

double bound_pass_seconds(const DeviceProductPlan& plan, int moduli, double share) {
  const double plain =
      device_residue_seconds(plan.shape, moduli, false, plan.gpu, share_of(plan, is_hollow(share) ? share : 1));
  const bool strassen = !is_hollow(share) && plan.ordinary.form.strassen && moduli <= most_winograd_moduli;
  return strassen ? std::min(plain, device_residue_seconds(plan.shape, moduli, true, plan.gpu)) : plain;
}

int most_hollow_moduli(const DeviceProductPlan& plan) {
  constexpr int most = 19;  // the workspace has room for them, and three words for their elements
  return std::max(plan.most_bound_moduli, most);
}

bool bound_pass_wins(const DeviceProductPlan& plan, const DevicePass& pass, double share) {
  const int moduli = pass.blocking.moduli;
  if (moduli <= plan.most_bound_moduli) return true;
  return of_bound_estimate * (device_bound_seconds(plan.shape, plan.gpu, share) +
                              bound_pass_seconds(plan, moduli, knows_filled(plan, pass, share) ? share : 1)) <
         device_native_seconds(plan.shape, plan.single_precision, plan.gpu);
}

bool irregular_products_lose(const DeviceProductPlan& plan) {
  return plan.native == NativeUse::for_speed && irregular_device_seconds(plan.shape, {plan.ordinary.moduli}, plan.gpu) >
                                                    device_native_seconds(plan.shape, plan.single_precision, plan.gpu);
}

DevicePassList plan_device_passes(const DeviceProductPlan& plan, const Scaling& scaling) {
  const auto wide = [&](int moduli) {
    return DevicePass{.blocking = choose_device_blocking(plan.shape, moduli, plan.limits, plan.pass_bytes),
                      .words = words_for_exponent(scaling.wide_exponent),
                      .ordinary = false};
  };
  const auto slower = [&](const DevicePassList& list) {
    return irregular_device_seconds(plan.shape, {list.pass[0].blocking.moduli, list.pass[1].blocking.moduli},
                                    plan.gpu) > device_native_seconds(plan.shape, plan.single_precision, plan.gpu);
  };
  return list_passes<DevicePass>(
      plan, scaling, [&] { return ordinary_device_pass(plan); }, wide, slower);
}

template <class R>
std::optional<DeviceComplexPlan> plan_device_complex(const ProductShape& shape, Op opa, Op opb, bool keep_t,
                                                     const Contract& contract, const DeviceLimits& limits) {
  DeviceComplexPlan plan{.shape = shape, .turn = {opa == Op::none, opb != Op::none}, .keep_t = keep_t};
  plan.rule = complex_scaling_rule<R>(contract, 2 * shape.k);
  plan.words = words_for_exponent(plan.rule.largest_exponent);
  plan.moduli = moduli_of(plan.rule, 2 * shape.k, ModuliList::with_root);
  const bool fits = plan.moduli > 0 && three_limbs_hold(plan.moduli, ModuliList::with_root) &&
                    device_pitch(shape.k) <= limits.longest_k && 2 * shape.k <= longest_device_k &&
                    product_units(shape.m, shape.n).across <= 65535;  // blocks of a launch
  if (shape.empty() || !fits || limits.int32_sums) return std::nullopt;
  Arena count;
  carve_device_complex<R>(count, plan);
  plan.bytes = count.used();
  plan.seconds = device_complex_seconds(shape, plan.moduli, limits.gpu);
  return plan;
}

VERNIER_REAL_INSTANCES(plan_device_complex)

}  // namespace vernier
