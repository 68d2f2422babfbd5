// Checks of arguments, wherever the matrices are, in words that name the routine, the argument, its value and what was
// expected; and the operands as the schemes see them.
#pragma once

#include <cstdint>

#include "base/status.hpp"
#include "product/operand.hpp"
#include "product/plan/native_cost.hpp"
#include "vernier/vernier.hpp"

namespace vernier {

inline bool valid(Op op) { return op == Op::none || op == Op::transpose || op == Op::conjugate_transpose; }

// 0 or more, and at most 2^40.
void check_dimension(const char* routine, const char* name, std::int64_t value);
// Of a matrix that the caller has or wants: so small that no size in bytes that is made from it overflows.
void check_area(const char* routine, std::int64_t rows, std::int64_t columns);
void check_leading(const char* routine, const char* name, std::int64_t value, std::int64_t rows);
void check_pointer(const char* routine, const char* name, bool read, const void* pointer);
void check_operands(const char* routine, bool read, const void* A, const void* B);
void check_contract(const char* routine, const Contract& contract);
void check_options(const char* routine, const Options& options);

// Of data whose spans no number of moduli holds, where nothing else keeps the contract.
[[noreturn]] void fail_beyond_scheme(const Contract& contract, int span_a, int span_b);

// Of complex matrices under contract exact, where an entry of C is rounded part by part.
[[noreturn]] void fail_exact_factors(const char* where = "");

// In the order of the reference BLAS: transa, transb, m, n, k.
void check_shape(const char* routine, Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k);
// These, then lda, ldb, ldc.
void check_sizes(const char* routine, Op opa, Op opb, const ProductShape& shape, std::int64_t lda, std::int64_t ldb,
                 std::int64_t ldc);

template <class T>
Operand<T> rows_of(Op op, const T* a, std::int64_t m, std::int64_t k, std::int64_t lda) {
  return {.data = a, .vectors = m, .k = k, .ld = lda, .k_contiguous = op != Op::none};
}

template <class T>
Operand<T> columns_of(Op op, const T* b, std::int64_t n, std::int64_t k, std::int64_t ldb) {
  return {.data = b, .vectors = n, .k = k, .ld = ldb, .k_contiguous = op == Op::none};
}

}  // namespace vernier
