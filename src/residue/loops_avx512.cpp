// As loops_avx2.cpp; others have loops of their own for AVX-512.
#include <immintrin.h>

#include "base/instantiate.hpp"
#include "residue/bound/bound_operand_loop.hpp"
#include "residue/partial/scan_loop.hpp"
#include "residue/recombine/update_loop.hpp"
#include "residue/scale/block_spans_loop.hpp"

VERNIER_BLOCK_SPANS_OF(avx512)
VERNIER_SCAN_LOOPS_OF(avx512)

namespace vernier {
namespace {

// Whole lines of a C that is only written need not be read first.
template <class T>
bool can_stream(const TileUpdate<T>& u) {
  constexpr std::int64_t line = 64 / static_cast<std::int64_t>(sizeof(T));
  const bool aligned = reinterpret_cast<std::uintptr_t>(u.to.c) % 64 == 0 && u.to.ldc % line == 0 && u.rows % line == 0;
  return u.large && aligned && u.to.beta == 0 && u.to.alpha == 1 && u.row_proofs == nullptr;
}

template <class T>
void stream_tile(const TileUpdate<T>& u, const T* tile) {
  constexpr std::int64_t line = 64 / static_cast<std::int64_t>(sizeof(T));
  for (std::int64_t j = 0; j < u.columns; ++j)
    for (std::int64_t i = 0; i < u.rows; i += line)
      _mm512_stream_si512(reinterpret_cast<__m512i*>(u.to.c + j * u.to.ldc + i),
                          _mm512_load_si512(tile + j * strip_size + i));
}

}  // namespace

void publish_avx512() { _mm_sfence(); }

template <class T>
void update_avx512(const TileUpdate<T>& update, const T* tile) {
  if (can_stream(update))
    stream_tile(update, tile);
  else
    update_tile(update, tile);
}

VERNIER_REAL_INSTANCES(update_avx512)

template <class T>
FilledSteps bound_strip_avx512(const BoundPart<T>& part, bool rows, std::byte* out) {
  return bound_strip(part, rows, out);
}

VERNIER_REAL_INSTANCES(bound_strip_avx512)

}  // namespace vernier
