// The order of a replayed product, and replays on a chosen vector path.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/spec.hpp"

namespace vernier::model {

struct StripOperands {  // as in multiply()
  const void* A;
  std::int64_t lda;
  const void* B;
  std::int64_t ldb;
  const void* C;
  void* D;
  std::int64_t ldc;
};

// Is this a kind of engine that the vector path computes?
bool vector_path_fits(const Engine& engine);

// multiply() on one path: "avx512", "avx2", "scalar", or "" for the best.
void multiply_on(std::string_view path, const Engine& engine, const Replay& replay, std::int64_t m, std::int64_t n,
                 std::int64_t k, const StripOperands& operands);

// a + b to nearest in engine.c; integers wrap.
std::uint64_t add_outside(const Engine& engine, std::uint64_t a, std::uint64_t b);

}  // namespace vernier::model
