// The work of potrf and potrs, without the checks.
#pragma once

#include <cstdint>

#include "lapack/level3.hpp"

namespace vernier {

template <class T>
std::int64_t factor_cholesky(const Level3<T>& level3, Uplo uplo, std::int64_t n, T* a, std::int64_t lda);

template <class T>
void solve_with_cholesky(const Level3<T>& level3, Uplo uplo, std::int64_t n, std::int64_t nrhs, const T* a,
                         std::int64_t lda, T* b, std::int64_t ldb);

}  // namespace vernier
