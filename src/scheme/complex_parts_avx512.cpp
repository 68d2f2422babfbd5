#include "base/panel.hpp"
#include "scheme/bytes_avx512.hpp"
#include "scheme/complex_parts.hpp"

namespace vernier {
namespace {

inline __m512i load(const std::int8_t* p) {
  _mm_prefetch(reinterpret_cast<const char*>(p + block_elements), _MM_HINT_T0);  // of the next block
  return _mm512_loadu_si512(p);
}

}  // namespace

void complex_parts_avx512(int p, const std::int8_t* products, std::size_t part_bytes, std::int8_t* real,
                          std::int8_t* imaginary) {
  const ByteModulus modulo(p);
  for (int e = 0; e < block_elements; e += 64) {
    const __m512i xu = load(products + e), yv = load(products + part_bytes + e);
    const __m512i sums = load(products + 2 * part_bytes + e);
    _mm512_storeu_si512(real + e, modulo.difference(xu, yv));
    _mm512_storeu_si512(imaginary + e, modulo.difference(modulo.difference(sums, xu), yv));
  }
}

}  // namespace vernier
