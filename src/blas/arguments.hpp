// What gemm asks of its arguments, wherever the matrices are, and the operands as the schemes see them.
#pragma once

#include "base/status.hpp"
#include "scheme/operand.hpp"
#include "vernier/vernier.hpp"

namespace vernier {

inline bool valid(Op op) { return op == Op::none || op == Op::transpose || op == Op::conjugate_transpose; }

inline void check_contract(const Contract& c) {
  require(c.kind >= Contract::Kind::fp32 && c.kind <= Contract::Kind::bits, "gemm: contract: unknown kind {}",
          static_cast<int>(c.kind));
  const int n = c.bits_asked;
  if (c.kind == Contract::Kind::bits)
    require(n >= 4 && n <= 110, "gemm: contract: bits({}): expected a number from 4 to 110", n);
  else
    require(n == (c.kind == Contract::Kind::fp32 ? 24 : 53), "gemm: contract: bits_asked = {} does not belong to {}", n,
            c.text());
}

// So that no size in bytes overflows.
inline constexpr std::int64_t largest_dimension = std::int64_t{1} << 40;

inline void check_dimension(const char* name, std::int64_t value) {
  require(value >= 0, "gemm: {} = {}: expected 0 or more", name, value);
  require(value <= largest_dimension, "gemm: {} = {}: expected at most 2^40", name, value);
}

inline void check_leading(const char* name, std::int64_t value, std::int64_t rows) {
  const std::int64_t least = rows > 1 ? rows : 1;
  require(value >= least, "gemm: {} = {}: expected at least {}", name, value, least);
}

// In the order of the reference BLAS: transa, transb, m, n, k, lda, ldb, ldc; the rest after them.
inline void check_shape(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k) {
  require(valid(opa), "gemm: opa = {}: expected none, transpose or conjugate_transpose", static_cast<int>(opa));
  require(valid(opb), "gemm: opb = {}: expected none, transpose or conjugate_transpose", static_cast<int>(opb));
  check_dimension("m", m);
  check_dimension("n", n);
  check_dimension("k", k);
}

inline void check_leading_dimensions(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t lda,
                                     std::int64_t ldb, std::int64_t ldc) {
  check_leading("lda", lda, opa == Op::none ? m : k);
  check_leading("ldb", ldb, opb == Op::none ? k : n);
  check_leading("ldc", ldc, m);
}

template <class T>
Operand<T> rows_of(Op op, const T* a, std::int64_t m, std::int64_t k, std::int64_t lda) {
  return {.data = a, .vectors = m, .k = k, .ld = lda, .k_contiguous = op != Op::none};
}

template <class T>
Operand<T> columns_of(Op op, const T* b, std::int64_t n, std::int64_t k, std::int64_t ldb) {
  return {.data = b, .vectors = n, .k = k, .ld = ldb, .k_contiguous = op == Op::none};
}

}  // namespace vernier
