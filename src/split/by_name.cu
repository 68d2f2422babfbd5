// Schemes by name on a GPU.
#include <algorithm>
#include <deque>
#include <utility>

#include "base/status.hpp"
#include "cuda/device.hpp"
#include "product/device_memory.hpp"
#include "product/plan/current_gpu.hpp"
#include "split/convert/convert.hpp"
#include "split/gemm.hpp"
#include "split/product/sm90_reference.hpp"
#include "split/schemes.hpp"

namespace vernier::split {
namespace {

SplitOrder order_of(const Scheme& s) {
  require(s.terms.size() <= SplitOrder::max_terms && s.sums.size() <= SplitOrder::max_sums,
          "split: scheme {} has {} terms and {} sums; expected at most {} and {}", s.name, s.terms.size(),
          s.sums.size(), SplitOrder::max_terms + 0, SplitOrder::max_sums + 0);
  SplitOrder order;
  order.step = s.step;
  for (const Term& t : s.terms)
    order.term[order.terms++] = {t.a, t.b, t.sum, t.from, t.length != 0 ? t.length : s.step};
  for (const Sum& sum : s.sums) {
    require(sum.run >= 0 && sum.run % s.step == 0, "split: scheme {}: run is {}; expected a multiple of the step {}",
            s.name, sum.run, s.step);
    order.run[order.sums] = sum.run;
    order.carry[order.sums] = static_cast<int>(sum.carry);
    order.shift[order.sums++] = sum.shift;
  }
  return order;
}

cuda::ReferenceInput input_of(const Scheme& s) {
  return s.low == model::Format::fp16   ? cuda::ReferenceInput::fp16
         : s.low == model::Format::bf16 ? cuda::ReferenceInput::bf16
                                        : cuda::ReferenceInput::tf32;
}

void multiply_plain(const Scheme& s, const cuda::SplitOperands& x, float alpha, float beta, float* C, std::int64_t ldc,
                    cudaStream_t stream) {
  const SplitRule rule = split_rule(s);
  std::int64_t unit = s.step;
  for (const Sum& sum : s.sums) unit = std::max<std::int64_t>(unit, sum.run);
  cuda::ReferenceProduct g;
  g.input = input_of(s);
  g.order = order_of(s);
  g.to = {alpha, beta, C, ldc};
  g.padded_k = (x.a.k + unit - 1) / unit * unit;
  const std::size_t word_bytes = s.low == model::Format::tf32 ? 4 : 2;
  const auto words = [&](const FloatVectors& v) {
    return static_cast<std::size_t>(v.count * g.padded_k * rule.parts) * word_bytes;
  };
  std::deque<cuda::DeviceWorkspace> memory;
  for (const auto& [v, operand] : {std::pair{&x.a, &g.a}, {&x.b, &g.b}}) {
    std::byte* to = memory.emplace_back(words(*v), stream).data();
    std::byte* scales = memory.emplace_back(static_cast<std::size_t>(v->count) * 4, stream).data();
    auto* unscale = s.scaled ? reinterpret_cast<std::int32_t*>(scales) : nullptr;
    cuda::split_reference(rule, *v, g.padded_k, to, unscale, stream);
    *operand = {*v, to, unscale};
  }
  cuda::multiply_split_reference(g, stream);
}

// A fast kernel is one scheme alone, whatever else goes by its name.
bool has_kernel(const Scheme& s, const GpuModel& gpu) {
  return std::ranges::count(cuda::split_kernel_schemes(gpu), s.name) != 0 && s == find_scheme(s.name);
}

}  // namespace

void multiply_on_gpu(const Scheme& s, Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, float alpha,
                     const float* A, std::int64_t lda, const float* B, std::int64_t ldb, float beta, float* C,
                     std::int64_t ldc, void* stream_handle, bool plain) {
  const cuda::Device& device = cuda::current_device();
  const GpuModel gpu = cuda::current_gpu();
  if (!gpu.residues) fail(Status::unsupported, "split: {} has no compute capability of 8.0 or later", device.name);
  require(m >= 0 && n >= 0 && k > 0, "split: m = {}, n = {}, k = {}: expected m, n >= 0 and k > 0", m, n, k);
  require(k <= cuda::longest_split_k, "split: k = {}: expected at most {}", k, cuda::longest_split_k);
  require(lda >= std::max<std::int64_t>(1, opa == Op::none ? m : k), "split: lda = {} is too small", lda);
  require(ldb >= std::max<std::int64_t>(1, opb == Op::none ? k : n), "split: ldb = {} is too small", ldb);
  require(ldc >= std::max<std::int64_t>(1, m), "split: ldc = {} is too small", ldc);
  if (m == 0 || n == 0) return;
  auto* stream = static_cast<cudaStream_t>(stream_handle);
  const cuda::SplitOperands x = cuda::split_operands_of({opa, opb, m, n, k, nullptr, A, lda, B, ldb});
  if (plain || !has_kernel(s, gpu)) return multiply_plain(s, x, alpha, beta, C, ldc, stream);
  const cuda::SplitGemmPlan plan = cuda::plan_split_gemm(s.name, m, n, k, gpu);
  const cuda::DeviceWorkspace workspace(plan.workspace, stream);
  cuda::split_gemm(plan, x, {{alpha, nullptr}, {beta, nullptr}}, C, ldc, workspace.data(), stream);
}

}  // namespace vernier::split
