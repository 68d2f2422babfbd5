// VPMADDWD on bytes extended to 16 bits: 16 rows x 4 columns at a time. (VPMADDUBSW takes bytes as they are, but
// saturates.)
#include <immintrin.h>

#include <cstring>

#include "engine/int8_engine.hpp"
#include "engine/reduction.hpp"

namespace vernier {
namespace {

constexpr int group_count = 16;  // of four k in a step
constexpr int columns_at_once = 4;
constexpr int unpacked_step = step_size * columns_at_once;

// Four columns as [step][group][column][k 0, 2, 1, 3 of the group]: the even and odd bytes of a group make one dword
// each.
void unpack_columns(const std::int8_t* columns, std::int64_t steps, std::int16_t* unpacked) {
  for (std::int64_t s = 0; s < steps; ++s, columns += step_bytes)
    for (int g = 0; g < group_count; ++g)
      for (int c = 0; c < columns_at_once; ++c, unpacked += 4) {
        const std::int8_t* from = columns + c * step_size + g * 4;
        unpacked[0] = from[0];
        unpacked[1] = from[2];
        unpacked[2] = from[1];
        unpacked[3] = from[3];
      }
}

inline __m256i broadcast_pair(const std::int16_t* pair) {
  std::int32_t bits = 0;
  std::memcpy(&bits, pair, sizeof bits);
  return _mm256_set1_epi32(bits);
}

inline __m256i multiply_add(__m256i sum, __m256i x, __m256i y) {
  return _mm256_add_epi32(sum, _mm256_madd_epi16(x, y));
}

inline __m256i even_bytes(__m256i x) { return _mm256_srai_epi16(_mm256_slli_epi16(x, 8), 8); }
inline __m256i odd_bytes(__m256i x) { return _mm256_srai_epi16(x, 8); }

struct Sums {
  __m256i half[columns_at_once][2];  // eight rows each
};

inline void add_group(const std::int8_t* rows, const std::int16_t* columns, Sums& sums) {
  __m256i even[2], odd[2];
  for (int h = 0; h < 2; ++h) {
    const __m256i bytes = _mm256_load_si256(reinterpret_cast<const __m256i*>(rows + 32 * h));
    even[h] = even_bytes(bytes);
    odd[h] = odd_bytes(bytes);
  }
  for (int c = 0; c < columns_at_once; ++c) {
    const __m256i even_column = broadcast_pair(columns + 4 * c), odd_column = broadcast_pair(columns + 4 * c + 2);
    for (int h = 0; h < 2; ++h) {
      sums.half[c][h] = multiply_add(sums.half[c][h], even[h], even_column);
      sums.half[c][h] = multiply_add(sums.half[c][h], odd[h], odd_column);
    }
  }
}

// One unit of C, the whole k; row_tile is 0 or 1024, the tile's place in its step.
void multiply_unit(const Int8Product& p, std::int64_t v, const FilledSteps& steps, int row_tile,
                   const std::int16_t* unpacked, std::int32_t* out) {
  Sums sums;
  for (auto& column : sums.half) column[0] = column[1] = _mm256_setzero_si256();
  const std::int8_t* rows = p.rows + (v * p.steps + steps.begin) * step_bytes + row_tile;
  unpacked += steps.begin * unpacked_step;
  for (std::int64_t s = steps.begin; s < steps.end; ++s, rows += step_bytes, unpacked += unpacked_step)
    for (int g = 0; g < group_count; ++g)
      add_group(rows + g * step_size, unpacked + g * unpacked_step / group_count, sums);
  for (int c = 0; c < columns_at_once; ++c)
    for (int h = 0; h < 2; ++h) _mm256_store_si256(reinterpret_cast<__m256i*>(out + 16 * c + 8 * h), sums.half[c][h]);
}

}  // namespace

void multiply_avx2(const Int8Product& p) {
  const Reduction reduction = make_reduction(p.modulus);
  auto* unpacked = static_cast<std::int16_t*>(p.scratch);
  alignas(32) std::int32_t sums[unit_elements];
  for (std::int64_t t = 0; t < p.column_strips; ++t)
    for (int column = 0; column < strip_size; column += columns_at_once) {
      unpack_columns(p.columns + t * p.steps * step_bytes + column * step_size, p.steps, unpacked);
      for (std::int64_t v = 0; v < p.row_strips; ++v)
        for (int tile = 0; tile < 2; ++tile) {
          multiply_unit(p, v, p.steps_of(t, v), tile * 1024, unpacked, sums);
          std::int8_t* out = p.out + (t * p.out_strips + v) * block_elements;
          reduce_unit(sums, reduction, p.accumulate, out + (column >> 4) * 512 + tile * 256 + (column & 15) * 16);
        }
    }
}

}  // namespace vernier
