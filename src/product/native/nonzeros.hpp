// Products of an operand that is zero nearly everywhere, by its nonzero elements alone, on AVX-512.
#pragma once

#include <cstddef>

#include "product/operand.hpp"
#include "product/progress.hpp"

namespace vernier {

// What it may take, and whose memory.
struct NonzeroRequest {
  int threads = 1;
  double seconds = 0;      // of another method
  std::size_t bytes = 0;   // of memory, at most
  void* memory = nullptr;  // the caller's own; null: none
};

// Each entry is a sum of its terms in the order of k, by fused operations, in parts of about as many terms as parts:
// its error is at most (terms + 1) 2^-53 |A||B|, and in the mean no larger than that of sums in blocks of k. False,
// with C untouched: neither operand has few nonzeros, the other one is not finite, seconds are fewer, or there is no
// AVX-512.
bool multiply_nonzeros(const GemmProblem<double>& problem, const NonzeroRequest& request, Progress& progress);

// ---- what AVX-512 does

// The nonzero elements of one vector: elements and their k.
struct Nonzeros {
  const double* elements = nullptr;
  const std::uint32_t* ks = nullptr;
  std::int64_t count = 0;
};

// Of each vector of a strip, whose lists begin `most` apart; counts: 32.
void take_nonzeros_avx512(const Operand<double>& strip, std::int64_t most, double* elements, std::uint32_t* ks,
                          std::int64_t* counts);
// T of one vector and the 32 of a panel, [k][32].
void multiply_nonzeros_avx512(const Nonzeros& x, const double* panel, double* out);

}  // namespace vernier
