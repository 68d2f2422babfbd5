#include "residue/bound/bound_operand_loop.hpp"

namespace vernier {

template <class T>
void bound_strip_avx512(const BoundPart<T>& part, bool rows, std::byte* out) {
  bound_strip(part, rows, out);
}

template void bound_strip_avx512(const BoundPart<double>&, bool, std::byte*);
template void bound_strip_avx512(const BoundPart<float>&, bool, std::byte*);

}  // namespace vernier
