#include "split/gemm.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "base/status.hpp"
#include "base/workspace.hpp"
#include "cuda/device.hpp"
#include "cuda/pace.hpp"
#include "engine/panel.hpp"
#include "product/host_mailbox.hpp"
#include "product/plan/native_cost.hpp"
#include "split/bounds.hpp"
#include "split/cost.hpp"
#include "split/schemes.hpp"

namespace vernier::cuda {
namespace {

// What computes a scheme; of several kernels the first, unless separate() or separate_tf32() chooses.
constexpr const SplitKernel* hopper_kernels[] = {&half_128x128, &half_long_128x128,   &half_folded_128x192,
                                                 &tf32_128x128, &tf32_folded_128x192, &bf16_128x128,
                                                 &bf16_128x64};
constexpr const SplitKernel* mma_kernels[] = {&mma_half, &mma_tf32, &mma_bf16, &mma_bf16_short};

bool by_mma(const GpuModel& gpu) { return gpu.half != 0; }

std::span<const SplitKernel* const> kernels_of(const GpuModel& gpu) {
  return by_mma(gpu) ? std::span<const SplitKernel* const>(mma_kernels) : hopper_kernels;
}

constexpr std::int64_t multiprocessors = h200_multiprocessors;

std::int64_t tiles(const SplitKernel& kernel, const SplitGemmPlan& plan) {
  return plan.at_once * divide_up(plan.m, kernel.tile.rows) * divide_up(plan.n, kernel.tile.columns);
}

// Two blocks a tile, where that many are free and the halves of k are long enough.
bool in_halves(const SplitGemmPlan& plan) {
  return plan.products == 1 && plan.k >= 512 && 2 * tiles(tf32_halves_128x128, plan) <= multiprocessors;
}

// By whole waves of tiles; a narrow tile takes 0.65 of the time of a wide one, since wgmma then reads its operands no
// faster than shared memory delivers them.
const SplitKernel& separate(const SplitGemmPlan& plan) {
  const auto waves = [&](const SplitKernel& kernel) { return divide_up(tiles(kernel, plan), multiprocessors); };
  const bool narrow = 0.65 * waves(half_128x64) < 1.0 * waves(half_128x128);
  return narrow ? half_128x64 : half_128x128;
}

// Long runs are for long products, and for large ones: of a small C cuBLAS cuts k, and errs less on data of one sign
// than a chain of long runs.
const SplitKernel& separate_long(const SplitGemmPlan& plan) {
  const SplitKernel& kernel = separate(plan);
  const bool long_runs = plan.k >= shortest_for_long_runs && plan.m * plan.n >= std::int64_t{1} << 22;
  return long_runs && &kernel == &half_128x128 ? half_long_128x128 : kernel;
}

const SplitKernel& separate_tf32(const SplitGemmPlan& plan) {
  return in_halves(plan) ? tf32_halves_128x128 : tf32_128x128;
}

// The one chain of bf16x6's corrections errs more than a conventional chain from about here on; it still ends the
// attempts.
constexpr std::int64_t longest_bf16 = std::int64_t{1} << 19;

// Runs of 16 for few runs: of the largest entries, each is one product, and cuBLAS rounds it seldom. They take 1.5
// times as long, but narrow tiles make up for that where there are few.
constexpr std::int64_t shortest_bf16_sep = 256;
const SplitKernel& for_wide_data(const SplitGemmPlan& plan) {
  const bool few = tiles(bf16_128x64, plan) <= multiprocessors;
  return plan.k < shortest_bf16_sep || few ? bf16_128x64 : bf16_128x128;
}

// Pieces of the workspace, in this order.
struct Layout {
  std::uint32_t *verdicts, *steps;
  SplitJob a, b;
};

constexpr int max_attempts = 4;

Layout lay_out(Arena& arena, const SplitGemmPlan& plan, const SplitOperands& x) {
  Layout w{};
  w.verdicts = arena.take<std::uint32_t>(max_attempts);
  w.steps = arena.take<std::uint32_t>(1);
  for (const auto& [job, vectors] : {std::pair{&w.a, &x.a}, std::pair{&w.b, &x.b}}) {
    std::int64_t lines = 0;
    for (const SplitAttempt& t : plan.attempts) lines = std::max(lines, split_line_count(t.kernel->form, vectors->k));
    *job = {*vectors, SplitPlane::take(arena, vectors->count, lines)};
  }
  return w;
}

Layout lay_out_in(void* workspace, const SplitGemmPlan& plan, const SplitOperands& x) {
  Arena arena(static_cast<std::byte*>(workspace), plan.workspace);
  return lay_out(arena, plan, x);
}

std::size_t workspace_of(const SplitGemmPlan& plan) {
  Arena count;
  lay_out(count, plan,
          split_operands_of({Op::none, Op::none, plan.m, plan.n, plan.k, nullptr, nullptr, 1, nullptr, 1})
              .batch(plan.at_once, 0, 0, 0));
  return count.used();
}

SplitGemmPlan finished(SplitGemmPlan plan) {
  for (SplitAttempt& t : plan.attempts)
    t.paced = t.kernel->tile.blocks_sharing == 2 &&
              pace_pays(divide_up(tiles(*t.kernel, plan), multiprocessors), split_line_count(t.kernel->form, plan.k));
  plan.workspace = workspace_of(plan);
  return plan;
}

}  // namespace

SplitOperands split_operands_of(const DeviceGemmCall<float>& p) {
  const auto vectors = [&](const float* x, std::int64_t count, std::int64_t ld, bool by_k) {
    return FloatVectors{x, count, p.k, by_k ? ld : 1, by_k ? 1 : ld};
  };
  return {vectors(p.a, p.m, p.lda, p.opa != Op::none), vectors(p.b, p.n, p.ldb, p.opb == Op::none)};
}

SplitOperands SplitOperands::batch(std::int64_t products, std::int64_t stride_a, std::int64_t stride_b,
                                   std::int64_t stride_c) const {
  SplitOperands all = *this;
  if (products == 1) return all;
  for (const auto& [x, stride] : {std::pair{&all.a, stride_a}, {&all.b, stride_b}})
    x->in_product = x->count, x->count *= products, x->product_stride = stride;
  all.product_stride_c = stride_c;
  return all;
}

bool split_gemm_serves(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t products, const GpuModel& gpu) {
  if (products > 1 && (k > longest_batched_k || by_mma(gpu))) return false;
  // Rows are ints in copies.
  constexpr std::int64_t most = (std::int64_t{1} << 31) - 256;
  return m > 0 && n > 0 && m <= most && n <= most && k >= shortest_split_k && k <= longest_split_k &&
         split_keeps_fp32(k);
}

bool split_gemm_pays(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t products, const GpuModel& gpu) {
  return split_gemm_is_faster(m, n, k, products, gpu) && split_gemm_serves(m, n, k, products, gpu);
}

void describe(const SplitGemmPlan& plan, Plan& printable) {
  std::string names;
  for (const SplitAttempt& t : plan.attempts) names += t.scheme() + ", else ";
  printable.scheme = "split";
  printable.engine = by_mma(plan.gpu) ? "mma.sync" : "hopper-wgmma";
  printable.reason =
      fmt::format("{}conventional: the first that the data permit; estimates: {:.3g} ms, {:.3g} ms natively", names,
                  split_gemm_seconds(plan.m, plan.n, plan.k, plan.products, plan.gpu) * 1e3,
                  sgemm_seconds(plan.m, plan.n, plan.k, plan.products, plan.gpu) * 1e3);
  printable.moduli = 0;
  printable.log2_modulus_product = 0;
  printable.m_block = printable.n_block = printable.k_block = 0;
  printable.log2_bound = std::log2(static_cast<double>(plan.k + 1)) - 24;
  printable.workspace = plan.workspace;
}

SplitGemmPlan plan_split_gemm(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t products,
                              const GpuModel& gpu) {
  SplitGemmPlan plan{m, n, k, {}, true, 0, products, split_products_at_once(m, n, k, products), gpu};
  const auto add = [&](const SplitKernel& kernel) { plan.attempts.push_back({&kernel}); };
  if (by_mma(gpu)) {
    add(mma_half);
    if (k > longest_bf16) add(mma_tf32);
    add(k < shortest_bf16_sep ? mma_bf16_short : mma_bf16);
    return finished(plan);
  }
  // The wide tile pays where the power cap is the limit; below, whole waves count more.
  if (m >= 6144 && n >= 6144 && k >= 4096) add(half_folded_128x192);
  add(separate_long(plan));
  if (k > longest_bf16) add(separate_tf32(plan));
  add(for_wide_data(plan));
  return finished(plan);
}

std::vector<const char*> split_kernel_schemes(const GpuModel& gpu) {
  std::vector<const char*> schemes;
  for (const SplitKernel* kernel : kernels_of(gpu)) schemes.push_back(kernel->scheme);
  return schemes;
}

SplitGemmPlan plan_split_gemm(const std::string& scheme, std::int64_t m, std::int64_t n, std::int64_t k,
                              const GpuModel& gpu) {
  SplitGemmPlan plan{m, n, k, {}, false, 0, 1, 1, gpu};
  const auto kernels = kernels_of(gpu);
  const auto found = std::ranges::find(kernels, scheme, [](const SplitKernel* kernel) { return kernel->scheme; });
  if (found == kernels.end()) fail(Status::invalid_argument, "split_gemm: no kernel computes {}", scheme);
  const SplitKernel* kernel = *found;
  if (kernel == &half_128x128) kernel = &separate(plan);
  if (kernel == &tf32_128x128) kernel = &separate_tf32(plan);
  plan.attempts = {{kernel}};
  return finished(plan);
}

namespace {

// What a kernel multiplies of an attempt that is split.
SplitProduct product_of(const SplitOperands& x, const Layout& w, const SplitAttempt& attempt, float* C,
                        std::int64_t ldc) {
  return {.a = x.a,
          .b = x.b,
          .a_plane = w.a.plane,
          .b_plane = w.b.plane,
          .c = C,
          .ldc = ldc,
          .product_stride_c = x.product_stride_c,
          .steps = attempt.paced ? w.steps : nullptr};
}

// Products that are split before they are multiplied. Returns the number of attempts that were queued.
int multiply_at_once(const SplitGemmPlan& plan, const SplitOperands& x, const SplitFactors& factors, float* C,
                     std::int64_t ldc, void* workspace, cudaStream_t stream, double patience) {
  Layout w = lay_out_in(workspace, plan, x);
  std::optional<PromptQuestion> made;
  if (patience > 0 && plan.judged && plan.attempts.size() > 1 &&
      split_gemm_seconds(plan.m, plan.n, plan.k, plan.products, plan.gpu) <= split_gemm_patience)
    made.emplace(stream);
  for (std::size_t i = 0; i < plan.attempts.size(); ++i) {
    const SplitAttempt& t = plan.attempts[i];
    w.a.plane.line_count = w.b.plane.line_count = split_line_count(t.kernel->form, plan.k);
    const std::size_t behind = plan.attempts.size() - 1 - i;
    const SplitGate gate{.before = i == 0 ? nullptr : w.verdicts + i - 1,
                         .verdict = plan.judged ? w.verdicts + i : nullptr,
                         .behind = static_cast<int>(behind),
                         .answer = made && i == 0 ? made->answer() : HostAnswer{},
                         .judged = plan.judged,
                         .last = behind == 0,
                         .mark = split_mark(t.scheme())};
    split_operands(t.kernel->form, w.a, w.b, gate, stream);
    SplitProduct product = product_of(x, w, t, C, ldc);
    product.alpha = factors.alpha, product.beta = factors.beta;
    product.gate = gate;
    t.kernel->multiply(product, stream);
    if (made && i == 0 && made->is_yes_within(patience)) return 1;
  }
  return static_cast<int>(plan.attempts.size());
}

}  // namespace

int split_gemm(const SplitGemmPlan& plan, const SplitOperands& operands, const SplitFactors& factors, float* C,
               std::int64_t ldc, void* workspace, cudaStream_t stream, double patience) {
  const Device& device = current_device();
  const int least = by_mma(plan.gpu) ? 80 : 90;
  if (least == 90 ? !device.hopper() : device.compute_capability < least)
    fail(Status::unsupported, "split_gemm: {} has compute capability {}.{}; expected {}.{}", device.name,
         device.compute_capability / 10, device.compute_capability % 10, least / 10, least % 10);
  int queued = 0;
  for (std::int64_t i = 0; i < plan.products; i += plan.at_once) {
    const std::int64_t products = std::min(plan.at_once, plan.products - i);
    SplitOperands x = operands;
    x.a.data += i * x.a.product_stride, x.a.count = products * plan.m;
    x.b.data += i * x.b.product_stride, x.b.count = products * plan.n;
    queued = multiply_at_once(plan, x, factors, C + i * x.product_stride_c, ldc, workspace, stream,
                              plan.products == 1 ? patience : 0);
  }
  return queued;
}

SplitStages split_gemm_stages(const SplitGemmPlan& plan, const SplitOperands& x, float* C, std::int64_t ldc,
                              void* workspace) {
  Layout w = lay_out_in(workspace, plan, x);
  const SplitAttempt& t = plan.attempts.front();
  w.a.plane.line_count = w.b.plane.line_count = split_line_count(t.kernel->form, plan.k);
  return {[=] { split_operands(t.kernel->form, w.a, w.b, {}, nullptr); },
          [=] {
            SplitProduct product = product_of(x, w, t, C, ldc);
            product.alpha.value = 1;
            t.kernel->multiply(product, nullptr);
          },
          w.steps};
}

const std::uint32_t* split_gemm_verdict(const SplitGemmPlan& plan, const void* workspace) {
  const std::byte* begin = Arena::first_page(static_cast<std::byte*>(const_cast<void*>(workspace)));
  return reinterpret_cast<const std::uint32_t*>(begin) + plan.attempts.size() - 1;
}

std::string split_gemm_made(const SplitGemmPlan& plan, const void* workspace, cudaStream_t stream) {
  std::uint32_t verdict = 0;
  const auto* from = split_gemm_verdict(plan, workspace);
  check(cudaMemcpyAsync(&verdict, from, sizeof verdict, cudaMemcpyDeviceToHost, stream), "cudaMemcpyAsync");
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  return plan.judged ? split_made(verdict) : plan.attempts.back().scheme();
}

}  // namespace vernier::cuda
