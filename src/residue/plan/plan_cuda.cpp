#include "residue/plan/plan_cuda.hpp"

#include <type_traits>

#include "base/instantiate.hpp"
#include "base/status.hpp"
#include "number/ieee754.hpp"
#include "product/plan/method.hpp"
#include "residue/bound/bound_buffers.hpp"
#include "residue/convert/digits.hpp"
#include "residue/convert/winograd.hpp"
#include "residue/plan/bounds.hpp"
#include "residue/residues.hpp"

namespace vernier {
namespace {

std::size_t vector_bytes(const ProductShape& shape, bool exact) {
  Arena count;
  carve_device_vectors(count, shape, exact ? VectorUse::exact : VectorUse::any_data);
  return count.used();
}

// Under contract exact the shape decides how many open entries a modulus is worth.
template <class T>
ScalingRule device_rule(const Contract& contract, const ProductShape& shape) {
  if (contract.kind != Contract::Kind::exact) return scaling_rule<T>(contract, shape.k);
  return exact_rule<T>(ordinary_device_exact_moduli(Ieee754<T>::precision, shape), shape.k);
}

template <class T>
bool forces_residues(const DeviceRequest& request) {
  return request.contract.reproducible || !native_keeps<T>(request.contract) || !request.engine.empty();
}

}  // namespace

// Of the scaled elements of ordinary vectors: none has an exponent above log2 of its vector's norm.
int ordinary_words(const ScalingRule& rule) {
  return words_for_exponent(std::min(rule.largest_exponent, rule.twice_norm_bits_16 / 32));
}

bool strassen_possible(int moduli, const ScalingRule& rule, bool exact, int strassen_levels) {
  return strassen_levels != 0 && !exact && moduli <= most_winograd_moduli && ordinary_words(rule) == 2;
}

// One level of Strassen-Winograd or none, within the limit: what was asked for where it can be had, else the faster.
// Elements of ordinary products under `rule` take that many words.
DeviceBlocking choose_ordinary_blocking(const ProductShape& shape, int moduli, const ScalingRule& rule,
                                        const DeviceLimits& limits, std::size_t limit, bool exact,
                                        int strassen_levels) {
  const DeviceBlocking plain = choose_device_blocking(shape, moduli, limits, limit, {.exact = exact});
  if (!limits.strassen || !strassen_possible(moduli, rule, exact, strassen_levels)) return plain;
  const DeviceBlocking halved = choose_device_blocking(shape, moduli, limits, limit, {.strassen = true});
  if (halved.bytes > limit) return plain;
  if (strassen_levels > 0) return halved;
  const auto seconds = [&](const DeviceBlocking& b) {
    const std::int64_t blocks =
        divide_up(shape.m, b.m_block) * divide_up(shape.n, b.n_block) * divide_up(shape.k, b.k_block);
    return static_cast<double>(blocks) *
           device_residue_seconds({b.m_block, b.n_block, b.k_block}, moduli, b.form.strassen, limits.gpu);
  };
  return seconds(halved) < seconds(plain) ? halved : plain;
}

template <class T>
std::size_t device_workspace_bytes(const ProductShape& shape, const Contract& contract, const DeviceLimits& limits,
                                   std::size_t limit, bool least, int strassen_levels) {
  if (shape.empty()) return 0;
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
  const std::optional<ScalingRule> by_sqrt_rule =
      request.may_use_sqrt_rule ? sqrt_rule<T>(request.contract, shape.k) : std::nullopt;
  return by_sqrt_rule.value_or(device_rule<T>(request.contract, shape));
}

struct Estimates {
  double native = 0, residues = 0;  // seconds
  bool residues_win = false;
};

template <class T>
Estimates estimates(const ProductShape& shape, const DeviceRequest& request) {
  Estimates e;
  const GpuModel& gpu = request.gpu;
  e.native = device_native_seconds(shape, std::is_same_v<T, float>, gpu);
  // Where no host waits, the device must choose, if the contract leaves it a choice.
  const bool chooses = request.asynchronous && request.contract.kind != Contract::Kind::normwise;
  if (!gpu.residues || (chooses && gpu.sums != 0)) return e;
  const ScalingRule rule = ordinary_rule<T>(shape, request);
  const int moduli = moduli_of(rule, shape.k);
  e.residues = device_residue_seconds(shape, moduli, false, gpu);
  if (strassen_possible(moduli, rule, request.contract.kind == Contract::Kind::exact, request.strassen_levels))
    e.residues = std::min(e.residues, device_residue_seconds(shape, moduli, true, gpu));
  // Few long vectors are converted more slowly than estimated: 98 us for 66, 1024 x 384 x 4096 in single precision,
  // which cuBLAS has in 82.
  constexpr double single_margin = 1.5;
  const bool refused = !request.may_use_sqrt_rule && full_rule_loses<T>(shape, request.contract, gpu);
  e.residues_win = e.residues * (std::is_same_v<T, float> ? single_margin : 1) < e.native && !refused;
  return e;
}

}  // namespace

template <class T>
bool device_product_is_small(const ProductShape& shape, const Contract& contract, const GpuModel& gpu) {
  return !shape.empty() && !contract.reproducible && native_keeps<T>(contract) &&
         native_ends_before_residues(shape, gpu);
}

template <class T>
void describe_small_device_product(const ProductShape& shape, const Contract& contract, Plan& plan) {
  describe_product<T>(shape, contract, plan);
  describe_native(plan);
  plan.reason = std::string(small_product_reason);
}

template <class T>
bool device_takes_native(const ProductShape& shape, const DeviceRequest& request) {
  if (shape.empty() || forces_residues<T>(request)) return false;
  if (device_product_is_small<T>(shape, request.contract, request.gpu)) return true;
  return !estimates<T>(shape, request).residues_win || shape.k > longest_device_k;
}

namespace {

// Residues or the native product, and why.
template <class T>
void choose_scheme(const DeviceRequest& request, DeviceProductPlan& plan) {
  const bool small = device_product_is_small<T>(plan.shape, request.contract, request.gpu);
  const MethodChoice choice = choose_by_request({.contract = request.contract,
                                                 .native_keeps = native_keeps<T>(request.contract),
                                                 .asked = request.engine,
                                                 .small = small},
                                                plan.printable);
  plan.residues = choice == MethodChoice::residues;
  if (choice != MethodChoice::by_estimate) return;
  const Estimates e = estimates<T>(plan.shape, request);
  plan.residues = e.residues_win && plan.shape.k <= longest_device_k;
  const std::string source = request.gpu.measured ? "estimates by rates measured on this card" : "estimates";
  plan.printable.reason = e.residues == 0 ? "no engine of this GPU serves the call"
                                          : compared(source, {{e.residues, "by residues"}, {e.native, "natively"}});
}

// Does the workspace hold residues, of which `least` bytes are the least? If not, the native product is left where it
// is allowed; else this throws.
bool workspace_suffices(const DeviceRequest& request, std::size_t least, DeviceProductPlan& plan) {
  const ProductShape& shape = plan.shape;
  const std::size_t limit = request.workspace_limit;
  if (limit < least && plan.native == NativeUse::for_speed) {
    plan.printable.reason += fmt::format("; a workspace of {} bytes is too small for residues", limit);
    return false;
  }
  require(shape.k <= longest_device_k, "gemm: k = {}: expected at most {} for residues on a GPU", shape.k,
          longest_device_k);
  require_workspace(shape, limit, least, request.own_workspace);
  return true;
}

// Guesses of elements of two or three words that fit and are faster than the native product.
void plan_guesses(DeviceProductPlan& plan) {
  const double native = device_native_seconds(plan.shape, plan.single_precision, plan.gpu);
  const auto serves = [&](int moduli) {
    const DevicePass pass = guessed_device_pass(plan, moduli);
    return guess_fits(plan, pass) && pass.words <= 3 &&
           (plan.native != NativeUse::for_speed || guess_seconds(plan, pass) < native);
  };
  const int least = plan.least_guess = plan.ordinary.moduli;
  int most = least;
  constexpr int numbers = 1 + cuda::most_guesses - cuda::guess_shares;  // of moduli
  while (most < least + numbers && most <= max_moduli && serves(most)) ++most;
  if (most == least)
    plan.least_guess = 0;
  else
    plan.most_guess = most - 1;
}

// Scales by the product of |A| and |B| where the contract lets them and the workspace holds it; and room for as many
// moduli as most data then take.
template <class T>
void plan_bound(const DeviceRequest& request, std::size_t available, DeviceProductPlan& plan) {
  constexpr int usual_moduli = 19;
  if (!request.may_use_sqrt_rule || !request.gpu.clusters) return;
  Arena bytes;
  cuda::carve_device_bound(bytes, plan.shape);
  plan.bound_bytes = bytes.used();
  if (plan.bound_bytes > (request.own_workspace ? plan.pass_bytes : available)) return;
  plan.bound = bound_rule<T>(request.contract, plan.shape.k, plan.shape.k);
  if (!plan.bound) return;
  if (!request.own_workspace) {
    const auto bytes_of = [&](int moduli, bool strassen) {
      return choose_device_blocking(plan.shape, moduli, plan.limits, available, {.strassen = strassen}).bytes;
    };
    plan.pass_bytes = std::max({plan.pass_bytes, plan.bound_bytes, bytes_of(usual_moduli, false)});
    if (plan.ordinary.form.strassen) plan.pass_bytes = std::max(plan.pass_bytes, bytes_of(most_winograd_moduli, true));
  }
  plan.most_bound_moduli = max_moduli;
  if (plan.native == NativeUse::for_speed) {
    const double native = device_native_seconds(plan.shape, plan.single_precision, plan.gpu);
    const double bound = device_bound_seconds(plan.shape, plan.gpu);
    int most = plan.ordinary.moduli;  // and one more
    while (most <= max_moduli && of_bound_estimate * (bound + bound_pass_seconds(plan, most)) < native) ++most;
    plan.most_bound_moduli = most == plan.ordinary.moduli ? 0 : most - 1;
  }
  plan_guesses(plan);
}

// The rules of scaling, the blocks and the bytes of a product by residues; `least` bytes are there.
template <class T>
void plan_residues(const DeviceRequest& request, std::size_t least, DeviceProductPlan& plan) {
  const ProductShape& shape = plan.shape;
  Plan& p = plan.printable;
  plan.rule = ordinary_rule<T>(shape, request);
  plan.contract_rule = device_rule<T>(request.contract, shape);
  const int moduli = moduli_of(plan.rule, shape.k);
  plan.by_sqrt_rule = request.may_use_sqrt_rule && sqrt_rule<T>(request.contract, shape.k).has_value();
  plan.vector_bytes = vector_bytes(shape, plan.exact);
  const std::size_t available = request.workspace_limit - plan.vector_bytes;
  plan.ordinary = choose_ordinary_blocking(shape, moduli, plan.rule, request.limits, available, plan.exact,
                                           request.strassen_levels);
  if (plan.ordinary.form.strassen) p.reason += "; by one level of Strassen-Winograd";
  plan.pass_bytes = request.own_workspace ? available : std::max(plan.ordinary.bytes, least - plan.vector_bytes);
  plan_bound<T>(request, available, plan);
  if (plan.most_bound_moduli > 0)
    p.reason += fmt::format("; scales from |A||B| in low precision for data that {} moduli do not serve", moduli);
  else if (plan.by_sqrt_rule && !plan.bound)
    p.reason +=
        fmt::format("; {} moduli for data that {} do not serve", moduli_of(plan.contract_rule, shape.k), moduli);
  const bool decided_later = request.asynchronous && request.contract.kind != Contract::Kind::normwise;
  if (decided_later && !request.own_workspace)
    plan.pass_bytes = std::max(plan.pass_bytes, device_route_bytes(plan, available));
  if (decided_later)
    p.reason += "; if the data turn out to be wide, the GPU decides otherwise, and this report does not know";
  describe_residues(plan, request.int8_engine, moduli, plan.ordinary);
}

}  // namespace

template <class T>
DeviceProductPlan plan_device_product(const ProductShape& shape, const DeviceRequest& request) {
  DeviceProductPlan plan;
  const bool any = begin_plan<T>(shape, request.contract, plan);
  plan.gpu = request.gpu;
  plan.limits = request.limits;
  plan.native = native_use<T>(request.contract, !request.engine.empty());
  if (!any) return plan;
  choose_scheme<T>(request, plan);
  if (plan.residues) {
    const std::size_t least = device_workspace_bytes<T>(shape, request.contract, request.limits, 0, true);
    plan.residues = workspace_suffices(request, least, plan);
    if (plan.residues) plan_residues<T>(request, least, plan);
  }
  if (!plan.residues) describe_native(plan.printable);
  return plan;
}

template <class T>
std::size_t device_full_workspace_bytes(const ProductShape& shape, const DeviceRequest& request) {
  if (shape.empty() || shape.k > longest_device_k) return 0;
  if (request.workspace_limit < device_workspace_bytes<T>(shape, request.contract, request.limits, 0, true)) return 0;
  const DeviceProductPlan plan = plan_device_product<T>(shape, request);
  return plan.residues ? plan.vector_bytes + plan.pass_bytes : 0;
}

VERNIER_REAL_INSTANCES(device_workspace_bytes, device_full_workspace_bytes, device_product_is_small,
                       describe_small_device_product, device_takes_native, plan_device_product)

}  // namespace vernier
