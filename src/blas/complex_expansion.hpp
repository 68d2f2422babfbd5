// Copies of complex operands for real products, as a CPU makes them, and C from what these leave.
#pragma once

#include <complex>
#include <cstdint>

#include "base/environment.hpp"
#include "product/call.hpp"
#include "product/update.hpp"

namespace vernier {

// op(A), m x k, for ComplexCopies::a. A stored column becomes two: of A as it is (Re, Im) pairs and (-Im, Re) pairs, of
// a transpose, whose rows they are, (Re, -Im) pairs and (Im, Re) pairs.
template <class R>
void expand(Op op, std::int64_t m, std::int64_t k, const std::complex<R>* a, std::int64_t lda, R* out, int threads) {
  const std::int64_t length = op == Op::none ? m : k, lines = op == Op::none ? k : m;
  const R sign = op == Op::transpose ? -1 : 1;
#pragma omp parallel for schedule(static) num_threads(threads)
  for (std::int64_t l = 0; l < lines; ++l) {
    R* real = out + 4 * length * l;
    R* imaginary = real + 2 * length;
    for (std::int64_t i = 0; i < length; ++i) {
      const R re = a[i + l * lda].real(), im = sign * a[i + l * lda].imag();
      real[2 * i] = re;
      real[2 * i + 1] = im;
      imaginary[2 * i] = -im;
      imaginary[2 * i + 1] = re;
    }
  }
}

// Column l of a stored B, which is row l of op(B), becomes two: its real and its imaginary parts.
template <class R>
void part_columns(const std::complex<R>* b, std::int64_t n, std::int64_t k, std::int64_t ldb, bool conjugated, R* out,
                  int threads) {
#pragma omp parallel for schedule(static) num_threads(threads)
  for (std::int64_t l = 0; l < k; ++l) {
    R* real = out + 2 * n * l;
    R* imaginary = real + n;
    for (std::int64_t j = 0; j < n; ++j) {
      const std::complex<R> z = b[j + l * ldb];
      real[j] = z.real();
      imaginary[j] = conjugated ? -z.imag() : z.imag();
    }
  }
}

// C from T, whose entries parts(i, j) reads.
template <class R, class Parts>
void update(const ComplexProblem<R>& p, int threads, const Parts& parts) {
#pragma omp parallel for schedule(static) num_threads(threads)
  for (std::int64_t j = 0; j < p.n; ++j) {
    const FloatingEnvironment environment;
    std::complex<R>* c = p.c + j * p.ldc;
    for (std::int64_t i = 0; i < p.m; ++i) c[i] = updated(p.alpha, parts(i, j), p.beta, c[i]);
  }
}

}  // namespace vernier
