// Operations a second of each int8 engine that runs here: one modulus, m = n = k = 1024, one thread, reduction
// included.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <random>

#include "engine/int8_engine.hpp"

namespace {

struct Free {
  void operator()(void* p) const { std::free(p); }
};

using Bytes = std::unique_ptr<std::int8_t, Free>;

Bytes aligned_bytes(std::size_t bytes) {
  return Bytes(static_cast<std::int8_t*>(std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096)));
}

Bytes random_residues(std::size_t bytes, int modulus) {
  std::mt19937 generator(1);
  std::uniform_int_distribution<int> residue(-(modulus - 1) / 2, (modulus - 1) / 2);
  Bytes data = aligned_bytes(bytes);
  std::generate_n(data.get(), bytes, [&] { return static_cast<std::int8_t>(residue(generator)); });
  return data;
}

void multiply(benchmark::State& state, const vernier::Int8Engine& engine) {
  constexpr std::int64_t n = 1024, strips = n / vernier::strip_size, block = 16;  // rows of 512: 512 KiB
  constexpr int modulus = 251;
  const Bytes rows = random_residues(n * n, modulus), columns = random_residues(n * n, modulus);
  const Bytes out = aligned_bytes(n * n), scratch = aligned_bytes(engine.scratch_bytes());
  engine.enter_thread();
  for (auto _ : state)
    for (std::int64_t v = 0; v < strips; v += block)
      engine.multiply({.columns = columns.get(),
                       .column_strips = strips,
                       .rows = rows.get() + v * vernier::strip_size * n,
                       .row_strips = block,
                       .steps = n / vernier::step_size,
                       .modulus = modulus,
                       .out = out.get() + v * vernier::block_elements,
                       .out_strips = strips,
                       .scratch = scratch.get()});
  engine.leave_thread();
  state.counters["ops"] =
      benchmark::Counter(2.0 * n * n * n, benchmark::Counter::kIsIterationInvariantRate, benchmark::Counter::kIs1000);
}

const bool registered = [] {
  for (const vernier::Int8Engine* engine : vernier::int8_engines())
    if (engine->missing().empty())
      benchmark::RegisterBenchmark(std::string(engine->name()).c_str(),
                                   [engine](benchmark::State& state) { multiply(state, *engine); });
  return true;
}();

}  // namespace
