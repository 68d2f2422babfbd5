// Repeated products with one A: unprepared, A prepared, both prepared. Arguments: m, n, k; threads: OMP_NUM_THREADS.
#include <benchmark/benchmark.h>

#include <cmath>
#include <random>
#include <vector>

#include "vernier/prepared.hpp"

namespace vernier {
namespace {

std::vector<double> matrix(std::int64_t rows, std::int64_t columns, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-0.5, 0.5);
  std::normal_distribution<double> normal;
  std::vector<double> x(static_cast<std::size_t>(rows * columns));
  for (double& e : x) e = uniform(random) * std::exp(0.5 * normal(random));
  return x;
}

enum class Prepared { none, a, both };

void products(benchmark::State& state, Prepared which) {
  const std::int64_t m = state.range(0), n = state.range(1), k = state.range(2);
  const std::vector<double> a = matrix(m, k, 1), b = matrix(k, n, 2);
  std::vector<double> c(static_cast<std::size_t>(m * n));
  const Options options{.engine = default_engine() == "native" ? engines().back().name : default_engine()};
  const PreparedOperand<double> left(Side::left, Op::none, m, k, a.data(), m, options);
  const PreparedOperand<double> right(Side::right, Op::none, k, n, b.data(), k, options);
  for (auto _ : state) {
    if (which == Prepared::none)
      gemm(Op::none, Op::none, m, n, k, 1.0, a.data(), m, b.data(), k, 0.0, c.data(), m, options);
    else if (which == Prepared::a)
      gemm(left, Op::none, m, n, k, 1.0, b.data(), k, 0.0, c.data(), m, options);
    else
      gemm(left, right, m, n, k, 1.0, 0.0, c.data(), m, options);
    benchmark::ClobberMemory();
  }
  state.SetLabel(options.engine);
  state.counters["GFLOP/s"] = benchmark::Counter(2e-9 * static_cast<double>(m * n) * static_cast<double>(k),
                                                 benchmark::Counter::kIsIterationInvariantRate);
}

void sizes(benchmark::internal::Benchmark* b) {
  b->Args({1024, 1024, 1024})->Args({4096, 4096, 512})->Args({4096, 64, 4096});
  b->Unit(benchmark::kMillisecond)->UseRealTime();
}
BENCHMARK_CAPTURE(products, unprepared, Prepared::none)->Apply(sizes);
BENCHMARK_CAPTURE(products, a_prepared, Prepared::a)->Apply(sizes);
BENCHMARK_CAPTURE(products, both_prepared, Prepared::both)->Apply(sizes);

}  // namespace
}  // namespace vernier
