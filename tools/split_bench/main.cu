// Measures fp32 products by error correction on a Hopper GPU beside cuBLAS. One JSON object a line.
//
//   vernier-split-bench speed N...       square products from rest: median of single calls, contenders in turn
//   vernier-split-bench sustained N...   the same without pauses, half a second a contender, in turn
//   vernier-split-bench error N...       errors on all kinds of data
//   vernier-split-bench depth            errors for k from 1 to 2^20
//   vernier-split-bench shapes           small, thin and rank-k products
//   vernier-split-bench stages N...      split and product apart
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <tuple>
#include <vector>

#include "blas/split_gemm.hpp"
#include "cuda/cublas.hpp"
#include "cuda/device.hpp"
#include "data.hpp"

namespace split_bench {
namespace {

using namespace vernier;
using cuda::check;
using cuda::DeviceBuffer;
using cuda::Event;

struct Contender {
  std::string name;
  std::function<void()> run;
  double work = 1;  // of a whole fp32 product
};

double median(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  return x[x.size() / 2];
}

double milliseconds(const std::function<void()>& run) {
  static const Event start, end;
  start.record(nullptr);
  run();
  end.record(nullptr);
  end.wait();
  return end.milliseconds_since(start);
}

void print_time(const char* what, const Problem& p, const Contender& c, double ms, double best, double host = 0) {
  const double flop = 2.0 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k) * c.work;
  std::printf(
      "{\"what\": \"%s\", \"name\": \"%s\", \"m\": %ld, \"n\": %ld, \"k\": %ld, \"us\": %.2f, \"best_us\": %.2f, "
      "\"host_us\": %.2f, \"tflops\": %.1f}\n",
      what, c.name.c_str(), p.m, p.n, p.k, ms * 1e3, best * 1e3, host * 1e3, flop / ms / 1e9);
  std::fflush(stdout);
}

class Bench {
 public:
  explicit Bench(std::int64_t elements) : a_(elements), b_(elements), c_(elements) {}

  Problem problem(std::int64_t m, std::int64_t n, std::int64_t k, const std::string& kind) {
    fill(kind, true, a_.data(), m * k);
    fill(kind, false, b_.data(), k * n);
    check(cudaDeviceSynchronize(), "fill");
    return {m, n, k, a_.data(), b_.data(), c_.data()};
  }

  Contender sgemm(const Problem& p) {
    return {"cublas fp32", [this, p] {
              const float one = 1, zero = 0;
              cublas_.gemm<float>(Op::none, Op::none, p.m, p.n, p.k, &one, p.a, p.m, p.b, p.k, &zero, p.c, p.m);
            }};
  }
  // On halves of the same data: a third of the work of an error-corrected product.
  Contender half_gemm(const Problem& p) {
    return {"cublas fp16 / 3",
            [this, p] {
              const float one = 1, zero = 0;
              cublas_.gemm_ex(Op::transpose, Op::none, p.m, p.n, p.k, &one, halves_.data(), CUDA_R_16F, p.k,
                              halves_.data() + p.m * p.k * 2, CUDA_R_16F, p.k, &zero, p.c, CUDA_R_32F, p.m,
                              CUBLAS_COMPUTE_32F);
            },
            1.0 / 3};
  }
  void make_halves(const Problem& p);

  Contender split(const std::string& name, const SplitGemmPlan& plan, const Problem& p) {
    if (workspace_.bytes() < plan.workspace)
      workspace_ = DeviceBuffer<std::byte>(), workspace_ = DeviceBuffer<std::byte>(plan.workspace);
    return {name, [this, plan, p] {
              const auto x = split_operands_of(Op::none, Op::none, p.m, p.n, p.k, p.a, p.m, p.b, p.k);
              split_gemm(plan, x, {1, nullptr}, {0, nullptr}, p.c, p.m, workspace_.data(), nullptr);
            }};
  }
  SplitGemmPlan halfhalf(const Problem& p) const {
    SplitGemmPlan plan = plan_split_gemm(p.m, p.n, p.k);
    return plan_split_gemm(plan.attempts.front().scheme, p.m, p.n, p.k);
  }
  // What the contract takes: the conventional product where error correction does not pay.
  Contender contract(const Problem& p) {
    Contender c = split_gemm_pays(p.m, p.n, p.k) ? split("", plan_split_gemm(p.m, p.n, p.k), p) : sgemm(p);
    c.name = "contract fp32";
    return c;
  }
  std::vector<Contender> contenders(const Problem& p) {
    return {sgemm(p), split("halfhalf", halfhalf(p), p),
            split("tf32tf32", plan_split_gemm("tf32tf32_sep", p.m, p.n, p.k), p), contract(p)};
  }

  void stages(const Problem& p);

  // The scheme that the data chose in the last product under the contract.
  std::string made(const Problem& p) const {
    if (!split_gemm_pays(p.m, p.n, p.k)) return "native";
    const SplitGemmPlan plan = plan_split_gemm(p.m, p.n, p.k);
    return split_gemm_made(plan, workspace_.data(), nullptr);
  }

 private:
  DeviceBuffer<float> a_, b_, c_;
  DeviceBuffer<std::byte> workspace_, halves_;
  cuda::Cublas cublas_;
};

__global__ void to_halves(const float* x, std::int64_t count, unsigned short* out) {
  for (std::int64_t i = blockIdx.x * 256LL + threadIdx.x; i < count; i += gridDim.x * 256LL)
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(out[i]) : "f"(x[i]));
}

void Bench::make_halves(const Problem& p) {
  halves_ = DeviceBuffer<std::byte>();
  halves_ = DeviceBuffer<std::byte>(static_cast<std::size_t>(2 * (p.m + p.n) * p.k));
  auto* out = reinterpret_cast<unsigned short*>(halves_.data());
  to_halves<<<2048, 256>>>(p.a, p.m * p.k, out);
  to_halves<<<2048, 256>>>(p.b, p.n * p.k, out + p.m * p.k);
  cuda::check_launch("to_halves");
}

// From rest: 300 ms of pause, three runs to warm up, then the median of single calls.
void from_rest(const char* what, const Problem& p, const std::vector<Contender>& contenders, int repetitions,
               int pause_us = 300000) {
  for (const Contender& c : contenders) {
    check(cudaDeviceSynchronize(), "rest");
    usleep(static_cast<unsigned>(pause_us));
    std::vector<double> t, host;
    for (int i = 0; i < repetitions + 3; ++i) {
      double queued = 0;
      const double ms = milliseconds([&] {
        const auto begin = std::chrono::steady_clock::now();
        c.run();
        queued = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
      });
      if (i >= 3) t.push_back(ms), host.push_back(queued);
    }
    print_time(what, p, c, median(t), *std::min_element(t.begin(), t.end()), median(host));
  }
}

// Half a second each in two turns, so that heat and power favour none.
void sustained(const Problem& p, const std::vector<Contender>& contenders) {
  std::vector<std::vector<double>> t(contenders.size());
  for (int turn = 0; turn < 2; ++turn)
    for (std::size_t i = 0; i < contenders.size(); ++i)
      for (double total = 0; total < 500;) {
        const int batch = 8;
        const double ms = milliseconds([&] {
          for (int r = 0; r < batch; ++r) contenders[i].run();
        });
        total += ms;
        if (turn == 1 && total > 100) t[i].push_back(ms / batch);
      }
  for (std::size_t i = 0; i < contenders.size(); ++i)
    print_time("sustained", p, contenders[i], median(t[i]), *std::min_element(t[i].begin(), t[i].end()));
}

void errors(Bench& bench, std::int64_t m, std::int64_t n, std::int64_t k, const std::string& kind) {
  const Problem p = bench.problem(m, n, k, kind);
  const Judge judge(p);
  for (const Contender& c : bench.contenders(p)) {
    check(cudaMemset(p.c, 0xff, static_cast<std::size_t>(m * n) * 4), "cudaMemset");
    c.run();
    const Error e = judge.judge(p.c);
    const std::string scheme = c.name == "contract fp32" ? bench.made(p) : "";
    std::printf(
        "{\"what\": \"error\", \"name\": \"%s\", \"data\": \"%s\", \"m\": %ld, \"n\": %ld, \"k\": %ld, \"mean\": %.3g, "
        "\"max\": "
        "%.3g, \"residual\": %.3g, \"scheme\": \"%s\"}\n",
        c.name.c_str(), kind.c_str(), m, n, k, e.mean, e.max, e.residual, scheme.c_str());
    std::fflush(stdout);
  }
}

// Split and product apart; the split for all orders of A and B in memory.
void Bench::stages(const Problem& p) {
  for (const char* scheme : {"halfhalf_sep", "halfhalf_fold", "tf32tf32_sep"}) {
    const SplitGemmPlan plan = plan_split_gemm(scheme, p.m, p.n, p.k);
    const Contender whole = split(scheme, plan, p);
    std::vector<Contender> all;
    for (const auto& [ops, opa, opb] :
         {std::tuple{"NN", Op::none, Op::none}, {"TN", Op::transpose, Op::none}, {"NT", Op::none, Op::transpose}}) {
      const auto x = split_operands_of(opa, opb, p.m, p.n, p.k, p.a, opa == Op::none ? p.m : p.k, p.b,
                                       opb == Op::none ? p.k : p.n);
      const SplitStages s = split_gemm_stages(plan, x, p.c, p.m, workspace_.data());
      all.push_back({std::string(scheme) + " split " + ops, s.split});
      if (opa == Op::none && opb == Op::none) all.push_back({std::string(scheme) + " product", s.product});
    }
    all.push_back(whole);
    from_rest("stage", p, all, 21, 50000);
  }
}

void print_machine() {
  const cuda::Device& d = cuda::current_device();
  std::printf(
      "{\"what\": \"machine\", \"device\": \"%s\", \"driver_cuda\": %d, \"runtime_cuda\": %d, \"cublas\": \"%s\"}\n",
      d.name.c_str(), d.driver_version, d.runtime_version, cuda::Cublas().version().c_str());
}

int run(int argc, char** argv) {
  const std::string command = argc > 1 ? argv[1] : "";
  std::vector<std::int64_t> sizes;
  for (int i = 2; i < argc; ++i) sizes.push_back(std::atoll(argv[i]));
  if (!command.empty()) print_machine();
  const std::int64_t largest = sizes.empty() ? 0 : *std::max_element(sizes.begin(), sizes.end());
  if (command == "speed" || command == "sustained" || command == "stages" || command == "error") {
    Bench bench(largest * largest);
    for (std::int64_t n : sizes) {
      if (command == "error") {
        for (const std::string& kind : data_kinds()) errors(bench, n, n, n, kind);
        continue;
      }
      const Problem p = bench.problem(n, n, n, "scattered(0.5)");
      bench.make_halves(p);
      std::vector<Contender> all = bench.contenders(p);
      all.push_back(bench.half_gemm(p));
      if (command == "speed") from_rest("speed", p, all, n <= 4096 ? 21 : 9);
      if (command == "sustained") sustained(p, all);
      if (command == "stages") bench.stages(p);
    }
    return 0;
  }
  if (command == "kinds") {
    Bench bench(largest * largest);
    for (std::int64_t n : sizes)
      for (const char* kind : {"scattered(0.5)", "scattered(4)", "scattered(20)"}) {
        const Problem p = bench.problem(n, n, n, kind);
        from_rest(kind, p, {bench.sgemm(p), bench.contract(p)}, 11, 100000);
        std::printf("{\"what\": \"chosen\", \"data\": \"%s\", \"n\": %ld, \"scheme\": \"%s\"}\n", kind, n,
                    bench.made(p).c_str());
      }
    return 0;
  }
  if (command == "depth") {
    Bench bench(std::int64_t{256} << 20);
    for (std::int64_t k = 1; k <= 1 << 20; k *= 4)
      for (const char* kind : {"uniform", "positive", "scattered(4)"}) errors(bench, 256, 256, k, kind);
    return 0;
  }
  if (command == "shapes") {
    Bench bench(std::int64_t{16384} * 16384);
    const std::int64_t shapes[][3] = {
        {128, 128, 128},     {256, 256, 256},     {384, 384, 384},    {512, 512, 512},     {768, 768, 768},
        {1000, 1000, 1000},  {1536, 1536, 1536},  {16384, 64, 4096},  {16384, 256, 4096},  {256, 256, 65536},
        {4096, 4096, 64},    {4096, 4096, 256},   {16384, 16384, 64}, {16384, 16384, 128}, {16384, 16384, 256},
        {16384, 16384, 512}, {16384, 16384, 1024}};
    for (const auto& [m, n, k] : shapes) {
      const Problem p = bench.problem(m, n, k, "scattered(0.5)");
      from_rest("shapes", p, bench.contenders(p), 11, 50000);
    }
    return 0;
  }
  std::fprintf(stderr, "usage: vernier-split-bench speed|sustained|error|stages N... | depth | shapes\n");
  return 2;
}

}  // namespace
}  // namespace split_bench

int main(int argc, char** argv) {
  try {
    return split_bench::run(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
