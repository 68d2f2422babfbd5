// Blocks that fit a workspace, and what lies in it.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/instantiate.hpp"
#include "engine/entry_filter.hpp"
#include "engine/filled_pieces.hpp"
#include "engine/summed_planes.hpp"
#include "product/plan/halving.hpp"
#include "residue/bound/bound_buffers.hpp"
#include "residue/convert/digits.hpp"
#include "residue/convert/winograd.hpp"
#include "residue/plan/bounds.hpp"
#include "residue/plan/plan_cuda.hpp"
#include "residue/recombine/crt.hpp"
#include "residue/residues.hpp"

namespace vernier {
namespace {

constexpr std::int64_t least_block = 256, least_device_k_block = 4096;

// Entries of a block are named in 32 bits.
constexpr std::int64_t most_listed_entries = std::int64_t{1} << 32;

void set_bytes(DeviceBlocking& b, const DeviceLimits& limits) {
  Arena count;
  carve_device_pass(count, b, limits);
  b.bytes = count.used();
}

}  // namespace

DevicePassBuffers carve_device_pass(Arena& arena, const DeviceBlocking& b, const DeviceLimits& limits,
                                    const Sides<bool>& ready) {
  const auto planes = static_cast<std::size_t>(b.moduli * (b.form.strassen ? winograd_products : b.form.products));
  const auto pitch = static_cast<std::size_t>(plane_pitch(b.k_block, b.form.strassen));
  const std::int64_t m = plane_vectors(b.m_block, b.form.strassen), n = plane_vectors(b.n_block, b.form.strassen);
  DevicePassBuffers buffers;
  if (!ready.a) buffers.a = arena.take<std::uint8_t>(planes * static_cast<std::size_t>(m) * pitch);
  if (!ready.b) buffers.b = arena.take<std::uint8_t>(planes * static_cast<std::size_t>(n) * pitch);
  buffers.c_bytes = planes * static_cast<std::size_t>(product_units(m, n).plane_bytes());
  buffers.c = arena.take<std::int8_t>(buffers.c_bytes);
  if (limits.int32_sums)
    buffers.sums =
        arena.take<std::int32_t>(static_cast<std::size_t>(sums_count(m, n, static_cast<std::int64_t>(planes))));
  if (b.form.products == 1) buffers.steps = arena.take<std::uint32_t>(1);
  if (b.form.exact) buffers.open = arena.take<std::uint32_t>(static_cast<std::size_t>(b.m_block * b.n_block));
  return buffers;
}

DeviceVectorBuffers carve_device_vectors(Arena& arena, const ProductShape& shape, VectorUse use) {
  const Sides<std::size_t> count{static_cast<std::size_t>(shape.m), static_cast<std::size_t>(shape.n)};
  DeviceVectorBuffers v;
  const auto carve = [&](auto body) {
    for (const Side side : both_sides) body(v[side], count[side]);
  };
  carve([&](DeviceVectors& x, std::size_t n) { x.statistics = arena.take<VectorStatistics>(n); });
  carve([&](DeviceVectors& x, std::size_t n) { x.scales = arena.take<int>(n); });
  if (use == VectorUse::exact) {
    const std::size_t before = arena.used();
    carve([&](DeviceVectors& x, std::size_t n) { x.lowest_bits.counts = arena.take<cuda::DeviceLowestBits>(n); });
    v.sample = arena.take<cuda::DeviceSample>(1);
    v.open_counts = arena.take<cuda::DeviceOpenCounts>(1);
    v.cleared = reinterpret_cast<std::byte*>(v.a.lowest_bits.counts);
    v.cleared_bytes = arena.used() - before;
    carve([&](DeviceVectors& x, std::size_t n) {
      x.lowest_bits.places = arena.take<std::uint32_t>(n * cuda::kept_places);
      x.errors = arena.take<RoundError>(n);
    });
  } else if (use == VectorUse::any_data) {
    carve([&](DeviceVectors& x, std::size_t n) {
      x.proofs = arena.take<VectorProof>(n);
      x.wide_scales = arena.take<int>(n);
      x.group_proofs = arena.take<unsigned>((n + EntryFilter::group - 1) / EntryFilter::group);
      x.filled = arena.take<std::uint32_t>(filled_words(static_cast<std::int64_t>(n), shape.k));
    });
    v.route = arena.take<cuda::DeviceRoute>(1);
    v.guess = arena.take<cuda::GuessFindings>(1);
    v.regularity = arena.take<cuda::RegularityState>(1);
    v.balance = arena.take<std::int8_t>(static_cast<std::size_t>(shape.k));
  }
  return v;
}

DeviceBlocking choose_device_blocking(const ProductShape& shape, int moduli, const DeviceLimits& limits,
                                      std::size_t limit, PassForm form) {
  DeviceBlocking b;
  b.moduli = moduli;
  b.form = form;
  b.m_block = shape.m;
  b.n_block = shape.n;
  b.k_block = std::min(shape.k, round_up(divide_up(shape.k, divide_up(shape.k, limits.longest_k)), device_pitch_unit));
  halve_until_it_fits(b, limit, {.vectors = least_block, .k = least_device_k_block, .k_unit = device_pitch_unit},
                      [&](DeviceBlocking& x) {
                        set_bytes(x, limits);
                        if (form.exact && x.m_block * x.n_block > most_listed_entries)
                          x.bytes = std::numeric_limits<std::size_t>::max();
                      });
  return b;
}

template <class R>
DeviceComplexBuffers<R> carve_device_complex(Arena& arena, const DeviceComplexPlan& plan) {
  const auto size = [](auto... factors) { return (std::size_t{1} * ... * static_cast<std::size_t>(factors)); };
  const ProductShape& s = plan.shape;
  const std::int64_t both = device_pitch(2 * s.k), one = device_pitch(s.k);
  const std::int64_t units = product_units(s.m, s.n).plane_bytes(), doubled = product_units(2 * s.m, s.n).plane_bytes();
  DeviceComplexBuffers<R> b;
  b.vectors = carve_device_vectors(arena, s);
  b.row_scales = arena.take<int>(size(2 * s.m));
  const Sides<std::int64_t> vectors{s.m, s.n};
  for (const Side side : both_sides)
    if (plan.turn[side]) b.turned[side] = arena.take<R>(size(2, vectors[side], s.k));
  if (plan.keep_t) b.t = arena.take<R>(size(2, s.m, s.n));
  Arena beside = arena;
  b.real_rows = beside.take<R>(size(4, s.m, s.k));
  for (const Side side : both_sides) {
    b.parts[side] = arena.take<std::uint8_t>(size(plan.moduli, vectors[side], both));
    for (std::uint8_t** plane : {&b.plus[side], &b.minus[side]})
      *plane = arena.take<std::uint8_t>(size(plan.moduli, vectors[side], one));
  }
  for (std::int8_t** plane : {&b.c_plus, &b.c_minus}) *plane = arena.take<std::int8_t>(size(plan.moduli, units));
  b.c_bytes = size(plan.moduli, doubled);
  b.c = arena.take<std::int8_t>(b.c_bytes);
  b.steps = arena.take<std::uint32_t>(1);
  if (beside.used() > arena.used()) arena = beside;
  return b;
}

template DeviceComplexBuffers<double> carve_device_complex(Arena&, const DeviceComplexPlan&);
template DeviceComplexBuffers<float> carve_device_complex(Arena&, const DeviceComplexPlan&);

// Plans of what follows where the data are known: passes of irregular and of correctly rounded products; and complex
// ones.

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

double guess_seconds(const DeviceProductPlan& plan, const DevicePass& pass) {
  const int moduli = pass.blocking.moduli;
  const double residues = device_residue_seconds(plan.shape, moduli, pass.blocking.form.strassen, plan.gpu);
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
  const double plain = device_residue_seconds(plan.shape, moduli, false, plan.gpu, is_hollow(share) ? share : 1);
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

#define VERNIER_INSTANTIATE(T) template struct Instances<plan_device_complex<T>>;
VERNIER_EACH_REAL(VERNIER_INSTANTIATE)

}  // namespace vernier
