// Inner loops of factorisations and refinement, compiled for several instruction sets. Every one of them adds in one
// fixed order, so that no set of vector units shows in a result.
#pragma once

#include <bit>
#include <complex>
#include <cstdint>

namespace vernier {

// An fp16 number as it is stored.
struct Half {
  std::uint16_t bits;

  // Without branches: the exponent is moved by 112 through a multiplication, which also makes subnormal numbers normal.
  // Infinities and NaNs do not occur in factors.
  explicit operator double() const {
    const auto magnitude = std::bit_cast<float>(static_cast<std::uint32_t>(bits & 0x7fff) << 13) * 0x1p112f;
    const auto sign = static_cast<std::uint32_t>(bits & 0x8000) << 16;
    return static_cast<double>(std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | sign));
  }
};

// A bf16 number as it is stored.
struct Brain {
  std::uint16_t bits;

  explicit operator double() const {
    return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16));
  }
};

// LU with partial pivoting of a panel, m x width, width <= widest_panel, like LAPACK's getf2: pivots from 1; returns
// info. A NaN counts as larger than any number.
inline constexpr std::int64_t widest_panel = 16;
template <class T>
using PanelKernel = std::int64_t (*)(std::int64_t m, std::int64_t width, T* a, std::int64_t lda, std::int64_t* pivots);

// B := L^-1 B with the strict lower triangle of a, of order at most widest_panel, and ones on its diagonal.
template <class T>
using UnitLowerKernel = void (*)(std::int64_t order, std::int64_t columns, const T* a, std::int64_t lda, T* b,
                                 std::int64_t ldb);

// A is rows x columns. Without "transposed" x has as many entries as A columns and y as A rows, with it the reverse.
template <class T>
using VectorKernel = void (*)(std::int64_t rows, std::int64_t columns, const T* a, std::int64_t lda, const double* x,
                              double* y);
template <class T>
using ExactKernel = void (*)(std::int64_t rows, std::int64_t columns, const T* a, std::int64_t lda, const double* x,
                             double* high, double* low);

struct ThreeSums {
  double *high, *mid, *low, *size;
};
template <class T>
using ThriceKernel = void (*)(std::int64_t rows, std::int64_t columns, const T* a, std::int64_t lda, const double* x,
                              const ThreeSums& sums);

template <class T>
struct VectorKernels {
  VectorKernel<T> subtract, subtract_transposed;      // y -= A x
  VectorKernel<T> magnitudes, magnitudes_transposed;  // y += |A||x|
  ExactKernel<T> exact, exact_transposed;             // high + low -= A x in twice the precision (Ogita et al., Dot2)
  ThriceKernel<T> thrice;                             // high + mid + low -= A x, size += |A||x|: of three times (DotK)
};

// Of |A|, added to what is there: largest entries and sums of rows and columns. A NaN shows in the sums.
struct MatrixSums {
  double *row_largest, *row_sum, *column_largest, *column_sum;
};
template <class T>
using SumKernel = void (*)(std::int64_t rows, std::int64_t columns, const T* a, std::int64_t lda,
                           const MatrixSums& sums);

template <class T>
struct FactorKernels {
  PanelKernel<T> panel;
  UnitLowerKernel<T> unit_lower;
};
template <class T>
struct SumKernels {
  SumKernel<T> sums;
};

struct KernelTable : FactorKernels<float>,
                     FactorKernels<double>,
                     FactorKernels<std::complex<float>>,
                     FactorKernels<std::complex<double>>,
                     VectorKernels<Half>,
                     VectorKernels<Brain>,
                     VectorKernels<float>,
                     VectorKernels<double>,
                     SumKernels<float>,
                     SumKernels<double> {};

const KernelTable& portable_kernels();
const KernelTable& avx2_kernels();
const KernelTable& avx512_kernels();
const KernelTable& kernels();  // the best that this machine runs

template <class T>
const FactorKernels<T>& factor_kernels() {
  return kernels();
}
template <class T>
const VectorKernels<T>& vector_kernels() {
  return kernels();
}

}  // namespace vernier
