// The complex product as one real product of twice the rows and twice k: copies and plan on CPU and GPU, and what a CPU
// makes of it.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>

#include "base/workspace.hpp"
#include "product/call.hpp"

namespace vernier {

// Real copies of the operands, and T where alpha or beta is not real or not known.
template <class R>
struct ComplexCopies {
  R* a = nullptr;  // op(A) none: 2m x 2k, else its transpose
  R* b = nullptr;  // only where op(B) is a transpose: n x 2k
  std::complex<R>* t = nullptr;
};

template <class R>
ComplexCopies<R> carve_copies(Arena& arena, std::int64_t m, std::int64_t n, std::int64_t k, bool b, bool t) {
  const auto elements = [](std::int64_t x, std::int64_t y) { return size_product({x, y}); };
  ComplexCopies<R> copies;
  copies.a = arena.take<R>(elements(2 * m, 2 * k));
  if (b) copies.b = arena.take<R>(elements(n, 2 * k));
  if (t) copies.t = arena.take<std::complex<R>>(elements(m, n));
  return copies;
}

template <class R>
std::size_t copies_bytes(std::int64_t m, std::int64_t n, std::int64_t k, bool b, bool t) {
  Arena count;
  carve_copies<R>(count, m, n, k, b, t);
  return count.used();
}

// The plan of the real product as one of the complex product.
inline void relabel(Plan& plan, std::int64_t m, std::int64_t n, std::int64_t k) {
  plan.type = "complex " + plan.type;
  plan.m = m;
  plan.n = n;
  plan.k = k;
}

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

template <class R>
Report complex_gemm(const ComplexProblem<R>& problem, const Options& options);

template <class R>
Plan complex_plan(std::int64_t m, std::int64_t n, std::int64_t k, const Options& options);

template <class R>
std::size_t complex_workspace(std::int64_t m, std::int64_t n, std::int64_t k, const Options& options, bool least);

}  // namespace vernier
