// A strip x step of an operand as a tile of doubles, or of floats, turned where the memory order asks for it. For
// AVX-512 sources only.
#pragma once

#include <immintrin.h>

#include <algorithm>
#include <type_traits>

#include "residue/convert/decompose.hpp"

namespace vernier {
namespace {

inline __mmask8 lanes_below(std::int64_t count) {
  return count >= 8 ? 0xff : count <= 0 ? 0 : static_cast<__mmask8>((1 << count) - 1);
}

inline __m512d load8(const double* p, __mmask8 mask) { return _mm512_maskz_loadu_pd(mask, p); }
inline __m512d load8(const float* p, __mmask8 mask) { return _mm512_cvtps_pd(_mm256_maskz_loadu_ps(mask, p)); }

inline void store8(double* p, __m512d x) { _mm512_store_pd(p, x); }
inline void store8(float* p, __m512d x) { _mm256_store_ps(p, _mm512_cvtpd_ps(x)); }

inline __m512d finite_or_zero(__m512d x) {
  const __mmask8 special = _mm512_fpclass_pd_mask(x, 0x99);  // quiet and signalling NaN, both infinities
  return _mm512_maskz_mov_pd(static_cast<__mmask8>(~special), x);
}

// An 8 x 8 block: row i of x becomes column i.
inline void transpose8(__m512d (&x)[8]) {
  __m512d t[8], u[8];
  for (int i = 0; i < 8; i += 2) {
    t[i] = _mm512_unpacklo_pd(x[i], x[i + 1]);
    t[i + 1] = _mm512_unpackhi_pd(x[i], x[i + 1]);
  }
  for (int i = 0; i < 8; i += 4)
    for (int j = 0; j < 2; ++j) {
      u[i + j] = _mm512_shuffle_f64x2(t[i + j], t[i + j + 2], 0x88);
      u[i + j + 2] = _mm512_shuffle_f64x2(t[i + j], t[i + j + 2], 0xdd);
    }
  for (int j = 0; j < 4; ++j) {
    x[j] = _mm512_shuffle_f64x2(u[j], u[j + 4], 0x88);
    x[j + 4] = _mm512_shuffle_f64x2(u[j], u[j + 4], 0xdd);
  }
}

// tile[i * Width + j] = source[i * ld + j] for i < rows, j < columns; zero elsewhere in Height x Width.
template <class T, int Height, int Width, class E>
void load_straight(const T* source, std::int64_t ld, std::int64_t rows, std::int64_t columns, E* tile) {
  for (std::int64_t i = 0; i < Height; ++i) {
    const T* p = source + i * ld;
    for (int j = 0; j < Width; j += 8) {
      const __mmask8 mask = i < rows ? lanes_below(columns - j) : 0;
      store8(tile + i * Width + j, mask != 0 ? load8(p + j, mask) : _mm512_setzero_pd());
    }
  }
}

// tile[i * Width + j] = source[j * ld + i]
template <class T, int Height, int Width, class E>
void load_turned(const T* source, std::int64_t ld, std::int64_t rows, std::int64_t columns, E* tile) {
  for (int j = 0; j < Width; j += 8) {
    for (int i = 0; i < Height; i += 8) {
      __m512d x[8];
      for (int c = 0; c < 8; ++c) {
        const __mmask8 mask = j + c < columns ? lanes_below(rows - i) : 0;
        x[c] = mask != 0 ? load8(source + (j + c) * ld + i, mask) : _mm512_setzero_pd();
      }
      transpose8(x);
      for (int r = 0; r < 8; ++r) store8(tile + (i + r) * Width + j, x[r]);
    }
  }
}

// A tile in the order that the side's kernel reads (see decompose.hpp), with lines stride apart.
template <class E>
struct TileView {
  const E* data;
  std::int64_t stride;
};

// The tile of one step; the strip itself where it is laid out as the kernel wants it, else a copy in buffer.
template <class T, class E>
TileView<E> load_tile(const Operand<T>& strip, const DecomposeTask& task, PanelSide side, std::int64_t step,
                      E* buffer) {
  const std::int64_t vectors = strip.vectors;
  const std::int64_t values = std::min<std::int64_t>(step_size, strip.k - step * step_size);
  const T* source = strip.at(0, step * step_size);
  const bool columns = side == PanelSide::columns;
  if constexpr (std::is_same_v<T, E>)
    if (strip.k_contiguous == columns && vectors == strip_size && values == step_size && !task.has_nonfinite)
      return {source, strip.ld};
  if (!columns) {
    if (strip.k_contiguous)
      load_turned<T, step_size, strip_size>(source, strip.ld, values, vectors, buffer);
    else
      load_straight<T, step_size, strip_size>(source, strip.ld, values, vectors, buffer);
  } else {
    if (strip.k_contiguous)
      load_straight<T, strip_size, step_size>(source, strip.ld, vectors, values, buffer);
    else
      load_turned<T, strip_size, step_size>(source, strip.ld, vectors, values, buffer);
  }
  if (task.has_nonfinite)
    for (std::size_t i = 0; i < tile_elements; i += 8) store8(buffer + i, finite_or_zero(load8(buffer + i, 0xff)));
  return {buffer, columns ? step_size : strip_size};
}

}  // namespace
}  // namespace vernier
