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

// Seconds of such a product, as far as a few elements tell; infinite where it is not made.
double nonzeros_seconds(const GemmProblem<double>& problem, int threads);

// An entry is the sum of its terms in the order of k, fused, in parts that go to two sums in turns, about as
// many each as terms of a part: its error is at most (terms + 1) 2^-53 |A||B|, and in the mean no larger than that of
// sums by blocks of k. False, with C untouched: no operand has few nonzeros, the other one is not finite, the other
// method takes less, or there is no AVX-512.
bool multiply_nonzeros(const GemmProblem<double>& problem, const NonzeroRequest& request, Progress& progress);

// A nonzero element of a vector.
struct Nonzero {
  double element;
  std::int64_t k;
};

// Those of each vector of a strip, at terms + k * vector, by rising k; counts: 32.
void take_nonzeros_avx512(const Operand<double>& strip, Nonzero* terms, std::int64_t* counts);
// T of one vector and the 32 of a panel, [k][32].
void multiply_nonzeros_avx512(const Nonzero* terms, std::int64_t count, const double* panel, double* out);

}  // namespace vernier
