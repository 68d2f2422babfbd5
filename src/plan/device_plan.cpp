#include "plan/device_plan.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <type_traits>

#include "base/status.hpp"
#include "number/ieee754.hpp"
#include "plan/bounds.hpp"
#include "scheme/device_digits.hpp"
#include "scheme/residues.hpp"

namespace vernier {
namespace {

constexpr std::int64_t least_block = 256, least_k_block = 4096;

// Rates of one H200 (bench/results/gemm_h200.json).
constexpr double int8_rate = 1.45e15;          // operations a second, reduction included, k long
constexpr double half_k = 150;                 // k at which half of that is reached
constexpr double conversion_rate = 1.9e12;     // bytes a second, operands read and residues written
constexpr double recombination_rate = 3.4e12;  // residues and C read, C written
constexpr double residue_launches = 16e-6;     // what the chain of kernels takes at least
// Irregular products: scales by way of the host, and the longer Chinese remainder.
constexpr double irregular_factor = 1.6, irregular_seconds = 0.5e-3;
constexpr double native_double = 56e12, native_single = 50e12, native_launch = 8e-6;

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

std::int64_t halved(std::int64_t block, std::int64_t unit) { return round_up(divide_up(block, 2), unit); }

// No element has an exponent above log2 of its vector's norm.
int norm_limit(int twice_norm_bits_16) { return twice_norm_bits_16 / 32; }

bool empty(const ProductShape& s) { return s.m == 0 || s.n == 0 || s.k == 0; }

// Under contract exact the shape decides how many open entries a modulus is worth.
template <class T>
ScalingRule device_rule(const Contract& contract, const ProductShape& shape) {
  if (contract.kind != Contract::Kind::exact) return scaling_rule<T>(contract, shape.k);
  return exact_rule<T>(ordinary_device_exact_moduli(Ieee754<T>::precision, shape), shape.k);
}

}  // namespace

DevicePassBuffers carve_device_pass(Arena& arena, const DeviceBlocking& b, const DeviceLimits& limits) {
  const auto moduli = static_cast<std::size_t>(b.moduli);
  const auto pitch = static_cast<std::size_t>(device_pitch(b.k_block));
  DevicePassBuffers buffers;
  buffers.a = arena.take<std::uint8_t>(moduli * static_cast<std::size_t>(b.m_block) * pitch);
  buffers.b = arena.take<std::uint8_t>(moduli * static_cast<std::size_t>(b.n_block) * pitch);
  buffers.c =
      arena.take<std::int8_t>(moduli * static_cast<std::size_t>(product_units(b.m_block, b.n_block).plane_bytes()));
  if (limits.int32_sums)
    buffers.sums = arena.take<std::int32_t>(static_cast<std::size_t>(round_up(b.m_block, 4) * b.n_block));
  if (b.exact) buffers.open = arena.take<std::uint32_t>(static_cast<std::size_t>(b.m_block * b.n_block));
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
    v.a_grains = arena.take<cuda::DeviceGrain>(m);
    v.b_grains = arena.take<cuda::DeviceGrain>(n);
    v.a_errors = arena.take<VectorError>(m);
    v.b_errors = arena.take<VectorError>(n);
    v.sample = arena.take<cuda::DeviceSample>(1);
    v.open_counts = arena.take<unsigned long long>(2);
    return v;
  }
  v.a_kinds = arena.take<VectorScales>(m);
  v.b_kinds = arena.take<VectorScales>(n);
  return v;
}

DeviceBlocking choose_device_blocking(const ProductShape& shape, int moduli, const DeviceLimits& limits,
                                      std::size_t limit, bool exact) {
  DeviceBlocking b;
  b.moduli = moduli;
  b.exact = exact;
  b.m_block = shape.m;
  b.n_block = shape.n;
  b.k_block = std::min(shape.k, round_up(divide_up(shape.k, divide_up(shape.k, limits.longest_k)), device_pitch_unit));
  const auto too_large = [&] { return b.bytes > limit || (exact && b.m_block * b.n_block > most_listed_entries); };
  for (set_bytes(b, limits); too_large(); set_bytes(b, limits)) {
    if (b.n_block > least_block && b.n_block >= b.m_block)
      b.n_block = halved(b.n_block, least_block);
    else if (b.m_block > least_block)
      b.m_block = halved(b.m_block, least_block);
    else if (b.k_block > least_k_block)
      b.k_block = halved(b.k_block, device_pitch_unit);
    else
      break;
  }
  return b;
}

double device_residue_seconds(const ProductShape& s, int moduli) {
  const double m = static_cast<double>(s.m), n = static_cast<double>(s.n), k = static_cast<double>(s.k);
  const double products = 2 * moduli * m * n * (k + half_k) / int8_rate;
  const double conversions = (m + n) * k * (8 + moduli) / conversion_rate;
  const double recombination = m * n * (moduli + 16) / recombination_rate;
  return products + conversions + recombination + residue_launches;
}

double device_native_seconds(const ProductShape& s, bool single_precision) {
  const double operations = 2 * static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k);
  return operations / (single_precision ? native_single : native_double) + native_launch;
}

template <class T>
std::size_t device_workspace_bytes(const ProductShape& shape, const Contract& contract, const DeviceLimits& limits,
                                   std::size_t limit, bool least) {
  if (empty(shape)) return 0;
  const bool exact = contract.kind == Contract::Kind::exact;
  const std::size_t vectors = vector_bytes(shape, exact);
  const std::size_t smallest = vectors + choose_device_blocking(shape, max_moduli, limits, 0, exact).bytes;
  if (least) return smallest;
  const std::size_t room = limit > vectors ? limit - vectors : 0;
  const DeviceBlocking b =
      choose_device_blocking(shape, moduli_of(device_rule<T>(contract, shape), shape.k), limits, room, exact);
  return std::max(smallest, vectors + b.bytes);
}

template <class T>
DeviceProductPlan plan_device_product(const ProductShape& shape, const DeviceRequest& request) {
  DeviceProductPlan plan;
  const Contract& contract = request.contract;
  plan.shape = shape;
  plan.limits = request.limits;
  plan.single_precision = std::is_same_v<T, float>;
  plan.exact = contract.kind == Contract::Kind::exact;
  plan.native_keeps_contract = !plan.exact && contract.bits_asked <= Ieee754<T>::precision;
  Plan& p = plan.printable;
  p.type = plan.single_precision ? "float" : "double";
  p.m = shape.m;
  p.n = shape.n;
  p.k = shape.k;
  p.contract = contract;
  p.log2_bound = log2_promised_bound<T>(contract, std::max<std::int64_t>(shape.k, 1));
  if (empty(shape)) {
    p.scheme = "none";
    p.reason = "there is nothing to multiply";
    return plan;
  }
  const ScalingRule full = device_rule<T>(contract, shape);
  const std::optional<ScalingRule> lean = request.may_be_lean ? lean_rule<T>(contract, shape.k) : std::nullopt;
  plan.rule = lean.value_or(full);
  const int moduli = moduli_of(plan.rule, shape.k);
  plan.forced = contract.reproducible || !plan.native_keeps_contract || !request.engine.empty();
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
  } else {
    const double residues = device_residue_seconds(shape, moduli),
                 native = device_native_seconds(shape, plan.single_precision);
    plan.residues = residues < native && shape.k <= longest_device_k;
    p.reason = fmt::format("estimates: {:.3g} ms by residues on {}, {:.3g} ms natively", residues * 1e3,
                           request.int8_engine, native * 1e3);
  }
  if (!plan.residues) {
    p.scheme = "native";
    p.engine = "cublas";
    return plan;
  }
  require(shape.k <= longest_device_k, "gemm: k = {}: expected at most {} for residues on a GPU", shape.k,
          longest_device_k);
  if (lean) {
    plan.lean = true;
    p.reason += fmt::format("; {} moduli for data that {} do not serve", moduli_of(full, shape.k), moduli);
  }
  plan.vector_bytes = vector_bytes(shape, plan.exact);
  const std::size_t least = device_workspace_bytes<T>(shape, contract, request.limits, 0, true);
  const std::size_t limit = request.workspace_limit;
  if (limit < least)
    fail(request.own_workspace ? Status::invalid_argument : Status::out_of_memory,
         "{}: {} bytes are too few for m = {}, n = {}, k = {}; expected at least {}",
         request.own_workspace ? "workspace" : "workspace_limit", limit, shape.m, shape.n, shape.k, least);
  const std::size_t available = limit - plan.vector_bytes;
  plan.ordinary = choose_device_blocking(shape, moduli, request.limits, available, plan.exact);
  plan.pass_bytes = request.own_workspace ? available : std::max(plan.ordinary.bytes, least - plan.vector_bytes);
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

DevicePass ordinary_device_pass(const DeviceProductPlan& plan) {
  return {.blocking = plan.ordinary,
          .words = words_for_exponent(std::min(plan.rule.largest_exponent, norm_limit(plan.rule.twice_norm_bits_16)))};
}

DevicePass own_exact_pass(const DeviceProductPlan& plan, const ExactChoice& choice) {
  // No vector's largest element has an exponent above log2 of its norm.
  const int exponent =
      std::min(std::max(choice.row_budget_16, choice.column_budget_16) / 32 + 1, largest_exponent(max_limbs));
  return {.blocking = choose_device_blocking(plan.shape, choice.moduli, plan.limits, plan.pass_bytes, true),
          .words = words_for_exponent(exponent),
          .ordinary = false};
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
  const bool may_be_native = plan.native_keeps_contract && plan.printable.contract.fallback == Fallback::native;
  if (!list.native && !plan.forced && scaling.any_wide && may_be_native) {
    double seconds = 0;
    for (int i = 0; i < list.count; ++i)
      seconds += irregular_factor * device_residue_seconds(plan.shape, list.pass[i].blocking.moduli);
    seconds += irregular_seconds;
    list.native = seconds > device_native_seconds(plan.shape, plan.single_precision);
  }
  return list;
}

template std::size_t device_workspace_bytes<double>(const ProductShape&, const Contract&, const DeviceLimits&,
                                                    std::size_t, bool);
template std::size_t device_workspace_bytes<float>(const ProductShape&, const Contract&, const DeviceLimits&,
                                                   std::size_t, bool);
template DeviceProductPlan plan_device_product<double>(const ProductShape&, const DeviceRequest&);
template DeviceProductPlan plan_device_product<float>(const ProductShape&, const DeviceRequest&);

}  // namespace vernier
