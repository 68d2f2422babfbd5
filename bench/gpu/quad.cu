// vernier-gpu-quad-bench: quadruple products on a GPU beside fp64 and cuBLAS's own, in one process and in turns: one
// JSON object a line.
//
//     vernier-gpu-quad-bench [--forms] [--solve] [--phi 0.5] [--groups 5] [--seconds 0.05] N ...
//
// Times are medians over groups of calls, each about --seconds long.
#include <cmath>
#include <complex>
#include <cstdio>
#include <functional>
#include <string>

#include "measure.cuh"
#include "program.hpp"
#include "vernier/cuda_lapack.hpp"
#include "vernier/quad.hpp"
#include "vernier/verified.hpp"

namespace vernier::bench {
namespace {

struct Settings {
  double phi = 0.5, seconds = 0.05;
  int groups = 5;
  bool forms = false, solve = false;
};

// hi and 60 bits behind it, as binary128.
__global__ void extend_to_binary128(const double* hi, const double* random, std::size_t count, ulonglong2* out) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
    const auto x = static_cast<unsigned long long>(__double_as_longlong(hi[i])),
               low = static_cast<unsigned long long>(__double_as_longlong(random[i])) & ((1ull << 52) - 1);
    const unsigned long long field = (x >> 52 & 0x7ff) + 16383 - 1023;
    out[i] = {(x << 60) | low << 8, (x & 1ull << 63) | field << 48 | (x & ((1ull << 52) - 1)) >> 4};
  }
}

// hi as it is, lo random below it.
__global__ void extend(const double* hi, const double* random, std::size_t count, dd* out) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
    const double lo = hi[i] * 0x1p-54 * random[i], sum = hi[i] + lo;
    out[i] = dd(sum, lo - (sum - hi[i]));
  }
}

__global__ void square(double* x, std::size_t count) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step)
    x[i] *= x[i] * 0x1p-20;
}

// n x n elements of dd.
class DdMatrix {
 public:
  explicit DdMatrix(std::int64_t n) : memory_(2 * n, n) {}
  DdMatrix(std::int64_t n, std::uint64_t seed, double phi) : DdMatrix(n) {
    const DeviceMatrix<double> hi(n, n, seed, phi), random(n, n, seed + 7, 0);
    extend<<<1024, 256>>>(hi.data(), random.data(), hi.count(), data());
    check(cudaDeviceSynchronize(), "data");
  }
  dd* data() const { return reinterpret_cast<dd*>(memory_.data()); }

 private:
  DeviceMatrix<double> memory_;
};

void run(std::int64_t n, const Settings& s) {
  const DdMatrix wide_a(n, 1, s.phi), wide_b(n, 2, s.phi), wide_c(n);
  const DeviceMatrix<double> a(n, n, 3, s.phi), b(n, n, 4, s.phi), c(n, n);
  const double one = 1, zero = 0;
  QuadReport wide, doubles;
  const auto product = [&](const cuda::Options& options) {
    cuda::gemm(Op::none, Op::none, n, n, n, &one, a.data(), n, b.data(), n, &zero, c.data(), n, options);
  };
  const std::function<void()> calls[] = {[&] {
                                           wide = cuda::quad_gemm(Op::none, Op::none, n, n, n, 1.0, wide_a.data(), n,
                                                                  wide_b.data(), n, 0.0, wide_c.data(), n);
                                         },
                                         [&] {
                                           doubles = cuda::quad_gemm(Op::none, Op::none, n, n, n, 1.0, a.data(), n,
                                                                     b.data(), n, 0.0, wide_c.data(), n);
                                         },
                                         [&] { product({.contract = Contract::fp64()}); },
                                         [&] { product({.contract = Contract::parse("fp64+reproducible")}); },
                                         [&] { product({.contract = Contract::fp64(), .engine = "native"}); }};
  constexpr int kinds = 5;
  Timer timer;
  int repeats[kinds];
  std::vector<double> times[kinds];
  for (int i = 0; i < kinds; ++i) {
    calls[i]();
    repeats[i] = std::clamp(static_cast<int>(s.seconds / timer.seconds(2, calls[i])), 1, 100);
  }
  for (int g = 0; g < s.groups; ++g)
    for (int i = 0; i < kinds; ++i) times[i].push_back(timer.seconds(repeats[i], calls[i]));
  const auto groups_of = [&](int kind) {
    std::string list;
    for (const double t : times[kind]) list += (list.empty() ? "" : ", ") + std::to_string(std::lround(t * 1e6));
    return list;
  };
  const double operations = 2.0 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n),
               own = median(times[0]), fp64 = median(times[2]);
  std::printf(
      "{\"n\": %lld, \"phi\": %g, \"engine\": \"%s\", \"moduli_dd\": %d, \"looked_at\": %lld, \"summed\": %lld, "
      "\"moduli_doubles\": %d, \"dd_seconds\": %.4e, \"dd_tflops\": %.2f, \"doubles_seconds\": %.4e, \"fp64_seconds\": "
      "%.4e, \"reproducible_seconds\": %.4e, \"cublas_seconds\": %.4e, \"dd_to_fp64\": %.3f, \"doubles_to_fp64\": "
      "%.3f, \"dd_groups_us\": [%s], \"fp64_groups_us\": [%s]}\n",
      static_cast<long long>(n), s.phi, wide.engine.c_str(), wide.moduli, static_cast<long long>(wide.looked_at),
      static_cast<long long>(wide.summed), doubles.moduli, own, operations / own * 1e-12, median(times[1]), fp64,
      median(times[3]), median(times[4]), own / fp64, median(times[1]) / fp64, groups_of(0).c_str(),
      groups_of(2).c_str());
  std::fflush(stdout);
}

class Binary128Matrix {
 public:
  explicit Binary128Matrix(std::int64_t n) : memory_(2 * n, n) {}
  Binary128Matrix(std::int64_t n, std::uint64_t seed, double phi) : Binary128Matrix(n) {
    const DeviceMatrix<double> hi(n, n, seed, phi), random(n, n, seed + 7, 0);
    extend_to_binary128<<<1024, 256>>>(hi.data(), random.data(), hi.count(),
                                       reinterpret_cast<ulonglong2*>(memory_.data()));
    check(cudaDeviceSynchronize(), "data");
  }
  binary128* data() const { return reinterpret_cast<binary128*>(memory_.data()); }

 private:
  DeviceMatrix<double> memory_;
};

// Linear systems in dd and in fp64.
void run_solve(std::int64_t n, const Settings& s) {
  const DeviceMatrix<double> a(n, n, 11, s.phi), b(n, 1, 12, s.phi), x(n, 1), wide(2 * n, 1);
  QuadSolveReport report;
  Timer timer;
  std::vector<double> own, proved, plain;
  const auto solve_in_quad = [&](bool verified) {
    return timer.seconds(1, [&] {
      report = cuda::quad_solve(n, 1, a.data(), n, b.data(), n, reinterpret_cast<dd*>(wide.data()), n,
                                {.verified = verified});
    });
  };
  for (int i = 0; i <= s.groups; ++i) {
    const double seconds = solve_in_quad(false), with_proof = solve_in_quad(true);
    const double solve =
        timer.seconds(1, [&] { (void)cuda::solve(Op::none, n, 1, a.data(), n, b.data(), n, x.data(), n); });
    if (i > 0) own.push_back(seconds), proved.push_back(with_proof), plain.push_back(solve);
  }
  std::printf(
      "{\"n\": %lld, \"quad_solve_seconds\": %.4e, \"proved_seconds\": %.4e, \"solve_seconds\": %.4e, "
      "\"quad_to_solve\": %.2f, \"ok\": %s, \"factors\": \"%s\", \"corrections\": %d, \"backward_error\": %.2e, "
      "\"verified\": %s, \"forward_error\": %.2e}\n",
      static_cast<long long>(n), median(own), median(proved), median(plain), median(own) / median(plain),
      report.ok ? "true" : "false", report.factors.c_str(), report.corrections, report.backward_error,
      report.verified ? "true" : "false", report.forward_error);
  std::fflush(stdout);
}

// Results rounded once, complex products and enclosures: of each form its time beside fp64 and cuBLAS.
void run_forms(std::int64_t n, const Settings& s) {
  const DdMatrix wide_a(n, 1, s.phi), wide_b(n, 2, s.phi), wide_c(2 * n);
  const DeviceMatrix<double> a(n, n, 3, s.phi), b(n, n, 4, s.phi), c(n, n), d(n, n), e(n, 2 * n, 5, s.phi),
      f(n, 2 * n, 6, s.phi), g(n, 2 * n), radius(n, n, 7, 0);
  square<<<1024, 256>>>(radius.data(), radius.count());
  const Binary128Matrix longest_a(n, 8, s.phi), longest_b(n, 9, s.phi);
  auto* const longest_c = reinterpret_cast<binary128*>(wide_c.data());
  using Complex = std::complex<double>;
  const double one = 1, zero = 0;
  const auto quad = [&](auto* x, auto* y, auto* z, const char* contract) {
    QuadOptions options;
    options.contract = QuadContract::parse(contract);
    cuda::quad_gemm(Op::none, Op::none, n, n, n, 1.0, x, n, y, n, 0.0, z, n, options);
  };
  const auto product = [&](const char* engine) {
    cuda::gemm(Op::none, Op::none, n, n, n, &one, a.data(), n, b.data(), n, &zero, c.data(), n,
               {.contract = Contract::fp64(), .engine = engine});
  };
  const auto* const x = reinterpret_cast<const Complex*>(e.data());
  const auto* const y = reinterpret_cast<const Complex*>(f.data());
  auto* const z = reinterpret_cast<complex_dd*>(wide_c.data());
  const std::pair<const char*, std::function<void()>> calls[] = {
      {"fp64", [&] { product(""); }},
      {"cublas", [&] { product("native"); }},
      {"doubles", [&] { quad(a.data(), b.data(), wide_c.data(), "dd"); }},
      {"doubles_exact_up", [&] { quad(a.data(), b.data(), wide_c.data(), "exact+up"); }},
      {"dd_by_double", [&] { quad(wide_a.data(), b.data(), wide_c.data(), "dd"); }},
      {"dd_exact", [&] { quad(wide_a.data(), wide_b.data(), wide_c.data(), "exact"); }},
      {"dd_exact_up", [&] { quad(wide_a.data(), wide_b.data(), wide_c.data(), "exact+up"); }},
      {"binary128", [&] { quad(longest_a.data(), longest_b.data(), longest_c, "fp128"); }},
      {"binary128_exact", [&] { quad(longest_a.data(), longest_b.data(), longest_c, "exact"); }},
      {"complex_doubles", [&] { quad(x, y, z, "dd"); }},
      {"interval",
       [&] {
         cuda::interval_gemm<double>(Op::none, Op::none, n, n, n, a.data(), radius.data(), n, b.data(), radius.data(),
                                     n, c.data(), d.data(), n);
       }},
      {"point_interval_ends",
       [&] {
         cuda::interval_gemm_ends<double>(Op::none, Op::none, n, n, n, a.data(), a.data(), n, b.data(), b.data(), n,
                                          c.data(), d.data(), n);
       }},
      {"complex_interval", [&] {
         cuda::interval_gemm<Complex>(Op::none, Op::none, n, n, n, x, radius.data(), n, y, radius.data(), n,
                                      reinterpret_cast<Complex*>(g.data()), d.data(), n);
       }}};
  Timer timer;
  std::printf("{\"n\": %lld, \"phi\": %g, \"seconds\": {", static_cast<long long>(n), s.phi);
  const char* comma = "";
  for (const auto& [name, call] : calls) {
    call();
    std::vector<double> times;
    for (int i = 0; i < s.groups; ++i) times.push_back(timer.seconds(1, call));
    std::printf("%s\"%s\": %.4e", comma, name, median(times));
    comma = ", ";
  }
  std::printf("}}\n");
  std::fflush(stdout);
}

}  // namespace
}  // namespace vernier::bench

int main(int argc, char** argv) {
  using namespace vernier::bench;
  Settings s;
  std::vector<std::int64_t> sizes;
  return program("vernier-gpu-quad-bench", argc, argv,
                 {{"--phi", &s.phi},
                  {"--seconds", &s.seconds},
                  {"--groups", &s.groups},
                  {"--forms", &s.forms},
                  {"--solve", &s.solve},
                  {"n", &sizes}},
                 [&] {
                   for (const std::int64_t n : sizes) s.solve ? run_solve(n, s) : s.forms ? run_forms(n, s) : run(n, s);
                 });
}
