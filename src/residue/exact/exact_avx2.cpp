#include "base/instantiate.hpp"
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

#define VERNIER_INSTANTIATE(T) template struct Instances<find_lowest_bits_avx2<T>, residual_avx2<T>>;
VERNIER_EACH_REAL(VERNIER_INSTANTIATE)

}  // namespace vernier
