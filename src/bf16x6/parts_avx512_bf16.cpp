#include <immintrin.h>

#include "bf16x6/parts.hpp"

namespace vernier {
namespace {

__mmask16 lanes(std::int64_t count) {
  return count >= 16 ? 0xffff : count <= 0 ? 0 : static_cast<__mmask16>((1u << count) - 1);
}

struct RangeLanes {
  __m512i largest = _mm512_setzero_si512(), least = _mm512_set1_epi32(-1);

  void see(__m512 x) {
    const __m512i bits = _mm512_and_si512(_mm512_castps_si512(x), _mm512_set1_epi32(0x7fffffff));
    largest = _mm512_max_epu32(largest, bits);
    least = _mm512_min_epu32(least, _mm512_sub_epi32(bits, _mm512_set1_epi32(1)));
  }
  PartRange all() const { return {_mm512_reduce_max_epu32(largest), _mm512_reduce_min_epu32(least)}; }
};

// Words u0 v0 u1 v1 ... of the halves u, v.
__m512i interleaved(__m512i halves) {
  alignas(64) static constexpr std::int16_t order[32] = {0, 16, 1, 17, 2,  18, 3,  19, 4,  20, 5,  21, 6,  22, 7,  23,
                                                         8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
  return _mm512_permutexvar_epi16(_mm512_load_si512(order), halves);
}

// The parts of 16 pairs of elements, a dword a pair, to lines part_stride bytes apart.
void split_pairs(__m512 u, __m512 v, std::byte* out, std::int64_t part_stride) {
  for (int part = 0; part < part_count; ++part, out += part_stride) {
    const __m512i pairs = interleaved(reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(v, u)));
    _mm512_store_si512(out, pairs);
    u = _mm512_sub_ps(u, _mm512_castsi512_ps(_mm512_slli_epi32(pairs, 16)));
    v = _mm512_sub_ps(v, _mm512_castsi512_ps(_mm512_and_si512(pairs, _mm512_set1_epi32(static_cast<int>(0xffff0000)))));
  }
}

// 16 lines of 16 dwords, turned in place.
void turn_tile(std::byte* tile) {
  __m512i x[16], t[16];
  for (int i = 0; i < 16; ++i) x[i] = _mm512_load_si512(tile + 64 * i);
  for (int i = 0; i < 16; i += 2) {
    t[i] = _mm512_unpacklo_epi32(x[i], x[i + 1]);
    t[i + 1] = _mm512_unpackhi_epi32(x[i], x[i + 1]);
  }
  for (int i = 0; i < 16; i += 4)
    for (int h = 0; h < 2; ++h) {
      x[i + 2 * h] = _mm512_unpacklo_epi64(t[i + h], t[i + h + 2]);
      x[i + 2 * h + 1] = _mm512_unpackhi_epi64(t[i + h], t[i + h + 2]);
    }
  // Now 128 bits q of x[4 g + r] are rows 4 g .. 4 g + 3 of column 4 q + r.
  for (int r = 0; r < 4; ++r) {
    const __m512i a = _mm512_shuffle_i32x4(x[r], x[4 + r], 0x88), b = _mm512_shuffle_i32x4(x[8 + r], x[12 + r], 0x88);
    const __m512i c = _mm512_shuffle_i32x4(x[r], x[4 + r], 0xdd), d = _mm512_shuffle_i32x4(x[8 + r], x[12 + r], 0xdd);
    _mm512_store_si512(tile + 64 * r, _mm512_shuffle_i32x4(a, b, 0x88));
    _mm512_store_si512(tile + 64 * (4 + r), _mm512_shuffle_i32x4(c, d, 0x88));
    _mm512_store_si512(tile + 64 * (8 + r), _mm512_shuffle_i32x4(a, b, 0xdd));
    _mm512_store_si512(tile + 64 * (12 + r), _mm512_shuffle_i32x4(c, d, 0xdd));
  }
}

// 16 vectors from `vector` on, one step of k.
struct TilePlace {
  std::int64_t vector, k;
};

// Into the second level, since the first would put k that lie 4096 bytes apart into one set.
void fetch_tile(const Operand<float>& x, const TilePlace& place) {
  const std::int64_t across = x.k_contiguous ? x.vectors - place.vector : x.k - place.k;
  const std::int64_t lines = std::min<std::int64_t>(across, x.k_contiguous ? bf16_tile_vectors : bf16x6_step);
  const float* p = x.at(place.vector, place.k);
  for (std::int64_t i = 0; i < lines; ++i, p += x.ld) {
    _mm_prefetch(reinterpret_cast<const char*>(p), _MM_HINT_T1);
    if (x.k_contiguous) _mm_prefetch(reinterpret_cast<const char*>(p + bf16x6_step / 2), _MM_HINT_T1);
  }
}

// Tiles of all parts, in lines of vectors or of pairs of k.
template <bool LinesAreVectors>
void split_tile(const Bf16x6Task& task, const TilePlace& place, std::byte* out, RangeLanes* range) {
  const Operand<float>& x = task.x;
  const std::int64_t vectors = x.vectors - place.vector, values = x.k - place.k;
  const float* source = x.at(place.vector, place.k);
  constexpr int half = bf16x6_step / 2, part_stride = part_tile(0, 1, 0);
  const __mmask16 some = lanes(vectors), low = lanes(values), high = lanes(values - half);
  const __m512 factors = task.factors != nullptr ? _mm512_loadu_ps(task.factors + place.vector) : _mm512_set1_ps(1);
  for (int i = 0; i < bf16_tile_vectors; ++i) {
    __m512 u, v;
    if (x.k_contiguous) {  // line i is a vector
      const float* p = source + (i < vectors ? i * x.ld : 0);
      u = _mm512_maskz_loadu_ps(i < vectors ? low : 0, p);
      v = _mm512_maskz_loadu_ps(i < vectors ? high : 0, p + half);
    } else {  // line i is a pair of k
      u = _mm512_maskz_loadu_ps(i < values ? some : 0, source + (i < values ? i * x.ld : 0));
      v = _mm512_maskz_loadu_ps(i + half < values ? some : 0, source + (i + half < values ? (i + half) * x.ld : 0));
    }
    if (range != nullptr) {
      range->see(u);
      range->see(v);
    }
    if (task.factors != nullptr) {
      const __m512 f = x.k_contiguous ? _mm512_permutexvar_ps(_mm512_set1_epi32(i), factors) : factors;
      u = _mm512_mul_ps(u, f);
      v = _mm512_mul_ps(v, f);
    }
    split_pairs(u, v, out + 64 * i, part_stride);
  }
  if (x.k_contiguous != LinesAreVectors)
    for (int part = 0; part < part_count; ++part) turn_tile(out + part * part_stride);
}

// The tiles of a block of vectors and k in the order in which memory holds the operand, two fetched ahead.
template <bool LinesAreVectors, class Out>
void split_block(const Bf16x6Task& task, TilePlace first, std::int64_t tiles, std::int64_t steps, RangeLanes* range,
                 Out out) {
  const bool by_vector = task.x.k_contiguous;
  const std::int64_t inner = by_vector ? steps : tiles, count = tiles * steps;
  const auto place = [&](std::int64_t p) {
    const std::int64_t tile = by_vector ? p / inner : p % inner, step = by_vector ? p % inner : p / inner;
    return TilePlace{first.vector + tile * bf16_tile_vectors, first.k + step * bf16x6_step};
  };
  for (std::int64_t p = 0; p < count; ++p) {
    if (p + 2 < count) fetch_tile(task.x, place(p + 2));
    const TilePlace here = place(p);
    split_tile<LinesAreVectors>(
        task, here, out((here.vector - first.vector) / bf16_tile_vectors, (here.k - first.k) / bf16x6_step), range);
  }
}

// A tile's first part, where chunks of one strip and strips of one chunk lie so far apart.
std::byte* tile_at(std::byte* begin, std::int64_t tile, std::int64_t step, std::int64_t strip_bytes,
                   std::int64_t chunk_bytes) {
  return begin + tile / 2 * strip_bytes + step / bf16x6_chunk_steps * chunk_bytes +
         part_tile(static_cast<int>(step % bf16x6_chunk_steps), 0, static_cast<int>(tile % 2));
}

}  // namespace

void split_part_columns(const Bf16x6Task& task, std::int64_t first, std::int64_t k, int chunks, PartRange* range) {
  RangeLanes seen;
  split_block<true>(task, {first, k}, 2, chunks * bf16x6_chunk_steps, range != nullptr ? &seen : nullptr,
                    [&](auto tile, auto step) { return tile_at(task.out, tile, step, 0, bf16x6_chunk_bytes); });
  if (range != nullptr) range->join(seen.all());
}

void split_part_rows(const Bf16x6Task& task, std::int64_t first, std::int64_t strips, std::int64_t k, int chunks) {
  split_block<false>(task, {first, k}, 2 * strips, chunks * bf16x6_chunk_steps, nullptr, [&](auto tile, auto step) {
    return tile_at(task.out, tile, step, bf16x6_chunk_bytes, strips * bf16x6_chunk_bytes);
  });
}

PartRange line_range(const Operand<float>& x, std::int64_t first, std::int64_t count) {
  const std::int64_t length = x.k_contiguous ? x.k : x.vectors;
  RangeLanes a, b;
  for (std::int64_t line = first; line < first + count; ++line) {
    const float* p = x.data + line * x.ld;
    std::int64_t i = 0;
    for (; i + 32 <= length; i += 32) {
      a.see(_mm512_loadu_ps(p + i));
      b.see(_mm512_loadu_ps(p + i + 16));
    }
    for (; i < length; i += 16) a.see(_mm512_maskz_loadu_ps(lanes(length - i), p + i));
  }
  PartRange range = a.all();
  range.join(b.all());
  return range;
}

void vector_ranges(const Operand<float>& x, std::int64_t first, std::int64_t count, PartRange* out) {
  if (x.k_contiguous) {
    for (std::int64_t v = 0; v < count; ++v) out[v] = line_range(x, first + v, 1);
    return;
  }
  for (std::int64_t v = 0; v < count; v += 16) {
    const __mmask16 some = lanes(count - v);
    RangeLanes seen;
    for (std::int64_t l = 0; l < x.k; ++l) seen.see(_mm512_maskz_loadu_ps(some, x.at(first + v, l)));
    alignas(64) std::uint32_t largest[16], least[16];
    _mm512_store_si512(largest, seen.largest);
    _mm512_store_si512(least, seen.least);
    for (std::int64_t i = 0; i < std::min<std::int64_t>(16, count - v); ++i) out[v + i] = {largest[i], least[i]};
  }
}

}  // namespace vernier
