// The complex product as one real product of twice the rows and twice k: copies and plan on CPU and GPU.
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
  ComplexCopies<R> copies;
  copies.a = arena.take<R>(size_product({2 * m, 2 * k}));
  if (b) copies.b = arena.take<R>(size_product({n, 2 * k}));
  if (t) copies.t = arena.take<std::complex<R>>(size_product({m, n}));
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

template <class R>
void complex_gemm(const ComplexProblem<R>& problem, const Options& options, Report& report);

template <class R>
Plan complex_plan(std::int64_t m, std::int64_t n, std::int64_t k, const Options& options);

template <class R>
std::size_t complex_workspace(std::int64_t m, std::int64_t n, std::int64_t k, const Options& options, bool least);

}  // namespace vernier
