// Residues by dot products of 16-bit digits (VPMADDWD): per eight elements and modulus two of them a limb, a quotient
// in float and one multiplication; what a quotient may be off by is corrected in 16 bits.
#include <cstddef>

#include "base/instantiate.hpp"
#include "number/ieee754.hpp"
#include "residue/convert/bytes_avx2.hpp"
#include "residue/convert/decompose.hpp"

namespace vernier {
namespace {

constexpr int chunk = 32;  // elements at a time

// The scaled elements of a strip x step in the order of the planes' bytes; zero where the operand ends or is not
// finite.
struct alignas(32) ScaledTile {
  double x[tile_elements];
};

// Where element (v, l) goes is place_of(v) + place of l, for either side.
struct Places {
  int of_vector[strip_size], of_k[step_size];

  explicit Places(PanelSide side) {
    const bool rows = side == PanelSide::rows;
    for (int v = 0; v < strip_size; ++v) of_vector[v] = rows ? row_byte(v, 0) : column_byte(v, 0);
    for (int b = 0; b < step_size; ++b) of_k[k_of_byte(b)] = rows ? row_byte(0, b) : column_byte(0, b);
  }
};

// What a vector's elements are multiplied by, one factor after another.
struct Scales {
  double first[strip_size], second[strip_size], factor;

  Scales(const DecomposeTask& task, int limbs) : factor(task.factor) {
    for (int v = 0; v < strip_size; ++v) {
      const TwoFactors f = two_factors(task.scales[v] - limb_bits * (limbs - 1));
      first[v] = f.first, second[v] = f.second;
    }
  }

  double scaled(double x, int v) const { return x * first[v] * second[v] * factor; }
};

template <class T>
void fill(const Operand<T>& strip, std::int64_t step, const Places& places, const Scales& scales, bool has_nonfinite,
          ScaledTile& tile) {
  const auto vectors = static_cast<int>(strip.vectors);
  const auto values = static_cast<int>(std::min<std::int64_t>(step_size, strip.k - step * step_size));
  const T* source = strip.at(0, step * step_size);
  if (vectors < strip_size || values < step_size) std::fill(tile.x, tile.x + tile_elements, 0.0);
  const auto put = [&](int v, int l, T element) {
    const bool used = !has_nonfinite || magnitude_bits(element) < infinity_bits<T>;
    tile.x[places.of_vector[v] + places.of_k[l]] = used ? scales.scaled(static_cast<double>(element), v) : 0;
  };
  if (strip.k_contiguous) {
    for (int v = 0; v < vectors; ++v)
      for (int l = 0; l < values; ++l) put(v, l, source[l + v * strip.ld]);
  } else {
    for (int l = 0; l < values; ++l)
      for (int v = 0; v < vectors; ++v) put(v, l, source[v + l * strip.ld]);
  }
}

// RN(x), |x| <= 2^62, of four doubles: the sums with 1.5 * 2^52 have integers in their low bits.
inline __m256i rounded_integers(__m256d x) {
  const __m256d magic = _mm256_set1_pd(0x1.8p52);
  const __m256d high = _mm256_sub_pd(_mm256_add_pd(_mm256_mul_pd(x, _mm256_set1_pd(0x1p-32)), magic), magic);
  const __m256d low = _mm256_fnmadd_pd(high, _mm256_set1_pd(0x1p32), x);  // exact
  const auto integers = [&](__m256d y) {
    return _mm256_sub_epi64(_mm256_castpd_si256(_mm256_add_pd(y, magic)), _mm256_castpd_si256(magic));
  };
  return _mm256_add_epi64(_mm256_slli_epi64(integers(high), 32), integers(low));
}

// Four signed digits of 16 bits for each limb of eight elements, in the order 0 1 4 5 2 3 6 7: the two lower ones of
// all eight, then the two upper ones.
template <int Limbs>
struct Digits {
  __m256i lower[Limbs], upper[Limbs];
};

inline __m256i signed_digits(__m256i x) {
  const __m256i halves = _mm256_set1_epi64x(0x0000800080008000);
  return _mm256_xor_si256(_mm256_add_epi64(x, halves), halves);
}

// Limbs beyond 2^62, as sums of two have them, give a unit to the next one.
inline void carry(__m256i& x, __m256i& next) {
  const __m256i unit = _mm256_set1_epi64x(std::int64_t{1} << limb_bits);
  const __m256i above = _mm256_cmpgt_epi64(x, unit),
                below = _mm256_cmpgt_epi64(_mm256_sub_epi64(_mm256_setzero_si256(), unit), x);
  x = _mm256_sub_epi64(x, _mm256_and_si256(above, unit));
  x = _mm256_add_epi64(x, _mm256_and_si256(below, unit));
  next = _mm256_add_epi64(_mm256_sub_epi64(next, above), below);
}

// Limbs of the sum of the terms' integers, of four elements.
template <int Limbs, int Terms>
void add_limbs(const ScaledTile (&terms)[Terms], std::size_t e, __m256i (&sum)[Limbs]) {
  for (int i = 0; i < Terms; ++i) {
    __m256d x = _mm256_load_pd(terms[i].x + e);
    for (int t = Limbs - 1; t >= 0; --t) {
      __m256d whole = x;
      if (t > 0) {
        whole = _mm256_round_pd(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
        x = _mm256_mul_pd(_mm256_sub_pd(x, whole), _mm256_set1_pd(0x1p62));
      }
      const __m256i integers = rounded_integers(whole);
      sum[t] = i == 0 ? integers : _mm256_add_epi64(sum[t], integers);
    }
  }
  if constexpr (Terms > 1)
    for (int t = 0; t + 1 < Limbs; ++t) carry(sum[t], sum[t + 1]);
}

template <int Limbs, int Terms>
Digits<Limbs> digits_of(const ScaledTile (&terms)[Terms], std::size_t e) {
  Digits<Limbs> d;
  __m256i x[Limbs], y[Limbs];
  add_limbs(terms, e, x);
  add_limbs(terms, e + 4, y);
  for (int t = 0; t < Limbs; ++t) {
    const __m256 a = _mm256_castsi256_ps(signed_digits(x[t])), b = _mm256_castsi256_ps(signed_digits(y[t]));
    d.lower[t] = _mm256_castps_si256(_mm256_shuffle_ps(a, b, 0x88));
    d.upper[t] = _mm256_castps_si256(_mm256_shuffle_ps(a, b, 0xdd));
  }
  return d;
}

// One modulus: 2^(16 i) times the side's factor for digit i of each limb, two to a register.
template <int Limbs>
struct Weights {
  std::uint32_t lower[Limbs], upper[Limbs];
  float inverse;
  int modulus;

  Weights(const DigitTables& tables, std::size_t q)
      : inverse(1.0f / static_cast<float>(moduli[q])), modulus(moduli[q]) {
    int base = symmetric_residue(tables.factor[q], modulus);
    const int radix = symmetric_residue(1 << 16, modulus);
    for (int t = 0; t < Limbs; ++t) {
      int w[4] = {base};
      for (int i = 1; i < 4; ++i) w[i] = symmetric_residue(w[i - 1] * radix, modulus);
      lower[t] = pair(w[0], w[1]);
      upper[t] = pair(w[2], w[3]);
      base = symmetric_residue(base * tables.limb_base[q], modulus);
    }
  }

 private:
  static std::uint32_t pair(int low, int high) {
    return (static_cast<std::uint32_t>(low) & 0xffffu) | static_cast<std::uint32_t>(high) << 16;
  }
};

// Off by one multiple of p at most, in either direction: |sum| < 2^26.
template <int Limbs>
__m256i near_remainder(const Digits<Limbs>& d, const Weights<Limbs>& w) {
  __m256i sum = _mm256_setzero_si256();
  for (int t = 0; t < Limbs; ++t) {
    sum = _mm256_add_epi32(sum, _mm256_madd_epi16(d.lower[t], _mm256_set1_epi32(static_cast<int>(w.lower[t]))));
    sum = _mm256_add_epi32(sum, _mm256_madd_epi16(d.upper[t], _mm256_set1_epi32(static_cast<int>(w.upper[t]))));
  }
  const __m256i quotient = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_cvtepi32_ps(sum), _mm256_set1_ps(w.inverse)));
  return _mm256_sub_epi32(sum, _mm256_mullo_epi32(quotient, _mm256_set1_epi32(w.modulus)));
}

inline __m256i corrected(__m256i r, int p) {  // of sixteen
  const __m256i modulus = _mm256_set1_epi16(static_cast<short>(p));
  const __m256i above = _mm256_cmpgt_epi16(r, _mm256_set1_epi16(static_cast<short>(largest_residue(p))));
  r = _mm256_sub_epi16(r, _mm256_and_si256(above, modulus));
  const __m256i below = _mm256_cmpgt_epi16(_mm256_set1_epi16(static_cast<short>(smallest_residue(p))), r);
  return _mm256_add_epi16(r, _mm256_and_si256(below, modulus));
}

// Residues of 32 elements, in their order.
template <int Limbs>
void store_residues(const Digits<Limbs> (&d)[chunk / 8], const Weights<Limbs>& w, std::int8_t* out) {
  const __m256i first = _mm256_packs_epi32(near_remainder(d[0], w), near_remainder(d[1], w));
  const __m256i second = _mm256_packs_epi32(near_remainder(d[2], w), near_remainder(d[3], w));
  const __m256i bytes = _mm256_packs_epi16(corrected(first, w.modulus), corrected(second, w.modulus));
  const __m128i even = _mm256_castsi256_si128(bytes), odd = _mm256_extracti128_si256(bytes, 1);
  auto* to = reinterpret_cast<__m128i*>(out);
  _mm_store_si128(to, _mm_unpacklo_epi16(even, odd));
  _mm_store_si128(to + 1, _mm_unpackhi_epi16(even, odd));
}

template <int Limbs, int Terms, class T>
void decompose(const Operand<T>* strips, const DigitTables& tables, const DecomposeTask& task) {
  const Places places(tables.side);
  const Scales scales(task, Limbs);
  const auto count = static_cast<std::size_t>(tables.count);
  ScaledTile tile[Terms];
  for (std::int64_t step = task.filled.begin; step < std::min(task.filled.end, task.layout.steps); ++step) {
    for (int i = 0; i < Terms; ++i) fill(strips[i], step, places, scales, task.has_nonfinite, tile[i]);
    Digits<Limbs> digits[tile_elements / chunk][chunk / 8];
    for (std::size_t e = 0; e < tile_elements; e += 8) digits[e / chunk][e % chunk / 8] = digits_of<Limbs>(tile, e);
    std::int8_t* out = task.planes + task.layout.offset(task.strip, step);
    for (std::size_t q = 0; q < count; ++q, out += task.plane_bytes) {
      const Weights<Limbs> weights(tables, q);
      for (std::size_t e = 0; e < tile_elements; e += chunk) store_residues(digits[e / chunk], weights, out + e);
    }
  }
}

template <int Terms, class T>
void decompose_terms(const Operand<T>* strips, const DigitTables& tables, const DecomposeTask& task) {
  switch (tables.limbs) {
    case 0:
    case 1:
      return decompose<1, Terms>(strips, tables, task);
    case 2:
      return decompose<2, Terms>(strips, tables, task);
    default:
      return decompose<3, Terms>(strips, tables, task);
  }
}

}  // namespace

template <class T>
void decompose_avx2(const Operand<T>& strip, const DigitTables& tables, const DecomposeTask& task) {
  decompose_terms<1>(&strip, tables, task);
}

void decompose_sum_avx2(const Operand<double>* terms, int count, const DigitTables& tables, const DecomposeTask& task) {
  if (count == 1) return decompose_terms<1>(terms, tables, task);
  if (count == 2) return decompose_terms<2>(terms, tables, task);
  decompose_terms<3>(terms, tables, task);
}

template <class T>
void decompose_complex_avx2(const ComplexStrip<T>& strip, const DigitTables& tables, const DecomposeTask& task,
                            std::size_t part_bytes) {
  DecomposeTask imaginary = task;
  imaginary.planes += part_bytes;
  decompose_avx2(strip.real, tables, task);
  decompose_avx2(strip.imaginary, tables, imaginary);
  for (std::size_t q = 0; q < static_cast<std::size_t>(tables.count); ++q) {
    const ByteModulus modulo(moduli[q]);
    for (std::int64_t step = task.filled.begin; step < std::min(task.filled.end, task.layout.steps); ++step) {
      std::int8_t* x = task.planes + q * task.plane_bytes + task.layout.offset(task.strip, step);
      for (std::int64_t b = 0; b < step_bytes; b += 32)
        store_bytes(x + 2 * part_bytes + b, modulo.sum(load_bytes(x + b), load_bytes(x + part_bytes + b)));
    }
  }
}

VERNIER_REAL_INSTANCES(decompose_avx2, decompose_complex_avx2)

}  // namespace vernier
