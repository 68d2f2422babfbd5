// vernier-gpu-bench: products on a GPU beside cuBLAS's own, in one process and in turns: one JSON object a line.
//
//     vernier-gpu-bench [--contract fp64] [--phi 0.5] [--engine NAME] [--groups 7] [--seconds 0.05] [--once]
//     [--strassen -1|0|1] [--asynchronous] [--batch COUNT] [--rest] [--energy] [--wide-rows COUNT] M,N,K[,BETA]
//     ...
//     vernier-gpu-bench [--groups 7] --sweep
//
// Times are medians over groups of calls, each about --seconds long; errors are relative to |A||B|, of 64 x 64 sampled
// entries against sums in twice the working precision. --rest adds the median of single calls after a pause, --energy
// the joules of a product over a second of them, as the card counts. --batch: that many products at a time. --once runs
// each product once, for a profiler. --wide-rows: that many rows of A, the first ones, have exponents up to 40 apart.
// --sweep: many shapes, and data of two kinds, as gemm_sweep.hpp has them.
#include <cuda_runtime.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "energy.hpp"
#include "gemm_sweep.hpp"
#include "measure.cuh"
#include "program.hpp"
#include "vernier/cuda_level3.hpp"

namespace {

using vernier::bench::check, vernier::bench::fill, vernier::bench::median, vernier::bench::Timer;

constexpr int samples = 64;  // a side

struct Case {
  std::int64_t m, n, k;
  double beta;
};

// Errors of two results at sampled entries, against a sum in twice the precision; all matrices column-major and dense.
__global__ void sample_errors(Case s, const double* a, const double* b, const double* c0, const double* x,
                              const double* y, double* errors) {
  const long long m = s.m, n = s.n, k = s.k;
  const double beta = s.beta;
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  const long long i = t % samples * 97ll % m, j = t / samples * 89ll % n;
  double high = 0, low = 0, magnitude = 0;
  for (long long l = 0; l < k; ++l) {
    const double p = a[i + l * m] * b[l + j * k], e = fma(a[i + l * m], b[l + j * k], -p);
    const double s = high + p, v = s - high;
    low += ((high - (s - v)) + (p - v)) + e;
    high = s;
    magnitude += fabs(p);
  }
  if (beta != 0) {
    const double p = beta * c0[i + j * m], s = high + p, v = s - high;
    low += ((high - (s - v)) + (p - v)) + fma(beta, c0[i + j * m], -p);
    high = s;
    magnitude += fabs(p);
  }
  errors[2 * t] = fabs((x[i + j * m] - high) - low) / magnitude;
  errors[2 * t + 1] = fabs((y[i + j * m] - high) - low) / magnitude;
}

struct Settings {
  std::string contract = "fp64", engine;
  double phi = 0.5, seconds = 0.05;
  int groups = 7;
  std::int64_t strassen_levels = -1, wide_rows = 0;
  std::int64_t batch = 0;  // products of a strided batch; 0: one product
  bool once = false, rest = false, energy = false, asynchronous = false, sweep = false;
};

// Neighbours along k are up to 2^40 apart.
__global__ void widen_rows(double* a, std::int64_t lda, std::int64_t k, std::int64_t rows) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; at < rows * k; at += step)
    a[at % rows + at / rows * lda] *= ldexp(1.0, static_cast<int>(at / rows * 7 % 41));
}

double* device_array(std::size_t count) {
  double* x = nullptr;
  check(cudaMalloc(&x, count * sizeof(double)), "memory");
  return x;
}

template <class Body>
double seconds_from_rest(Timer& timer, const Body& body) {
  constexpr int warm_up = 2, repetitions = 7, pause_us = 200000;
  check(cudaDeviceSynchronize(), "rest");
  usleep(pause_us);
  std::vector<double> t;
  for (int i = 0; i < warm_up + repetitions; ++i) {
    const double seconds = timer.seconds(1, body);
    if (i >= warm_up) t.push_back(seconds);
  }
  return median(t);
}

// The counter moves every 20 to 100 ms.
template <class Body>
double joules(Timer& timer, double seconds, const Body& body) {
  const vernier::bench::EnergyMeter meter;
  const int count = std::max(1, static_cast<int>(1.0 / seconds));
  timer.seconds(std::max(1, count / 8), body);
  const double before = meter.joules();
  timer.seconds(count, body);
  return (meter.joules() - before) / count;
}

void run(const Case& c, const Settings& settings) {
  const auto size = [](std::int64_t rows, std::int64_t columns) { return static_cast<std::size_t>(rows * columns); };
  double *a = device_array(size(c.m, c.k)), *b = device_array(size(c.k, c.n)), *x = device_array(size(c.m, c.n)),
         *y = device_array(size(c.m, c.n)), *errors = device_array(2 * samples * samples);
  fill<<<1024, 256>>>(a, size(c.m, c.k), 1, settings.phi);
  if (settings.wide_rows > 0) widen_rows<<<256, 256>>>(a, c.m, c.k, std::min(settings.wide_rows, c.m));
  fill<<<1024, 256>>>(b, size(c.k, c.n), 2, settings.phi);
  const double one = 1;
  vernier::cuda::Options mine{.contract = vernier::Contract::parse(settings.contract),
                              .engine = settings.engine,
                              .asynchronous = settings.asynchronous,
                              .strassen_levels = static_cast<int>(settings.strassen_levels)};
  vernier::cuda::Options theirs{.engine = "native"};
  vernier::Report report;
  vernier::cuda::Outcome* outcome = nullptr;
  check(cudaMallocHost(reinterpret_cast<void**>(&outcome), sizeof *outcome), "outcome");
  if (settings.asynchronous) mine.outcome = outcome;
  const auto ours = [&] {
    report = vernier::cuda::gemm(vernier::Op::none, vernier::Op::none, c.m, c.n, c.k, &one, a, c.m, b, c.k, &c.beta, x,
                                 c.m, mine);
  };
  const auto cublas = [&] {
    vernier::cuda::gemm(vernier::Op::none, vernier::Op::none, c.m, c.n, c.k, &one, a, c.m, b, c.k, &c.beta, y, c.m,
                        theirs);
  };
  // Errors first: with beta, C changes from call to call.
  double* c0 = device_array(c.beta != 0 ? size(c.m, c.n) : 1);
  fill<<<1024, 256>>>(x, size(c.m, c.n), 3, settings.phi);
  if (c.beta != 0) check(cudaMemcpy(c0, x, size(c.m, c.n) * sizeof(double), cudaMemcpyDeviceToDevice), "copy");
  check(cudaMemcpy(y, x, size(c.m, c.n) * sizeof(double), cudaMemcpyDeviceToDevice), "copy");
  ours();
  cublas();
  sample_errors<<<samples * samples / 64, 64>>>(c, a, b, c0, x, y, errors);
  std::vector<double> e(2 * samples * samples);
  check(cudaMemcpy(e.data(), errors, e.size() * sizeof(double), cudaMemcpyDeviceToHost), "errors");
  if (settings.asynchronous) vernier::cuda::complete_report(report, *outcome);
  if (!mine.contract.reproducible) mine.outcome = nullptr;  // the copy is not timed where it need not be
  const vernier::Report completed = report;
  double mean[2] = {}, largest[2] = {};
  for (std::size_t i = 0; i < e.size(); ++i) {
    mean[i % 2] += e[i] / (samples * samples);
    largest[i % 2] = std::isnan(e[i]) ? e[i] : std::max(largest[i % 2], e[i]);
  }
  Timer timer;
  std::vector<double> t_ours, t_cublas, ratios;
  if (!settings.once) {
    const auto repeats = [&](double t) { return std::clamp(static_cast<int>(settings.seconds / t), 1, 2000); };
    ours(), cublas();
    const int n_ours = repeats(timer.seconds(3, ours)), n_cublas = repeats(timer.seconds(3, cublas));
    for (int g = 0; g < settings.groups; ++g) {
      t_ours.push_back(timer.seconds(n_ours, ours));
      t_cublas.push_back(timer.seconds(n_cublas, cublas));
      ratios.push_back(t_cublas.back() / t_ours.back());
    }
    const double operations = 2.0 * static_cast<double>(c.m) * static_cast<double>(c.n) * static_cast<double>(c.k);
    std::printf(
        "{\"m\": %lld, \"n\": %lld, \"k\": %lld, \"beta\": %g, \"phi\": %g, \"wide_rows\": %lld, \"contract\": "
        "\"%s\", \"scheme\": \"%s\", "
        "\"engine\": \"%s\", \"asynchronous\": %s, \"strassen\": %s, \"moduli\": %d, \"wide_moduli\": %d, "
        "\"fallback\": %s, \"seconds\": "
        "%.4e, "
        "\"cublas_seconds\": %.4e, \"tflops\": %.2f, \"cublas_tflops\": %.2f, \"ratio\": %.3f, \"ratio_low\": %.3f, "
        "\"ratio_high\": %.3f, \"mean_error\": %.2e, \"largest_error\": %.2e, \"cublas_mean_error\": %.2e, "
        "\"cublas_largest_error\": %.2e",
        static_cast<long long>(c.m), static_cast<long long>(c.n), static_cast<long long>(c.k), c.beta, settings.phi,
        static_cast<long long>(settings.wide_rows), settings.contract.c_str(), completed.plan.scheme.c_str(),
        completed.plan.engine.c_str(), settings.asynchronous ? "true" : "false",
        completed.plan.reason.find("Strassen") != std::string::npos ? "true" : "false", completed.plan.moduli,
        completed.wide_moduli, completed.fallback ? "true" : "false", median(t_ours), median(t_cublas),
        operations / median(t_ours) * 1e-12, operations / median(t_cublas) * 1e-12, median(ratios),
        *std::min_element(ratios.begin(), ratios.end()), *std::max_element(ratios.begin(), ratios.end()), mean[0],
        largest[0], mean[1], largest[1]);
    if (settings.rest)
      std::printf(", \"rest_seconds\": %.4e, \"cublas_rest_seconds\": %.4e", seconds_from_rest(timer, ours),
                  seconds_from_rest(timer, cublas));
    if (settings.energy)
      std::printf(", \"joules\": %.5g, \"cublas_joules\": %.5g", joules(timer, median(t_ours), ours),
                  joules(timer, median(t_cublas), cublas));
    std::printf("}\n");
    std::fflush(stdout);
  }
  for (double* p : {a, b, c0, x, y, errors}) check(cudaFree(p), "free");
  check(cudaFreeHost(outcome), "free");
  if (c.m * c.n > (1ll << 26)) vernier::cuda::release_workspace();
}

// A batch of products, side by side in memory.
void run_batch(const Case& c, const Settings& settings) {
  const std::int64_t a_size = c.m * c.k, b_size = c.k * c.n, c_size = c.m * c.n, count = settings.batch;
  const vernier::bench::DeviceMatrix<double> a(a_size, count, 1, settings.phi), b(b_size, count, 2, settings.phi),
      x(c_size, count), y(c_size, count);
  const double one = 1, zero = 0;
  vernier::Report report;
  const auto multiply = [&](double* out, const vernier::cuda::Options& options) {
    return vernier::cuda::gemm_strided_batched(vernier::Op::none, vernier::Op::none, c.m, c.n, c.k, &one, a.data(), c.m,
                                               a_size, b.data(), c.k, b_size, &zero, out, c.m, c_size, count, options);
  };
  const vernier::cuda::Options mine{.contract = vernier::Contract::parse(settings.contract), .engine = settings.engine};
  const auto ours = [&] { report = multiply(x.data(), mine); };
  const auto cublas = [&] { multiply(y.data(), {.engine = "native"}); };
  Timer timer;
  ours(), cublas();
  const auto repeats = [&](const auto& body) {
    return std::clamp(static_cast<int>(settings.seconds / timer.seconds(1, body)), 1, 2000);
  };
  const int n_ours = repeats(ours), n_cublas = repeats(cublas);
  std::vector<double> t_ours, t_cublas, ratios;
  for (int g = 0; g < settings.groups; ++g) {
    t_ours.push_back(timer.seconds(n_ours, ours));
    t_cublas.push_back(timer.seconds(n_cublas, cublas));
    ratios.push_back(t_cublas.back() / t_ours.back());
  }
  std::printf(
      "{\"batch\": %lld, \"m\": %lld, \"n\": %lld, \"k\": %lld, \"phi\": %g, \"contract\": \"%s\", \"scheme\": \"%s\", "
      "\"seconds\": %.4e, \"cublas_seconds\": %.4e, \"ratio\": %.3f}\n",
      static_cast<long long>(count), static_cast<long long>(c.m), static_cast<long long>(c.n),
      static_cast<long long>(c.k), settings.phi, settings.contract.c_str(), report.plan.scheme.c_str(), median(t_ours),
      median(t_cublas), median(ratios));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  Settings s;
  std::vector<std::string> shapes;
  const std::vector<vernier::bench::ProgramOption> options = {{"--contract", &s.contract},
                                                              {"--engine", &s.engine},
                                                              {"--phi", &s.phi},
                                                              {"--seconds", &s.seconds},
                                                              {"--groups", &s.groups},
                                                              {"--wide-rows", &s.wide_rows},
                                                              {"--strassen", &s.strassen_levels},
                                                              {"--batch", &s.batch},
                                                              {"--asynchronous", &s.asynchronous},
                                                              {"--rest", &s.rest},
                                                              {"--energy", &s.energy},
                                                              {"--sweep", &s.sweep},
                                                              {"--once", &s.once},
                                                              {"shapes", &shapes}};
  return vernier::bench::program("vernier-gpu-bench", argc, argv, options, [&] {
    if (s.sweep) bench::sweep_gemm(s.groups);
    for (const std::string& shape : shapes) {
      long long m = 0, n = 0, k = 0;
      double beta = 0;
      if (std::sscanf(shape.c_str(), "%lld,%lld,%lld,%lf", &m, &n, &k, &beta) < 3)
        throw std::invalid_argument(shape + ": expected M,N,K[,BETA]");
      s.batch > 0 ? run_batch({m, n, k, beta}, s) : run({m, n, k, beta}, s);
    }
  });
}
