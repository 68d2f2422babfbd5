#include "split_contenders.hpp"

#include <tuple>

#include "product/plan/current_gpu.hpp"
#include "timing.hpp"

namespace bench {
namespace {

using namespace vernier;
using namespace vernier::cuda;

__global__ void to_halves(const float* x, std::int64_t count, unsigned short* out) {
  for (std::int64_t i = blockIdx.x * 256LL + threadIdx.x; i < count; i += gridDim.x * 256LL)
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(out[i]) : "f"(x[i]));
}

cuda::SplitGemmPlan plan_of(const Problem& p, std::int64_t products = 1) {
  return cuda::plan_split_gemm(p.m, p.n, p.k, products, cuda::current_gpu());
}
cuda::SplitGemmPlan plan_of(const std::string& scheme, const Problem& p) {
  return cuda::plan_split_gemm(scheme, p.m, p.n, p.k, cuda::current_gpu());
}
bool pays(const Problem& p, std::int64_t products = 1) {
  return cuda::split_gemm_pays(p.m, p.n, p.k, products, cuda::current_gpu());
}

cuda::SplitOperands operands(const Problem& p) {
  return cuda::split_operands_of({Op::none, Op::none, p.m, p.n, p.k, nullptr, p.a, p.m, p.b, p.k});
}

}  // namespace

Problem Contenders::problem(std::int64_t m, std::int64_t n, std::int64_t k, const std::string& kind, int draw) {
  fill(kind, true, draw, a_.data(), m * k);
  fill(kind, false, draw, b_.data(), k * n);
  check(cudaDeviceSynchronize(), "fill");
  return {m, n, k, a_.data(), b_.data(), c_.data()};
}

Contender Contenders::sgemm(const Problem& p) {
  return {"cublas fp32", [this, p] {
            const float one = 1, zero = 0;
            cublas_.gemm<float>(Op::none, Op::none, p.m, p.n, p.k, &one, p.a, p.m, p.b, p.k, &zero, p.c, p.m);
          }};
}

Contender Contenders::half_gemm(const Problem& p) {
  halves_ = DeviceBuffer<std::byte>();
  halves_ = DeviceBuffer<std::byte>(static_cast<std::size_t>(2 * (p.m + p.n) * p.k));
  auto* out = reinterpret_cast<unsigned short*>(halves_.data());
  to_halves<<<2048, 256>>>(p.a, p.m * p.k, out);
  to_halves<<<2048, 256>>>(p.b, p.n * p.k, out + p.m * p.k);
  check(cudaGetLastError(), "to_halves");
  return {"cublas fp16 / 3",
          [this, p] {
            const float one = 1, zero = 0;
            cublas_.gemm_ex(Op::transpose, Op::none, p.m, p.n, p.k, &one, halves_.data(), CUDA_R_16F, p.k,
                            halves_.data() + p.m * p.k * 2, CUDA_R_16F, p.k, &zero, p.c, CUDA_R_32F, p.m,
                            CUBLAS_COMPUTE_32F);
          },
          1.0 / 3};
}

std::byte* Contenders::workspace(std::size_t bytes) {
  if (workspace_.bytes() < bytes) workspace_ = DeviceBuffer<std::byte>(), workspace_ = DeviceBuffer<std::byte>(bytes);
  return workspace_.data();
}

Contender Contenders::split(const std::string& name, const cuda::SplitGemmPlan& plan, const Problem& p) {
  workspace(plan.workspace);
  return {name, [this, plan, p] {
            cuda::split_gemm(plan, operands(p), {{1, nullptr}, {0, nullptr}}, p.c, p.m, workspace_.data(), nullptr,
                             cuda::split_gemm_patience);
          }};
}

Contender Contenders::halfhalf(const Problem& p) {
  const cuda::SplitGemmPlan plan = plan_of(p);
  return split("halfhalf", plan_of(plan.attempts.front().scheme(), p), p);
}

Contender Contenders::tf32tf32(const Problem& p) {
  const bool folded = plan_of(p).attempts.front().scheme() == "halfhalf_fold";
  return split("tf32tf32", plan_of(folded ? "tf32tf32_fold" : "tf32tf32_sep", p), p);
}

Contender Contenders::bf16x6(const Problem& p) {
  return split("bf16x6", plan_of(plan_of(p).attempts.back().scheme(), p), p);
}

Contender Contenders::contract(const Problem& p) {
  Contender c = pays(p) ? split("", plan_of(p), p) : sgemm(p);
  c.name = "contract fp32";
  return c;
}

std::vector<Contender> Contenders::batch(const Problem& p, std::int64_t count) {
  const cuda::SplitGemmPlan plan = plan_of(p, count);
  workspace(plan.workspace);
  const auto work = static_cast<double>(count);
  const Contender sgemm = {"cublas fp32",
                           [this, p, count] {
                             const float one = 1, zero = 0;
                             cublas_.gemm_batch_ex(Op::none, Op::none, p.m, p.n, p.k, &one, p.a, CUDA_R_32F, p.m,
                                                   p.m * p.k, p.b, CUDA_R_32F, p.k, p.k * p.n, &zero, p.c, CUDA_R_32F,
                                                   p.m, p.m * p.n, count, CUBLAS_COMPUTE_32F);
                           },
                           work};
  const Contender split = {"split",
                           [this, plan, p, count] {
                             cuda::split_gemm(plan, operands(p).batch(count, p.m * p.k, p.k * p.n, p.m * p.n),
                                              {{1, nullptr}, {0, nullptr}}, p.c, p.m, workspace_.data(), nullptr);
                           },
                           work};
  Contender contract = pays(p, count) ? split : sgemm;
  contract.name = "contract fp32";
  return {sgemm, split, contract};
}

std::vector<Contender> Contenders::stages(const std::string& scheme, const Problem& p) {
  const cuda::SplitGemmPlan plan = plan_of(scheme, p);
  std::vector<Contender> all = {split(scheme, plan, p)};
  for (const auto& [ops, opa, opb] :
       {std::tuple{"NN", Op::none, Op::none}, {"TN", Op::transpose, Op::none}, {"NT", Op::none, Op::transpose}}) {
    const auto x = cuda::split_operands_of(
        {opa, opb, p.m, p.n, p.k, nullptr, p.a, opa == Op::none ? p.m : p.k, p.b, opb == Op::none ? p.k : p.n});
    const cuda::SplitStages s = cuda::split_gemm_stages(plan, x, p.c, p.m, workspace_.data());
    all.push_back({scheme + " split " + ops, s.split});
    if (opa == Op::none && opb == Op::none) all.push_back({scheme + " product", s.product});
  }
  return all;
}

std::string Contenders::made(const Problem& p) const {
  if (!pays(p)) return "native";
  return cuda::split_gemm_made(plan_of(p), workspace_.data(), nullptr);
}

}  // namespace bench
