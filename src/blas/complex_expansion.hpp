// Complex matrices as real ones of twice the rows or columns, on a CPU.
#pragma once

#include <complex>
#include <cstdint>

namespace vernier {

// Column l of A becomes two: (Re, Im) pairs, and (-Im, Re) pairs.
template <class R>
void expand_columns(const std::complex<R>* a, std::int64_t m, std::int64_t k, std::int64_t lda, R* out, int threads) {
#pragma omp parallel for schedule(static) num_threads(threads)
  for (std::int64_t l = 0; l < k; ++l) {
    R* real = out + 4 * m * l;
    R* imaginary = real + 2 * m;
    for (std::int64_t i = 0; i < m; ++i) {
      const std::complex<R> z = a[i + l * lda];
      real[2 * i] = z.real();
      real[2 * i + 1] = z.imag();
      imaginary[2 * i] = -z.imag();
      imaginary[2 * i + 1] = z.real();
    }
  }
}

// Column i of a stored A, which is row i of op(A), becomes two: (Re, -Im) pairs and (Im, Re) pairs.
template <class R>
void expand_rows(const std::complex<R>* a, std::int64_t m, std::int64_t k, std::int64_t lda, bool conjugated, R* out,
                 int threads) {
#pragma omp parallel for schedule(static) num_threads(threads)
  for (std::int64_t i = 0; i < m; ++i) {
    R* real = out + 4 * k * i;
    R* imaginary = real + 2 * k;
    for (std::int64_t l = 0; l < k; ++l) {
      const std::complex<R> z = conjugated ? std::conj(a[l + i * lda]) : a[l + i * lda];
      real[2 * l] = z.real();
      real[2 * l + 1] = -z.imag();
      imaginary[2 * l] = z.imag();
      imaginary[2 * l + 1] = z.real();
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

}  // namespace vernier
