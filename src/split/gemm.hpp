// fp32 products on tensor cores, Hopper's or those of any GPU from 8.0 on: attempts in the order of their speed, of
// which the first is made whose bound the data permit. Which one that is, the GPU finds out.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "product/call.hpp"
#include "product/plan/gpu_model.hpp"
#include "split/convert/convert.hpp"
#include "split/product/sm90_split.hpp"
#include "vernier/split.hpp"

namespace vernier::cuda {

struct SplitAttempt {
  const SplitKernel* kernel = nullptr;
  bool paced = false;  // blocks of a long product keep pace along k (cuda/pace.hpp)

  std::string scheme() const { return kernel->scheme; }
};

struct SplitGemmPlan {
  std::int64_t m = 0, n = 0, k = 0;
  std::vector<SplitAttempt> attempts;
  bool judged = false;  // attempts keep the contract if the data permit; if none does, the product is conventional
  std::size_t workspace = 0;
  std::int64_t products = 1, at_once = 1;  // of a batch; those that are split before they are multiplied
  GpuModel gpu = {};
};

// Copies count bytes along k in an int.
inline constexpr std::int64_t longest_split_k = std::int64_t{1} << 26;

// Of batches: one kernel splits them.
inline constexpr std::int64_t longest_batched_k = 8192;

// Can contract fp32 be kept for this k by products of split matrices, and do the sizes fit?
bool split_gemm_serves(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t products = 1,
                       const GpuModel& gpu = {});

// ... and is that faster than cuBLAS? In seconds, as estimated.
bool split_gemm_pays(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t products = 1,
                     const GpuModel& gpu = {});

// For contract fp32.
SplitGemmPlan plan_split_gemm(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t products = 1,
                              const GpuModel& gpu = {});

// Scheme, engine, reason, bound and workspace of the plan that a person reads.
void describe(const SplitGemmPlan& plan, Plan& printable);

// The schemes that have fast kernels on such a GPU; a plan for one of them, whatever the data.
std::vector<const char*> split_kernel_schemes(const GpuModel& gpu = {});
SplitGemmPlan plan_split_gemm(const std::string& scheme, std::int64_t m, std::int64_t n, std::int64_t k,
                              const GpuModel& gpu = {});

struct SplitOperands {
  FloatVectors a, b;  // rows of op(A), columns of op(B)
  std::int64_t product_stride_c = 0;

  // Of a batch whose first product this is.
  SplitOperands batch(std::int64_t products, std::int64_t stride_a, std::int64_t stride_b, std::int64_t stride_c) const;
};
SplitOperands split_operands_of(const DeviceGemmCall<float>& p);

struct SplitFactors {
  SplitScalar alpha, beta;
};

// Queueing two kernels that return at once takes the host 6 to 10 us and the GPU 4. Behind products of so many seconds
// at most by estimate it is worth a wait, of as many, for what saves it.
inline constexpr double split_gemm_patience = 60e-6;

// C = alpha op(A) op(B) + beta C, queued on the stream. workspace: plan.workspace bytes of device memory, aligned to
// 256. k > 0; the caller has checked the arguments. patience: the seconds that the host may wait behind such a short
// product; where the GPU says meanwhile that an attempt is made, those behind it are not queued. Returns how many were,
// of the last products.
int split_gemm(const SplitGemmPlan& plan, const SplitOperands& operands, const SplitFactors& factors, float* C,
               std::int64_t ldc, void* workspace, cudaStream_t stream, double patience = 0);

// The two stages of the first attempt, each queued on the default stream by itself, and the word in the workspace that
// split_gemm() keeps pace by: for measurements and tests.
struct SplitStages {
  std::function<void()> split, product;
  std::uint32_t* steps;
};
SplitStages split_gemm_stages(const SplitGemmPlan& plan, const SplitOperands& operands, float* C, std::int64_t ldc,
                              void* workspace);

// Where in the workspace split_gemm() of a judged plan leaves what was made: split/schemes.hpp.
const std::uint32_t* split_gemm_verdict(const SplitGemmPlan& plan, const void* workspace);

// The scheme that was taken, or "conventional", by the last products that were split together, after split_gemm() on
// the same workspace; waits for the stream.
std::string split_gemm_made(const SplitGemmPlan& plan, const void* workspace, cudaStream_t stream);

}  // namespace vernier::cuda
