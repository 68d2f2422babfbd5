#include "residue/choice.hpp"

#include <algorithm>
#include <string>

#include "base/instantiate.hpp"
#include "cuda/device.hpp"
#include "product/device_memory.hpp"

namespace vernier::cuda {
namespace {

// From this size on the default limit looks at what is free.
constexpr std::size_t large_workspace = std::size_t{4} << 30;

// By default: n = 32768 with one level of Strassen-Winograd is one block on 150 10^9 bytes: 79 of 84 for planes.
std::size_t most_workspace() { return current_device().memory_bytes / 16 * 9; }

}  // namespace

DeviceRequest request_of(const Options& options, bool may_use_sqrt_rule) {
  DeviceRequest request;
  request.contract = options.contract;
  request.gpu = current_gpu();
  request.engine = options.engine;
  request.own_workspace = options.workspace != nullptr;
  request.may_use_sqrt_rule = may_use_sqrt_rule;
  request.asynchronous = options.asynchronous;
  request.strassen_levels = options.strassen_levels;
  return request;
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
  return {.longest_k = engine.longest_k(),
          .int32_sums = engine.sums_in_memory(),
          .strassen = !engine.sums_in_memory(),
          .gpu = current_gpu()};
}

template <class T>
std::size_t residue_workspace_limit(const ProductShape& shape, const Options& options, const DeviceLimits& limits) {
  return workspace_limit(
      device_workspace_bytes<T>(shape, options.contract, limits, most_workspace(), false, options.strassen_levels),
      options);
}

template <class T>
DeviceProductPlan plan_of(const ProductShape& shape, const Options& options, bool may_use_sqrt_rule) {
  DeviceRequest request = request_of(options, may_use_sqrt_rule);
  if (options.engine != native_name && !device_takes_native<T>(shape, request)) {
    const DeviceInt8Engine& engine = int8_engine(options);
    request.int8_engine = std::string(engine.name());
    request.limits = limits_of(engine);
    request.workspace_limit = residue_workspace_limit<T>(shape, options, request.limits);
  }
  return plan_device_product<T>(shape, request);
}

VERNIER_REAL_INSTANCES(residue_workspace_limit, plan_of)

}  // namespace vernier::cuda
