#include "product/native/native.hpp"

#include <cblas.h>

#include <algorithm>
#include <complex>
#include <limits>
#include <string>

#include "engine/panel.hpp"
#include "number/complex.hpp"
#include "product/native/native_threads.hpp"
#include "product/progress.hpp"

namespace vernier {
namespace {

// Blocks that a 32-bit integer can count; a leading dimension beyond that walks column by column of the block.
constexpr std::int64_t largest_int = std::numeric_limits<int>::max();
constexpr std::int64_t block = std::int64_t{1} << 30;

// A block of columns, where progress is told of, has as many multiplications at least (a tenth of a second on two
// cores), and as many columns: then all blocks together cost some 4 % more than the whole.
constexpr double told_multiplications = std::int64_t{1} << 32, told_columns = 512;

// Columns of such a block; n: one block is all.
template <class T>
std::int64_t told_block(std::int64_t m, std::int64_t n, std::int64_t k) {
  const double columns = static_cast<double>(n), all = static_cast<double>(m) * columns * static_cast<double>(k);
  const double blocks = std::min({(is_complex<T> ? 4 : 1) * all / told_multiplications, columns / told_columns, 100.0});
  return blocks < 2 ? n : round_up(divide_up(n, static_cast<std::int64_t>(blocks)), 64);
}

CBLAS_TRANSPOSE transposition(Op op) {
  return op == Op::none ? CblasNoTrans : op == Op::transpose ? CblasTrans : CblasConjTrans;
}

void call(Op opa, Op opb, int m, int n, int k, double alpha, const double* a, int lda, const double* b, int ldb,
          double beta, double* c, int ldc) {
  cblas_dgemm(CblasColMajor, transposition(opa), transposition(opb), m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void call(Op opa, Op opb, int m, int n, int k, float alpha, const float* a, int lda, const float* b, int ldb,
          float beta, float* c, int ldc) {
  cblas_sgemm(CblasColMajor, transposition(opa), transposition(opb), m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void call(Op opa, Op opb, int m, int n, int k, std::complex<double> alpha, const std::complex<double>* a, int lda,
          const std::complex<double>* b, int ldb, std::complex<double> beta, std::complex<double>* c, int ldc) {
  cblas_zgemm(CblasColMajor, transposition(opa), transposition(opb), m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc);
}

void call(Op opa, Op opb, int m, int n, int k, std::complex<float> alpha, const std::complex<float>* a, int lda,
          const std::complex<float>* b, int ldb, std::complex<float> beta, std::complex<float>* c, int ldc) {
  cblas_cgemm(CblasColMajor, transposition(opa), transposition(opb), m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc);
}

}  // namespace

template <class T>
void native_gemm(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, T alpha, const T* a, std::int64_t lda,
                 const T* b, std::int64_t ldb, T beta, T* c, std::int64_t ldc, int threads,
                 const std::function<void(double)>& tell) {
  const NativeThreads setting(threads);
  Progress progress(tell);
  // With one column a leading dimension is never used; else it must fit the interface, or the block has one column.
  const bool long_a = lda > largest_int, long_b = ldb > largest_int, long_c = ldc > largest_int;
  const std::int64_t mb = long_a && opa != Op::none ? 1 : block;
  const std::int64_t most = long_c || (long_b && opb == Op::none) ? 1 : block;
  const std::int64_t nb = progress.wanted() ? std::min(most, told_block<T>(m, n, k)) : most;
  const std::int64_t kb = (long_a && opa == Op::none) || (long_b && opb != Op::none) ? 1 : block;
  const auto as_int = [](std::int64_t x) { return static_cast<int>(std::min(x, largest_int)); };
  for (std::int64_t j = 0; j < n; j += nb) {
    for (std::int64_t i = 0; i < m; i += mb)
      for (std::int64_t l = 0; l < std::max<std::int64_t>(k, 1); l += kb) {
        const T* pa = opa == Op::none ? a + i + l * lda : a + l + i * lda;
        const T* pb = opb == Op::none ? b + l + j * ldb : b + j + l * ldb;
        call(opa, opb, as_int(std::min(mb, m - i)), as_int(std::min(nb, n - j)), as_int(std::min(kb, k - l)), alpha, pa,
             as_int(lda), pb, as_int(ldb), l == 0 ? beta : T{1}, c + i + j * ldc, as_int(ldc));
      }
    if (j + nb < n) progress.at(WorkShare{}.at(j + nb, n));
  }
  progress.finish();
}

std::string native_blas() {
  const auto config = native_symbol<char* (*)()>("openblas_get_config");
  return config != nullptr ? std::string(config()) : "BLAS";
}

const std::string& native_name() {
  static const std::string name = [] {
    const std::string all = native_blas();
    return all.substr(0, all.find(' ', all.find(' ') + 1));
  }();
  return name;
}

#define VERNIER_INSTANTIATE(T)                                                                                     \
  template void native_gemm(Op, Op, std::int64_t, std::int64_t, std::int64_t, T, const T*, std::int64_t, const T*, \
                            std::int64_t, T, T*, std::int64_t, int, const std::function<void(double)>&);
VERNIER_INSTANTIATE(float)
VERNIER_INSTANTIATE(double)
VERNIER_INSTANTIATE(std::complex<float>)
VERNIER_INSTANTIATE(std::complex<double>)
#undef VERNIER_INSTANTIATE

}  // namespace vernier
