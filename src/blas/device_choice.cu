#include "blas/device_choice.hpp"

#include <algorithm>
#include <string>
#include <type_traits>

#include "blas/device_state.hpp"
#include "cuda/device.hpp"
#include "plan/split_cost.hpp"

namespace vernier::cuda {
namespace {

// From this size on the default limit looks at what is free.
constexpr std::size_t large_workspace = std::size_t{4} << 30;

// By default: n = 32768 with one level of Strassen-Winograd is one block on 150 10^9 bytes: 79 of 84 for planes.
std::size_t most_workspace() { return current_device().memory_bytes / 16 * 9; }

DeviceRequest request_of(const Options& options, bool may_be_lean) {
  DeviceRequest request;
  request.contract = options.contract;
  request.gpu = current_gpu();
  request.engine = options.engine;
  request.own_workspace = options.workspace != nullptr;
  request.may_be_lean = may_be_lean;
  request.asynchronous = options.asynchronous;
  request.strassen_levels = options.strassen_levels;
  return request;
}

// Do contract and engine let the product be split?
template <class T>
bool split_is_asked_for(const Options& options) {
  const Contract& contract = options.contract;
  return std::is_same_v<T, float> && contract.kind == Contract::Kind::fp32 && !contract.reproducible &&
         options.engine.empty();
}

}  // namespace

GpuModel current_gpu() {
  const Device& device = current_device();
  return gpu_model({device.compute_capability, device.multiprocessors, device.clock, device.memory_rate});
}

std::size_t workspace_limit(std::size_t wanted, const Options& options) {
  if (options.workspace != nullptr) return options.workspace_bytes;
  if (options.workspace_limit != 0) return options.workspace_limit;
  const std::size_t most = most_workspace();
  if (wanted <= large_workspace) return std::max(most, wanted);
  return std::min(most, available_device_memory() / 16 * 15);
}

const DeviceInt8Engine& int8_engine(const Options& options) {
  return find_device_int8_engine(options.engine == native_name ? "" : options.engine);
}

DeviceLimits limits_of(const DeviceInt8Engine& engine) {
  return {
      .longest_k = engine.longest_k(), .int32_sums = engine.sums_in_memory(), .strassen = current_device().hopper()};
}

template <class T>
std::size_t residue_workspace_limit(const ProductShape& shape, const Options& options, const DeviceLimits& limits) {
  return workspace_limit(
      device_workspace_bytes<T>(shape, options.contract, limits, most_workspace(), false, options.strassen_levels),
      options);
}

template <class T>
DeviceProductPlan plan_of(const ProductShape& shape, const Options& options, bool may_be_lean) {
  DeviceRequest request = request_of(options, may_be_lean);
  if (options.engine != native_name && !device_takes_native<T>(shape, request)) {
    const DeviceInt8Engine& engine = int8_engine(options);
    request.int8_engine = std::string(engine.name());
    request.limits = limits_of(engine);
    request.workspace_limit = residue_workspace_limit<T>(shape, options, request.limits);
  }
  return plan_device_product<T>(shape, request);
}

template <class T>
std::optional<SplitGemmPlan> split_plan_of(const ProductShape& s, const Options& options, std::int64_t products) {
  if (!split_is_asked_for<T>(options) || !split_gemm_pays(s.m, s.n, s.k, products) || !current_device().hopper())
    return {};
  SplitGemmPlan plan = plan_split_gemm(s.m, s.n, s.k, products);
  if (plan.workspace > workspace_limit(plan.workspace, options)) return {};
  return plan;
}

template <class T>
bool addresses_are_worth_a_wait(const ProductShape& s, const Options& options, std::int64_t products) {
  constexpr double wait = 40e-6;  // three copies to the host, and until it has seen them
  return split_plan_of<T>(s, options, products) &&
         split_gemm_seconds(s.m, s.n, s.k, products) + wait < device_sgemm_seconds(s.m, s.n, s.k, products);
}

namespace {

std::string why_not_split(const ProductShape& s, const Options& options) {
  const bool pays = split_gemm_pays(s.m, s.n, s.k);
  const std::size_t needed = pays ? plan_split_gemm(s.m, s.n, s.k).workspace : 0;
  return vernier::why_not_split(s.m, s.n, s.k, needed, pays ? workspace_limit(needed, options) : 0);
}

}  // namespace

template <class T>
Plan describe_choice(const std::optional<SplitGemmPlan>& split, const ProductShape& shape, const Options& options) {
  if (!split) {
    Plan plan = plan_of<T>(shape, options, true).printable;
    if (!shape.empty() && split_is_asked_for<T>(options) && current_device().hopper())
      plan.reason += "; " + why_not_split(shape, options);
    return plan;
  }
  const Options native{.contract = options.contract, .engine = std::string(native_name)};
  Plan plan = plan_of<T>(shape, native, false).printable;
  describe(*split, plan);
  return plan;
}

template <class T>
bool surely_native(const ProductShape& shape, const Options& options) {
  if (!options.engine.empty()) return false;
  return device_product_is_small<T>(shape, options.contract, current_gpu()) ||
         device_takes_native<T>(shape, request_of(options, true));
}

template <class T>
void describe_native(const ProductShape& shape, const Options& options, Plan& plan) {
  if (device_product_is_small<T>(shape, options.contract, current_gpu()))
    describe_small_device_product<T>(shape, options.contract, plan);
  else
    plan = describe_choice<T>({}, shape, options);
}

#define VERNIER_INSTANTIATE(T)                                                                                \
  template std::size_t residue_workspace_limit<T>(const ProductShape&, const Options&, const DeviceLimits&);  \
  template DeviceProductPlan plan_of<T>(const ProductShape&, const Options&, bool);                           \
  template std::optional<SplitGemmPlan> split_plan_of<T>(const ProductShape&, const Options&, std::int64_t);  \
  template bool addresses_are_worth_a_wait<T>(const ProductShape&, const Options&, std::int64_t);             \
  template Plan describe_choice<T>(const std::optional<SplitGemmPlan>&, const ProductShape&, const Options&); \
  template bool surely_native<T>(const ProductShape&, const Options&);                                        \
  template void describe_native<T>(const ProductShape&, const Options&, Plan&);
VERNIER_INSTANTIATE(float)
VERNIER_INSTANTIATE(double)
#undef VERNIER_INSTANTIATE

}  // namespace vernier::cuda
