// Multiply-adds a second of replayed products on one core, for each vector path that runs here: C += A B with
// m = n = 256, k = 1024, uniform data.
#include <benchmark/benchmark.h>
#include <omp.h>

#include <cstring>
#include <random>
#include <vector>

#include "model/replay.hpp"
#include "model/tile.hpp"

namespace {

using namespace vernier::model;

void replay(benchmark::State& state, const char* path, const Engine& engine) {
  constexpr std::int64_t n = 256, k = 1024;
  std::mt19937 generator(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const auto random_operand = [&](Format format) {
    std::vector<char> data(static_cast<std::size_t>(n * k * storage_bytes(format)));
    for (std::size_t at = 0; at < data.size(); at += static_cast<std::size_t>(storage_bytes(format))) {
      const std::uint64_t word = encode(format, uniform(generator));
      std::memcpy(&data[at], &word, static_cast<std::size_t>(storage_bytes(format)));
    }
    return data;
  };
  const std::vector<char> a = random_operand(engine.a), b = random_operand(engine.b);
  std::vector<float> c(n * n);
  omp_set_num_threads(1);
  for (auto _ : state) multiply_on(path, engine, {}, n, n, k, {a.data(), k, b.data(), k, c.data(), c.data(), n});
  state.counters["multiply-adds"] =
      benchmark::Counter(1.0 * n * n * k, benchmark::Counter::kIsIterationInvariantRate, benchmark::Counter::kIs1000);
}

const bool registered = [] {
  for (const char* path : {"avx512", "avx2"})
    for (const char* name : {"volta-fp16-fp32", "turing-fp16-fp32", "ampere-tf32-fp32", "hopper-wgmma-fp16-fp32",
                             "hopper-wgmma-bf16-fp32"})
      if (find_vector_path(path) != nullptr)
        benchmark::RegisterBenchmark((std::string("replay/") + path + "/" + name).c_str(),
                                     [=](benchmark::State& state) { replay(state, path, find_engine(name).engine); });
  return true;
}();

}  // namespace
