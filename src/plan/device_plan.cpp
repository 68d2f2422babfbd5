#include "plan/device_plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>

#include "base/status.hpp"
#include "number/ieee754.hpp"
#include "plan/bounds.hpp"
#include "plan/halving.hpp"
#include "plan/split_cost.hpp"
#include "scheme/device_crt.hpp"
#include "scheme/device_digits.hpp"
#include "scheme/residues.hpp"
#include "scheme/winograd.hpp"

namespace vernier {
namespace {

constexpr std::int64_t least_block = 256, least_k_block = 4096;

// Rates of one H200 (bench/results/gemm_h200.json).
constexpr double int8_rate = 1.5e15;           // operations a second, reduction included, k long
constexpr double half_k = 110;                 // k at which half of that is reached
constexpr double conversion_rate = 2.5e12;     // bytes a second, operands read and residues written
constexpr double recombination_rate = 3.4e12;  // residues and C read, C written
constexpr double pairing_rate = 3.2e12;        // bytes read and written, of complex products
constexpr double residue_launches = 13e-6;     // what the chain of kernels takes at least
constexpr double strassen_launches = 20e-6;    // how much longer it is, and the wait for the host in it
// Irregular products: block spans, the choice of scales, and the longer Chinese remainder.
constexpr double irregular_factor = 1.6, irregular_seconds = 0.5e-3;
constexpr double look_latency = 15e-6;  // of the host's answer to a look at the data
constexpr double native_double = 60e12, native_launch = 8e-6;

// Entries of a block are named in 32 bits.
constexpr std::int64_t most_listed_entries = std::int64_t{1} << 32;

std::size_t vector_bytes(const ProductShape& shape, bool exact) {
  Arena count;
  carve_device_vectors(count, shape, exact);
  return count.used();
}

void set_bytes(DeviceBlocking& b, const DeviceLimits& limits) {
  Arena count;
  carve_device_pass(count, b, limits);
  b.bytes = count.used();
}

bool empty(const ProductShape& s) { return s.m == 0 || s.n == 0 || s.k == 0; }

// Under contract exact the shape decides how many open entries a modulus is worth.
template <class T>
ScalingRule device_rule(const Contract& contract, const ProductShape& shape) {
  if (contract.kind != Contract::Kind::exact) return scaling_rule<T>(contract, shape.k);
  return exact_rule<T>(ordinary_device_exact_moduli(Ieee754<T>::precision, shape), shape.k);
}

}  // namespace

// Of the scaled elements of ordinary vectors: none has an exponent above log2 of its vector's norm.
int ordinary_words(const ScalingRule& rule) {
  return words_for_exponent(std::min(rule.largest_exponent, rule.twice_norm_bits_16 / 32));
}

bool native_is_allowed(const DeviceProductPlan& plan) {
  return !plan.forced && plan.native_keeps_contract && plan.printable.contract.fallback == Fallback::native;
}

namespace {

template <class T>
bool native_keeps(const Contract& contract) {
  return contract.kind != Contract::Kind::exact && contract.bits_asked <= Ieee754<T>::precision;
}

template <class T>
bool forces_residues(const DeviceRequest& request) {
  return request.contract.reproducible || !native_keeps<T>(request.contract) || !request.engine.empty();
}

}  // namespace

DevicePassBuffers carve_device_pass(Arena& arena, const DeviceBlocking& b, const DeviceLimits& limits) {
  const auto planes = static_cast<std::size_t>(b.moduli * (b.form.strassen ? winograd_products : 1));
  const auto pitch = static_cast<std::size_t>(plane_pitch(b.k_block, b.form.strassen));
  const std::int64_t m = plane_vectors(b.m_block, b.form.strassen), n = plane_vectors(b.n_block, b.form.strassen);
  DevicePassBuffers buffers;
  buffers.a = arena.take<std::uint8_t>(planes * static_cast<std::size_t>(m) * pitch);
  buffers.b = arena.take<std::uint8_t>(planes * static_cast<std::size_t>(n) * pitch);
  buffers.c = arena.take<std::int8_t>(planes * static_cast<std::size_t>(product_units(m, n).plane_bytes()));
  if (limits.int32_sums) buffers.sums = arena.take<std::int32_t>(static_cast<std::size_t>(round_up(m, 4) * n));
  if (b.form.exact) buffers.open = arena.take<std::uint32_t>(static_cast<std::size_t>(b.m_block * b.n_block));
  return buffers;
}

DeviceVectorBuffers carve_device_vectors(Arena& arena, const ProductShape& shape, bool exact) {
  const auto m = static_cast<std::size_t>(shape.m), n = static_cast<std::size_t>(shape.n);
  DeviceVectorBuffers v;
  v.a_statistics = arena.take<VectorStatistics>(m);
  v.b_statistics = arena.take<VectorStatistics>(n);
  v.a_scales = arena.take<int>(m);
  v.b_scales = arena.take<int>(n);
  if (exact) {
    const std::size_t before = arena.used();
    v.a_grains.counts = arena.take<cuda::DeviceGrain>(m);
    v.b_grains.counts = arena.take<cuda::DeviceGrain>(n);
    v.sample = arena.take<cuda::DeviceSample>(1);
    v.open_counts = arena.take<cuda::DeviceOpenCounts>(1);
    v.cleared = reinterpret_cast<std::byte*>(v.a_grains.counts);
    v.cleared_bytes = arena.used() - before;
    v.a_grains.places = arena.take<std::uint32_t>(m * cuda::kept_places);
    v.b_grains.places = arena.take<std::uint32_t>(n * cuda::kept_places);
    v.a_errors = arena.take<RoundError>(m);
    v.b_errors = arena.take<RoundError>(n);
    return v;
  }
  v.a_kinds = arena.take<VectorScales>(m);
  v.b_kinds = arena.take<VectorScales>(n);
  v.a_wide_scales = arena.take<int>(m);
  v.b_wide_scales = arena.take<int>(n);
  v.route = arena.take<cuda::DeviceRoute>(1);
  v.regularity = arena.take<cuda::RegularityState>(1);
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
  halve_until_it_fits(b, limit, {.vectors = least_block, .k = least_k_block, .k_unit = device_pitch_unit},
                      [&](DeviceBlocking& x) {
                        set_bytes(x, limits);
                        if (form.exact && x.m_block * x.n_block > most_listed_entries)
                          x.bytes = std::numeric_limits<std::size_t>::max();
                      });
  return b;
}

double device_residue_seconds(const ProductShape& s, int moduli, bool strassen) {
  const double m = static_cast<double>(s.m), n = static_cast<double>(s.n), k = static_cast<double>(s.k);
  const double planes = strassen ? moduli * 7.0 / 4 : moduli;  // written for each element
  const double depth = strassen ? 7.0 / 8 * (k + 2 * half_k) : k + half_k;
  const double products = 2 * moduli * m * n * depth / int8_rate;
  const double conversions = (m + n) * k * (strassen ? 16 + planes : 8 + planes) / conversion_rate;
  const double recombination = m * n * (moduli + 16) / recombination_rate;
  const double sums = strassen ? m * n * (planes - moduli) / recombination_rate + strassen_launches : 0;
  return products + conversions + recombination + sums + residue_launches;
}

namespace {

double at_native_rate(const ProductShape& s) {
  const double operations = 2 * static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k);
  return operations / native_double + native_launch;
}

// What it cost to look at data that the lean rule did not serve.
double look_seconds(const ProductShape& s) {
  return 8 * static_cast<double>(s.m + s.n) * static_cast<double>(s.k) / conversion_rate + look_latency;
}

}  // namespace

double device_native_seconds(const ProductShape& s, bool single_precision) {
  return single_precision ? device_sgemm_seconds(s.m, s.n, s.k) : at_native_rate(s);
}

template <class T>
bool full_rule_loses(const ProductShape& shape, const Contract& contract) {
  if (!lean_rule<T>(contract, shape.k)) return false;
  const int moduli = moduli_of(scaling_rule<T>(contract, shape.k), shape.k);
  return device_residue_seconds(shape, moduli) + look_seconds(shape) >=
         device_native_seconds(shape, std::is_same_v<T, float>);
}
template bool full_rule_loses<double>(const ProductShape&, const Contract&);
template bool full_rule_loses<float>(const ProductShape&, const Contract&);

bool strassen_possible(int moduli, const ScalingRule& rule, bool exact, int strassen_levels) {
  return strassen_levels != 0 && !exact && moduli <= most_winograd_moduli && ordinary_words(rule) == 2;
}

// One level of Strassen-Winograd or none, within the limit: what was asked for where it can be had, else the faster.
// Elements of ordinary products under `rule` take that many words.
DeviceBlocking choose_ordinary_blocking(const ProductShape& shape, int moduli, const ScalingRule& rule,
                                        const DeviceLimits& limits, std::size_t limit, bool exact,
                                        int strassen_levels) {
  const DeviceBlocking plain = choose_device_blocking(shape, moduli, limits, limit, {.exact = exact});
  if (!strassen_possible(moduli, rule, exact, strassen_levels)) return plain;
  const DeviceBlocking halved = choose_device_blocking(shape, moduli, limits, limit, {.strassen = true});
  if (halved.bytes > limit) return plain;
  if (strassen_levels > 0) return halved;
  const auto seconds = [&](const DeviceBlocking& b) {
    const std::int64_t blocks =
        divide_up(shape.m, b.m_block) * divide_up(shape.n, b.n_block) * divide_up(shape.k, b.k_block);
    return static_cast<double>(blocks) *
           device_residue_seconds({b.m_block, b.n_block, b.k_block}, moduli, b.form.strassen);
  };
  return seconds(halved) < seconds(plain) ? halved : plain;
}

template <class T>
std::size_t device_workspace_bytes(const ProductShape& shape, const Contract& contract, const DeviceLimits& limits,
                                   std::size_t limit, bool least, int strassen_levels) {
  if (empty(shape)) return 0;
  const bool exact = contract.kind == Contract::Kind::exact;
  const std::size_t vectors = vector_bytes(shape, exact);
  const std::size_t smallest = vectors + choose_device_blocking(shape, max_moduli, limits, 0, {.exact = exact}).bytes;
  if (least) return smallest;
  const std::size_t room = limit > vectors ? limit - vectors : 0;
  const ScalingRule rule = device_rule<T>(contract, shape);
  const DeviceBlocking b =
      choose_ordinary_blocking(shape, moduli_of(rule, shape.k), rule, limits, room, exact, strassen_levels);
  return std::max(smallest, vectors + b.bytes);
}

namespace {

// The scales that ordinary products get.
template <class T>
ScalingRule ordinary_rule(const ProductShape& shape, const DeviceRequest& request) {
  const std::optional<ScalingRule> lean = request.may_be_lean ? lean_rule<T>(request.contract, shape.k) : std::nullopt;
  return lean.value_or(device_rule<T>(request.contract, shape));
}

struct Estimates {
  double native = 0, residues = 0;  // seconds
  bool residues_win = false;
};

template <class T>
Estimates estimates(const ProductShape& shape, const DeviceRequest& request) {
  Estimates e;
  e.native = device_native_seconds(shape, std::is_same_v<T, float>);
  const ScalingRule rule = ordinary_rule<T>(shape, request);
  const int moduli = moduli_of(rule, shape.k);
  e.residues = device_residue_seconds(shape, moduli);
  if (strassen_possible(moduli, rule, request.contract.kind == Contract::Kind::exact, request.strassen_levels))
    e.residues = std::min(e.residues, device_residue_seconds(shape, moduli, true));
  // Few long vectors are converted more slowly than estimated: 98 us for 66, 1024 x 384 x 4096 in single precision,
  // which cuBLAS has in 82.
  constexpr double single_margin = 1.5;
  const bool refused = !request.may_be_lean && full_rule_loses<T>(shape, request.contract);
  e.residues_win = e.residues * (std::is_same_v<T, float> ? single_margin : 1) < e.native && !refused;
  return e;
}

}  // namespace

template <class T>
bool device_product_is_small(const ProductShape& shape, const Contract& contract) {
  return !empty(shape) && !contract.reproducible && native_keeps<T>(contract) &&
         at_native_rate(shape) <= residue_launches;
}

namespace {

template <class T>
void describe_product(const ProductShape& shape, const Contract& contract, Plan& p) {
  p.type = std::is_same_v<T, float> ? "float" : "double";
  p.m = shape.m;
  p.n = shape.n;
  p.k = shape.k;
  p.contract = contract;
  p.log2_bound = log2_promised_bound<T>(contract, std::max<std::int64_t>(shape.k, 1));
}

void describe_native(Plan& p) {
  p.scheme = "native";
  p.engine = "cublas";
}

}  // namespace

template <class T>
void describe_small_device_product(const ProductShape& shape, const Contract& contract, Plan& plan) {
  describe_product<T>(shape, contract, plan);
  describe_native(plan);
  plan.reason = "a small product";
}

template <class T>
bool device_takes_native(const ProductShape& shape, const DeviceRequest& request) {
  if (empty(shape) || forces_residues<T>(request)) return false;
  if (device_product_is_small<T>(shape, request.contract)) return true;
  return !estimates<T>(shape, request).residues_win || shape.k > longest_device_k;
}

template <class T>
DeviceProductPlan plan_device_product(const ProductShape& shape, const DeviceRequest& request) {
  DeviceProductPlan plan;
  const Contract& contract = request.contract;
  plan.shape = shape;
  plan.limits = request.limits;
  plan.single_precision = std::is_same_v<T, float>;
  plan.exact = contract.kind == Contract::Kind::exact;
  plan.native_keeps_contract = native_keeps<T>(contract);
  Plan& p = plan.printable;
  describe_product<T>(shape, contract, p);
  if (empty(shape)) {
    p.scheme = "none";
    p.reason = "there is nothing to multiply";
    return plan;
  }
  plan.forced = forces_residues<T>(request);
  if (request.engine == "native") {
    require(!contract.reproducible && plan.native_keeps_contract,
            "engine: \"native\" cannot keep contract {} for {}; expected an int8 engine", contract.text(), p.type);
    p.reason = "the native product was asked for";
  } else if (!request.engine.empty()) {
    plan.residues = true;
    p.reason = fmt::format("engine {} was asked for", request.engine);
  } else if (plan.forced) {
    plan.residues = true;
    p.reason = contract.reproducible ? "the contract asks for reproducible bits"
                                     : "the native product cannot keep the contract";
  } else if (device_product_is_small<T>(shape, contract)) {
    describe_small_device_product<T>(shape, contract, p);
  } else {
    const Estimates e = estimates<T>(shape, request);
    plan.residues = e.residues_win && shape.k <= longest_device_k;
    p.reason = fmt::format("estimates: {:.3g} ms by residues, {:.3g} ms natively", e.residues * 1e3, e.native * 1e3);
  }
  if (!plan.residues) {
    describe_native(p);
    return plan;
  }
  const std::size_t least = device_workspace_bytes<T>(shape, contract, request.limits, 0, true);
  const std::size_t limit = request.workspace_limit;
  if (limit < least && native_is_allowed(plan)) {
    plan.residues = false;
    p.reason += fmt::format("; a workspace of {} bytes is too small for residues", limit);
    describe_native(p);
    return plan;
  }
  require(shape.k <= longest_device_k, "gemm: k = {}: expected at most {} for residues on a GPU", shape.k,
          longest_device_k);
  plan.rule = ordinary_rule<T>(shape, request);
  plan.contract_rule = device_rule<T>(contract, shape);
  const int moduli = moduli_of(plan.rule, shape.k);
  plan.lean = request.may_be_lean && lean_rule<T>(contract, shape.k).has_value();
  if (plan.lean)
    p.reason += fmt::format("; {} moduli for data that {} do not serve",
                            moduli_of(device_rule<T>(contract, shape), shape.k), moduli);
  plan.vector_bytes = vector_bytes(shape, plan.exact);
  if (limit < least)
    fail(request.own_workspace ? Status::invalid_argument : Status::out_of_memory,
         "{}: {} bytes are too few for m = {}, n = {}, k = {}; expected at least {}",
         request.own_workspace ? "workspace" : "workspace_limit", limit, shape.m, shape.n, shape.k, least);
  const std::size_t available = limit - plan.vector_bytes;
  plan.ordinary = choose_ordinary_blocking(shape, moduli, plan.rule, request.limits, available, plan.exact,
                                           request.strassen_levels);
  if (plan.ordinary.form.strassen) p.reason += "; by one level of Strassen-Winograd";
  plan.pass_bytes = request.own_workspace ? available : std::max(plan.ordinary.bytes, least - plan.vector_bytes);
  const bool decided_later = request.asynchronous && contract.kind != Contract::Kind::normwise;
  if (decided_later && !request.own_workspace)
    plan.pass_bytes = std::max(plan.pass_bytes, device_route_bytes(plan, available));
  if (decided_later)
    p.reason += "; if the data turn out to be wide, the GPU decides otherwise, and this report does not know";
  p.scheme = "residues";
  p.engine = request.int8_engine;
  p.moduli = moduli;
  p.log2_modulus_product = log2_product_of_moduli(moduli);
  p.m_block = plan.ordinary.m_block;
  p.n_block = plan.ordinary.n_block;
  p.k_block = plan.ordinary.k_block;
  p.workspace = plan.vector_bytes + plan.pass_bytes;
  return plan;
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
  if (plan.turn_a) b.a = arena.take<R>(size(2, s.m, s.k));
  if (plan.turn_b) b.b = arena.take<R>(size(2, s.n, s.k));
  if (plan.keep_t) b.t = arena.take<R>(size(2, s.m, s.n));
  b.a_parts = arena.take<std::uint8_t>(size(plan.moduli, s.m, both));
  b.b_parts = arena.take<std::uint8_t>(size(plan.moduli, s.n, both));
  for (std::uint8_t** plane : {&b.a_plus, &b.a_minus}) *plane = arena.take<std::uint8_t>(size(plan.moduli, s.m, one));
  for (std::uint8_t** plane : {&b.b_plus, &b.b_minus}) *plane = arena.take<std::uint8_t>(size(plan.moduli, s.n, one));
  for (std::int8_t** plane : {&b.c_plus, &b.c_minus}) *plane = arena.take<std::int8_t>(size(plan.moduli, units));
  b.c = arena.take<std::int8_t>(size(plan.moduli, doubled));
  return b;
}

template <class R>
std::optional<DeviceComplexPlan> plan_device_complex(const ProductShape& shape, Op opa, Op opb, bool keep_t,
                                                     const Contract& contract, const DeviceLimits& limits) {
  DeviceComplexPlan plan{.shape = shape, .turn_a = opa == Op::none, .turn_b = opb != Op::none, .keep_t = keep_t};
  plan.rule = complex_scaling_rule<R>(contract, 2 * shape.k);
  plan.words = words_for_exponent(plan.rule.largest_exponent);
  plan.moduli = moduli_of(plan.rule, 2 * shape.k, ModuliList::with_root);
  const bool fits = plan.moduli > 0 && three_limbs_hold(plan.moduli, ModuliList::with_root) &&
                    device_pitch(shape.k) <= limits.longest_k && 2 * shape.k <= longest_device_k &&
                    product_units(shape.m, shape.n).across <= 65535;  // blocks of a launch
  if (empty(shape) || !fits || limits.int32_sums) return std::nullopt;
  Arena count;
  carve_device_complex<R>(count, plan);
  plan.bytes = count.used();
  const double m = static_cast<double>(shape.m), n = static_cast<double>(shape.n), k = static_cast<double>(shape.k);
  const double operands = 2 * (m + n) * k, result = 2 * m * n;  // real numbers
  plan.seconds = 4 * plan.moduli * m * n * (k + half_k) / int8_rate + operands * (8 + plan.moduli) / conversion_rate +
                 2 * plan.moduli * operands / pairing_rate + result * (plan.moduli + 16) / recombination_rate +
                 2 * plan.moduli * result / pairing_rate + 2 * residue_launches;
  return plan;
}

template DeviceComplexBuffers<double> carve_device_complex(Arena&, const DeviceComplexPlan&);
template DeviceComplexBuffers<float> carve_device_complex(Arena&, const DeviceComplexPlan&);
template std::optional<DeviceComplexPlan> plan_device_complex<double>(const ProductShape&, Op, Op, bool,
                                                                      const Contract&, const DeviceLimits&);
template std::optional<DeviceComplexPlan> plan_device_complex<float>(const ProductShape&, Op, Op, bool, const Contract&,
                                                                     const DeviceLimits&);

DevicePass ordinary_device_pass(const DeviceProductPlan& plan) {
  return {.blocking = plan.ordinary, .words = ordinary_words(plan.rule)};
}

DevicePass own_exact_pass(const DeviceProductPlan& plan, const ExactChoice& choice) {
  // No vector's largest element has an exponent above log2 of its norm.
  const int exponent =
      std::min(std::max(choice.row_budget_16, choice.column_budget_16) / 32 + 1, largest_exponent(max_limbs));
  return {.blocking = choose_device_blocking(plan.shape, choice.moduli, plan.limits, plan.pass_bytes, {.exact = true}),
          .words = words_for_exponent(exponent),
          .ordinary = false};
}

double irregular_device_seconds(const DeviceProductPlan& plan, int moduli) {
  return irregular_seconds + irregular_factor * device_residue_seconds(plan.shape, moduli);
}

bool irregular_products_lose(const DeviceProductPlan& plan) {
  return native_is_allowed(plan) && irregular_device_seconds(plan, plan.ordinary.moduli) >
                                        device_native_seconds(plan.shape, plan.single_precision);
}

DevicePassList plan_device_passes(const DeviceProductPlan& plan, const Scaling& scaling) {
  DevicePassList list;
  if (scaling.any_ordinary) list.pass[list.count++] = ordinary_device_pass(plan);
  if (scaling.any_wide) {
    const int moduli = moduli_for(scaling.wide_log2);
    list.beyond_scheme = moduli == 0 || scaling.wide_exponent > largest_exponent(max_limbs);
    if (!list.beyond_scheme) {
      DevicePass& pass = list.pass[list.count++];
      pass.ordinary = false;
      pass.words = words_for_exponent(scaling.wide_exponent);
      pass.blocking = choose_device_blocking(plan.shape, moduli, plan.limits, plan.pass_bytes);
    }
  }
  for (int i = 0; i < list.count; ++i) list.pass[i].every_entry = list.count == 1;
  list.native = list.beyond_scheme;
  if (!list.native && scaling.any_wide && native_is_allowed(plan)) {
    double seconds = -irregular_seconds * (list.count - 1);  // once
    for (int i = 0; i < list.count; ++i) seconds += irregular_device_seconds(plan, list.pass[i].blocking.moduli);
    list.native = seconds > device_native_seconds(plan.shape, plan.single_precision);
  }
  return list;
}

template std::size_t device_workspace_bytes<double>(const ProductShape&, const Contract&, const DeviceLimits&,
                                                    std::size_t, bool, int);
template std::size_t device_workspace_bytes<float>(const ProductShape&, const Contract&, const DeviceLimits&,
                                                   std::size_t, bool, int);
template bool device_product_is_small<double>(const ProductShape&, const Contract&);
template bool device_product_is_small<float>(const ProductShape&, const Contract&);
template void describe_small_device_product<double>(const ProductShape&, const Contract&, Plan&);
template void describe_small_device_product<float>(const ProductShape&, const Contract&, Plan&);
template bool device_takes_native<double>(const ProductShape&, const DeviceRequest&);
template bool device_takes_native<float>(const ProductShape&, const DeviceRequest&);
template DeviceProductPlan plan_device_product<double>(const ProductShape&, const DeviceRequest&);
template DeviceProductPlan plan_device_product<float>(const ProductShape&, const DeviceRequest&);

}  // namespace vernier
