// Checks of arguments, in words that name the routine, the argument, its value and what was expected.
#pragma once

#include <cstdint>

#include "base/status.hpp"
#include "vernier/vernier.hpp"

namespace vernier {

inline bool valid(Op op) { return op == Op::none || op == Op::transpose || op == Op::conjugate_transpose; }

// 0 or more, and small enough for no size in bytes to overflow.
void check_dimension(const char* routine, const char* name, std::int64_t value);
void check_leading(const char* routine, const char* name, std::int64_t value, std::int64_t rows);
void check_pointer(const char* routine, const char* name, bool read, const void* pointer);
void check_options(const char* routine, const Options& options);

// In the order of the reference BLAS: transa, transb, m, n, k.
void check_shape(const char* routine, Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k);

}  // namespace vernier
