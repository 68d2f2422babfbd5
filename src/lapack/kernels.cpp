#include "lapack/kernels.hpp"

#include <type_traits>

#include "base/cpu_features.hpp"
#include "lapack/kernels_body.hpp"

namespace vernier {
namespace {

const KernelTable& best_kernels() {
#if VERNIER_X86
  if (missing_features(InstructionSet::avx512_vnni).empty()) return avx512_kernels();
  if (missing_features(InstructionSet::avx2).empty()) return avx2_kernels();
#endif
  return portable_kernels();
}

}  // namespace

const KernelTable& portable_kernels() { return table; }

const KernelTable& kernels() {
  static const KernelTable& best = best_kernels();
  return best;
}

// No specialisations, which GCC exports from the library where all types are built-in ones.
template <class T>
PanelKernel<T> panel_kernel() {
  if constexpr (std::is_same_v<T, float>)
    return kernels().panel_float;
  else if constexpr (std::is_same_v<T, double>)
    return kernels().panel_double;
  else if constexpr (std::is_same_v<T, std::complex<float>>)
    return kernels().panel_complex_float;
  else
    return kernels().panel_complex_double;
}
template PanelKernel<float> panel_kernel();
template PanelKernel<double> panel_kernel();
template PanelKernel<std::complex<float>> panel_kernel();
template PanelKernel<std::complex<double>> panel_kernel();

template <class T>
UnitLowerKernel<T> unit_lower_kernel() {
  if constexpr (std::is_same_v<T, float>)
    return kernels().unit_lower_float;
  else if constexpr (std::is_same_v<T, double>)
    return kernels().unit_lower_double;
  else if constexpr (std::is_same_v<T, std::complex<float>>)
    return kernels().unit_lower_complex_float;
  else
    return kernels().unit_lower_complex_double;
}
template UnitLowerKernel<float> unit_lower_kernel();
template UnitLowerKernel<double> unit_lower_kernel();
template UnitLowerKernel<std::complex<float>> unit_lower_kernel();
template UnitLowerKernel<std::complex<double>> unit_lower_kernel();

template <>
const VectorKernels<Half>& vector_kernels<Half>() {
  return kernels().half;
}
template <>
const VectorKernels<Brain>& vector_kernels<Brain>() {
  return kernels().brain;
}
template <>
const VectorKernels<float>& vector_kernels<float>() {
  return kernels().single;
}
template <>
const VectorKernels<double>& vector_kernels<double>() {
  return kernels().full;
}
template <>
SumKernel<float> sum_kernel<float>() {
  return kernels().sums_float;
}
template <>
SumKernel<double> sum_kernel<double>() {
  return kernels().sums_double;
}

}  // namespace vernier
