#include "blas/choice.hpp"

#include <string>
#include <type_traits>

#include "base/instantiate.hpp"
#include "base/status.hpp"
#include "cuda/device.hpp"
#include "product/plan/native_cost.hpp"
#include "split/cost.hpp"

namespace vernier::cuda {
namespace {

// Do contract and engine let the product be split?
template <class T>
bool split_is_asked_for(const Options& options) {
  const Contract& contract = options.contract;
  return std::is_same_v<T, float> && contract.kind == Contract::Kind::fp32 && !contract.reproducible &&
         options.engine.empty();
}

std::string why_not_split(const ProductShape& s, const Options& options) {
  const GpuModel gpu = current_gpu();
  const bool pays = split_gemm_pays(s.m, s.n, s.k, 1, gpu);
  const std::size_t needed = pays ? plan_split_gemm(s.m, s.n, s.k, 1, gpu).workspace : 0;
  return vernier::why_not_split(s.m, s.n, s.k, needed, pays ? workspace_limit(needed, options) : 0, gpu);
}

}  // namespace

template <class T>
std::optional<SplitGemmPlan> split_plan_of(const ProductShape& s, const Options& options, std::int64_t products) {
  if (!split_is_asked_for<T>(options)) return {};
  const GpuModel gpu = current_gpu();
  if (!gpu.residues || !split_gemm_pays(s.m, s.n, s.k, products, gpu)) return {};
  SplitGemmPlan plan = plan_split_gemm(s.m, s.n, s.k, products, gpu);
  if (plan.workspace > workspace_limit(plan.workspace, options)) return {};
  return plan;
}

template <class T>
bool addresses_are_worth_a_wait(const ProductShape& s, const Options& options, std::int64_t products) {
  constexpr double wait = 40e-6;  // three copies to the host, and until it has seen them
  return split_plan_of<T>(s, options, products) && split_gemm_seconds(s.m, s.n, s.k, products, current_gpu()) + wait <
                                                       sgemm_seconds(s.m, s.n, s.k, products, current_gpu());
}

template <class T>
Plan describe_choice(const std::optional<SplitGemmPlan>& split, const ProductShape& shape, const Options& options) {
  if (!split) {
    Plan plan = plan_of<T>(shape, options, true).printable;
    if (!shape.empty() && split_is_asked_for<T>(options) && current_gpu().residues)
      plan.reason += "; " + why_not_split(shape, options);
    return plan;
  }
  const Options native{.contract = options.contract, .engine = std::string(native_name)};
  Plan plan = plan_of<T>(shape, native, false).printable;
  describe(*split, plan);
  return plan;
}

template <class T>
bool surely_native(const ProductShape& shape, const Options& options, Plan& plan) {
  if (!options.engine.empty()) return false;
  if (device_product_is_small<T>(shape, options.contract, current_gpu())) {
    describe_small_device_product<T>(shape, options.contract, plan);
    return true;
  }
  if (!device_takes_native<T>(shape, request_of(options, true))) return false;
  plan = describe_choice<T>({}, shape, options);
  return true;
}

void LeftFallbacks::check() {
  if (left) fail(Status::bound_not_met, "the data are too wide for residues, or for these to be faster than cuBLAS");
}

VERNIER_REAL_INSTANCES(split_plan_of, addresses_are_worth_a_wait, describe_choice, surely_native)

}  // namespace vernier::cuda
