#include "split_sweep.hpp"

#include <array>
#include <cstdio>
#include <functional>
#include <string>

#include "cuda/cublas.hpp"
#include "cuda/device.hpp"
#include "split/gemm.hpp"
#include "split_data.hpp"
#include "timing.hpp"
#include "vernier/cuda_level3.hpp"

namespace bench {
namespace {

using namespace vernier;
using namespace vernier::cuda;
using cuda::DeviceBuffer;

struct Shape {
  std::int64_t m, n, k, count = 1;
  Op opa = Op::none, opb = Op::none;
  float beta = 0;

  std::int64_t lda() const { return opa == Op::none ? m : k; }
  std::int64_t ldb() const { return opb == Op::none ? k : n; }
  std::int64_t largest_operand() const { return std::max({m * k, k * n, m * n}) * count; }
};

constexpr std::int64_t largest = std::int64_t{1} << 28;  // elements of a matrix

std::vector<Shape> shapes() {
  std::vector<Shape> all;
  const auto add = [&](Shape s) {
    if (s.largest_operand() <= largest) all.push_back(s);
  };
  for (std::int64_t n :
       {1,   2,   8,   16,  31,  32,  48,  64,  96,   127,  128,  160,  192,  224,  256,  257,  320, 384,
        448, 512, 576, 640, 704, 768, 832, 896, 1000, 1024, 1031, 1152, 1280, 1408, 1536, 1792, 2048})
    add({n, n, n});
  for (std::int64_t n : {64, 256, 512, 1024, 1536, 2048, 4096, 8192, 16384})
    for (std::int64_t k : {1, 2, 4, 8, 16, 32, 48, 63, 64, 80, 96, 128, 192, 256, 384, 512, 1024}) add({n, n, k});
  for (std::int64_t n : {1, 32, 64, 128, 192, 256, 320, 384, 512, 640, 768, 1024})  // inner products
    for (std::int64_t k : {2048, 4096, 8192, 16384, 65536, 262144, 1 << 20}) add({n, n, k});
  for (std::int64_t m : {1024, 4096, 16384, 65536, 1 << 20})  // tall and skinny, low and wide
    for (std::int64_t n : {1, 4, 16, 32, 64, 96, 128, 160, 192, 256, 384, 512})
      for (std::int64_t k : {64, 256, 1024, 4096}) {
        add({m, n, k});
        if (m == 16384) add({n, m, k});
      }
  for (std::int64_t n : {640, 1024, 2048, 4096})
    for (Op opa : {Op::none, Op::transpose})
      for (Op opb : {Op::none, Op::transpose}) add({n, n, n / 4, 1, opa, opb, 1});
  for (std::int64_t count : {2, 10, 100, 1000})
    for (std::int64_t n : {16, 32, 64, 96, 128, 192, 256, 320, 384, 448, 512}) add({n, n, n, count});
  for (std::int64_t count : {16, 128}) {
    for (std::int64_t k : {64, 128, 512, 2048}) add({512, 512, k, count}), add({1024, 128, k, count});
    add({2048, 64, 64, count}), add({128, 128, 4096, count});
  }
  return all;
}

class Bench {
 public:
  Bench() : a_(largest), b_(largest), c_(largest) {
    fill("scattered(0.5)", true, 0, a_.data(), largest);
    fill("scattered(0.5)", false, 0, b_.data(), largest);
    check(cudaMemset(c_.data(), 0, c_.bytes()), "cudaMemset");
  }

  void measure(const Shape& s) {
    std::array<Times, 3> t;
    const std::string scheme = under_contract(s).plan.scheme;
    const std::function<void()> runs[] = {[&] { native(s); }, [&] { under_contract(s); }, error_corrected(s)};
    // Launches vary more than kernels.
    const int turns = timer_.seconds(2, runs[0]) < 100e-6 ? 21 : 7;
    for (int turn = 0; turn < turns; ++turn)
      for (std::size_t i = 0; i < t.size(); ++i)
        if (runs[i]) t[i].add(timer_, runs[i], turn == 0);
    std::printf(
        "{\"what\": \"sweep\", \"m\": %ld, \"n\": %ld, \"k\": %ld, \"count\": %ld, \"ops\": \"%c%c\", "
        "\"beta\": %g, \"scheme\": \"%s\"",
        s.m, s.n, s.k, s.count, s.opa == Op::none ? 'N' : 'T', s.opb == Op::none ? 'N' : 'T', s.beta, scheme.c_str());
    const char* names[] = {"cublas", "contract", "split"};
    for (std::size_t i = 0; i < t.size(); ++i)
      if (runs[i]) std::printf(", \"%s\": [%.2f, %.2f]", names[i], median(t[i].alone) * 1e6, median(t[i].queued) * 1e6);
    std::printf("}\n");
  }

 private:
  struct Times {
    std::vector<double> alone, queued;
    int together = 1;

    void add(Timer& timer, const std::function<void()>& run, bool first) {
      constexpr double group = 150e-6;
      if (first) {
        timer.seconds(2, run);
        together = std::clamp(static_cast<int>(group / timer.seconds(2, run)), 1, 30);
      }
      check(cudaDeviceSynchronize(), "rest");
      alone.push_back(timer.seconds(1, run));
      queued.push_back(timer.seconds(together, run));
    }
  };

  void native(const Shape& s) {
    const float one = 1;
    if (s.count == 1)
      cublas_.gemm<float>(s.opa, s.opb, s.m, s.n, s.k, &one, a_.data(), s.lda(), b_.data(), s.ldb(), &s.beta, c_.data(),
                          s.m);
    else
      cublas_.gemm_batch_ex(s.opa, s.opb, s.m, s.n, s.k, &one, a_.data(), CUDA_R_32F, s.lda(), s.m * s.k, b_.data(),
                            CUDA_R_32F, s.ldb(), s.k * s.n, &s.beta, c_.data(), CUDA_R_32F, s.m, s.m * s.n, s.count,
                            CUBLAS_COMPUTE_32F);
  }

  Report under_contract(const Shape& s) {
    const float one = 1;
    if (s.count == 1)
      return cuda::gemm<float>(s.opa, s.opb, s.m, s.n, s.k, &one, a_.data(), s.lda(), b_.data(), s.ldb(), &s.beta,
                               c_.data(), s.m);
    return cuda::gemm_strided_batched<float>(s.opa, s.opb, s.m, s.n, s.k, &one, a_.data(), s.lda(), s.m * s.k,
                                             b_.data(), s.ldb(), s.k * s.n, &s.beta, c_.data(), s.m, s.m * s.n,
                                             s.count);
  }

  std::function<void()> error_corrected(const Shape& s) {
    if (!cuda::split_gemm_serves(s.m, s.n, s.k, s.count)) return {};
    const cuda::SplitGemmPlan plan = cuda::plan_split_gemm(s.m, s.n, s.k, s.count);
    if (workspace_.bytes() < plan.workspace)
      workspace_ = DeviceBuffer<std::byte>(), workspace_ = DeviceBuffer<std::byte>(plan.workspace);
    const cuda::SplitOperands x =
        cuda::split_operands_of({s.opa, s.opb, s.m, s.n, s.k, nullptr, a_.data(), s.lda(), b_.data(), s.ldb()})
            .batch(s.count, s.m * s.k, s.k * s.n, s.m * s.n);
    return [this, plan, x, s] {
      cuda::split_gemm(plan, x, {{1, nullptr}, {s.beta, nullptr}}, c_.data(), s.m, workspace_.data(), nullptr,
                       cuda::split_gemm_patience);
    };
  }

  DeviceBuffer<float> a_, b_, c_;
  DeviceBuffer<std::byte> workspace_;
  cuda::Cublas cublas_;
  Timer timer_;
};

}  // namespace

void sweep() {
  Bench bench;
  for (const Shape& s : shapes()) bench.measure(s);
}

}  // namespace bench
