#include "residue/exact/exact_loop.hpp"

namespace vernier {

template <class T>
void find_lowest_bits_avx2(const Operand<T>& view, const int* scales, LowestBits* out) {
  find_lowest_bits(view, scales, out);
}

template <class T>
RoundingResidual residual_avx2(const VectorPair<T>& pair) {
  return residual(pair);
}

template void find_lowest_bits_avx2(const Operand<double>&, const int*, LowestBits*);
template void find_lowest_bits_avx2(const Operand<float>&, const int*, LowestBits*);
template RoundingResidual residual_avx2(const VectorPair<double>&);
template RoundingResidual residual_avx2(const VectorPair<float>&);

}  // namespace vernier
