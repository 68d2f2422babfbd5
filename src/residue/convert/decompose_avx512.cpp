// Residues by dot products of bytes (VPDPBUSD): per 64 elements and modulus two dot products
// a register and limb, one quotient in fp32, one multiply-subtract.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>

#include "base/instantiate.hpp"
#include "residue/convert/bytes_avx512.hpp"
#include "residue/convert/decompose.hpp"
#include "residue/convert/tiles_avx512.hpp"

namespace vernier {
namespace {

constexpr int groups_of(int limbs) { return limbs == 0 ? 1 : 2 * limbs; }

// Digits of 64 elements: register c holds, as 16 dwords of four digits, the elements that become bytes 4 c .. 4 c + 3
// of each 16 bytes of the residues.
template <int Limbs>
struct Digits {
  __m512i group[4][groups_of(Limbs)];
};

inline __m512i with_sign_turned(__m512i x) {  // 2^31 added
  return _mm512_xor_si512(x, _mm512_set1_epi32(std::numeric_limits<int>::min()));
}

// One limb of eight scaled elements; rest keeps what is below it.
inline __m512i next_limb(__m512d& rest, bool last) {
  if (last) return _mm512_cvtpd_epi64(rest);  // the one rounding
  const __m512d whole = _mm512_roundscale_pd(rest, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
  rest = _mm512_mul_pd(_mm512_sub_pd(rest, whole), _mm512_set1_pd(0x1p62));
  return _mm512_cvtpd_epi64(whole);
}

// From a plane to that of the next modulus, and from one part of complex numbers to the next; and whether planes are
// written through the caches.
struct PlaneStrides {
  std::size_t plane, part;
  bool cached;
};

// Low and high dwords of two registers of eight digits an element, in the order of the side.
template <PanelSide Side>
void part(__m512i x, __m512i y, __m512i& low, __m512i& high) {
  if constexpr (Side == PanelSide::rows) {
    const __m512i even = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    low = _mm512_permutex2var_epi32(x, even, y);
    high = _mm512_permutex2var_epi32(x, _mm512_or_si512(even, _mm512_set1_epi32(1)), y);
  } else {
    low = _mm512_castps_si512(_mm512_shuffle_ps(_mm512_castsi512_ps(x), _mm512_castsi512_ps(y), 0x88));
    high = _mm512_castps_si512(_mm512_shuffle_ps(_mm512_castsi512_ps(x), _mm512_castsi512_ps(y), 0xdd));
  }
}

template <PanelSide Side>
__m512i narrow_digits(__m512d x, __m512d y) {
  const __m512i low = _mm512_castsi256_si512(_mm512_cvtpd_epi32(x));
  __m512i both;
  if constexpr (Side == PanelSide::rows) {
    both = _mm512_inserti64x4(low, _mm512_cvtpd_epi32(y), 1);
  } else {
    const __m512i turns = _mm512_set_epi64(11, 3, 10, 2, 9, 1, 8, 0);
    both = _mm512_permutex2var_epi64(low, turns, _mm512_castsi256_si512(_mm512_cvtpd_epi32(y)));
  }
  return with_sign_turned(both);
}

// What scales sixteen elements: exponents of powers of two, or multiples of these as they are.
struct DoubleScales {
  using Element = double;
  struct Sixteen {
    __m512d low, high;
  };
  static Sixteen load(const double* p) { return {_mm512_load_pd(p), _mm512_load_pd(p + 8)}; }
  static Sixteen all(double x) { return {_mm512_set1_pd(x), _mm512_set1_pd(x)}; }
};
template <int Limbs>
struct PowerScale : DoubleScales {
  static constexpr int limbs = Limbs;
  static double of(int exponent, double) { return exponent; }
  static __m512d scaled(__m512d x, __m512d scale) {
    const __m512d above = _mm512_set1_pd(Limbs > 1 ? limb_bits * (Limbs - 1) : 0);
    return _mm512_scalef_pd(x, _mm512_sub_pd(scale, above));
  }
};
struct FactorScale : DoubleScales {
  static constexpr int limbs = 1;
  static double of(int exponent, double factor) { return std::ldexp(factor, exponent); }
  static __m512d scaled(__m512d x, __m512d scale) { return _mm512_mul_pd(x, scale); }
};

// Of floats whose integers are narrow.
struct FloatScale {
  using Element = float;
  using Sixteen = __m512;
  static constexpr int limbs = 0;
  static float of(int exponent, double) { return static_cast<float>(exponent); }
  static __m512 load(const float* p) { return _mm512_load_ps(p); }
  static __m512 all(float x) { return _mm512_set1_ps(x); }
};

// Digits of sixteen elements, x and y, of a line of tiles whose integers are added up: sums of two or three limbs fit
// 64 bits (DecomposeTask).
template <PanelSide Side, class Scale, int Terms, int Limbs = Scale::limbs>
void extract(const TileView<double> (&terms)[Terms], std::int64_t line, int from, const DoubleScales::Sixteen& scale,
             __m512i (&group)[groups_of(Limbs)]) {
  __m512d x[Terms], y[Terms];
  for (int i = 0; i < Terms; ++i) {
    const double* p = terms[i].data + line * terms[i].stride + from;
    x[i] = Scale::scaled(_mm512_loadu_pd(p), scale.low);
    y[i] = Scale::scaled(_mm512_loadu_pd(p + 8), scale.high);
  }
  if constexpr (Limbs == 0) {
    group[0] = narrow_digits<Side>(x[0], y[0]);
  } else {
    for (int t = Limbs - 1; t >= 0; --t) {
      __m512i xd = next_limb(x[0], t == 0), yd = next_limb(y[0], t == 0);
      for (int i = 1; i < Terms; ++i) {
        xd = _mm512_add_epi64(xd, next_limb(x[i], t == 0));
        yd = _mm512_add_epi64(yd, next_limb(y[i], t == 0));
      }
      part<Side>(xd, yd, group[2 * t], group[2 * t + 1]);
      group[2 * t + 1] = with_sign_turned(group[2 * t + 1]);
    }
  }
}

template <PanelSide Side, class Scale>
void extract(const TileView<float> (&terms)[1], std::int64_t line, int from, __m512 scale, __m512i (&group)[1]) {
  const __m512 x = _mm512_loadu_ps(terms[0].data + line * terms[0].stride + from);
  const __m512i integers = _mm512_cvtps_epi32(_mm512_scalef_ps(x, scale));
  const __m512i turns = _mm512_set_epi64(7, 3, 6, 2, 5, 1, 4, 0);
  group[0] = with_sign_turned(Side == PanelSide::rows ? integers : _mm512_permutexvar_epi64(turns, integers));
}

// The residues of 64 elements modulo one p, in the order of the side.
template <PanelSide Side, int Limbs>
__m512i residue_bytes(const Digits<Limbs>& digits, const DigitWeights& w) {
  const __m512i turn = _mm512_broadcast_i32x4(_mm_set_epi8(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0));
  const __m512 inverse = _mm512_set1_ps(w.remainder.inverse), bias = _mm512_set1_ps(w.remainder.bias);
  const __m512i factors = _mm512_set1_epi32(w.remainder.factors);
  __m512i r[4];
  for (int c = 0; c < 4; ++c) {
    __m512i sum = _mm512_set1_epi32(w.remainder.start);
    for (int g = 0; g < groups_of(Limbs); ++g)
      sum = _mm512_dpbusd_epi32(sum, digits.group[c][g],
                                _mm512_set1_epi32(static_cast<int>(w.group[static_cast<std::size_t>(g)])));
    const __m512i quotient = _mm512_castps_si512(_mm512_fmadd_ps(_mm512_castsi512_ps(sum), inverse, bias));
    r[c] = _mm512_dpwssd_epi32(sum, quotient, factors);
  }
  const __m512i bytes = _mm512_packs_epi16(_mm512_packs_epi32(r[0], r[1]), _mm512_packs_epi32(r[2], r[3]));
  return Side == PanelSide::rows ? _mm512_shuffle_epi8(bytes, turn) : bytes;
}

// The same modulo 256, to which the lowest digits alone contribute.
template <PanelSide Side, int Limbs>
__m512i low_bytes(const Digits<Limbs>& digits, const DigitWeights& w) {
  constexpr bool rows = Side == PanelSide::rows;
  const __m512i low = _mm512_broadcast_i32x4(rows ? _mm_set_epi8(12, 12, 12, 12, 8, 8, 8, 8, 4, 4, 4, 4, 0, 0, 0, 0)
                                                  : _mm_set1_epi32(0x0c080400));
  const __m512i factor = _mm512_set1_epi32(static_cast<int>(w.group[0]));
  __m512i bytes = _mm512_setzero_si512();
  for (int c = 0; c < 4; ++c) {
    __m512i x = digits.group[c][0];
    if (rows) x = _mm512_dpbusd_epi32(_mm512_setzero_si512(), x, factor);
    const __mmask64 place = rows ? __mmask64{0x1111111111111111} << c : __mmask64{0x000f000f000f000f} << 4 * c;
    bytes = _mm512_mask_shuffle_epi8(bytes, place, x, low);
  }
  return bytes;
}

inline void store(std::int8_t* out, __m512i bytes, bool cached) {
  if (cached)
    _mm512_store_si512(out, bytes);
  else
    _mm512_stream_si512(reinterpret_cast<__m512i*>(out), bytes);
}

// All residues of 64 elements; of complex ones those of x, y and x + y.
template <PanelSide Side, int Limbs, int Parts>
void store_residues(const Digits<Limbs> (&digits)[Parts], const DigitTables& tables, std::int8_t* out,
                    const PlaneStrides& strides) {
  static_assert(moduli[0] == 256);
  const auto store_plane = [&](const auto& bytes_of, const DigitWeights& w) {
    const __m512i x = bytes_of(digits[0], w);
    store(out, x, strides.cached);
    if constexpr (Parts == 2) {
      const __m512i y = bytes_of(digits[1], w);
      store(out + strides.part, y, strides.cached);
      store(out + 2 * strides.part, ByteModulus(w.modulus).sum(x, y), strides.cached);
    }
    out += strides.plane;
  };
  store_plane(low_bytes<Side, Limbs>, tables.weights[0]);
  for (int q = 1; q < tables.count; ++q)
    store_plane(residue_bytes<Side, Limbs>, tables.weights[static_cast<std::size_t>(q)]);
}

// What a thread converts next, while it is busy: a step of 64 k of 32 vectors along memory, vector by vector into the
// second-level cache. All at once, it would wait for them.
struct NextStep {
  const std::byte* first = nullptr;
  std::int64_t stride = 0, bytes = 0;  // from one vector to the next, and of each

  void fetch(std::int64_t vector) const {
    constexpr int second_level = 2;
    for (std::int64_t byte = 0; byte < bytes; byte += 64)
      __builtin_prefetch(first + vector * stride + byte, 0, second_level);
  }
};

template <class Scale, int Parts, int Terms>
void rows_of_step(const TileView<typename Scale::Element> (&tile)[Parts][Terms], const typename Scale::Element* scales,
                  const DigitTables& tables, std::int8_t* out, const PlaneStrides& strides, const NextStep& next) {
  constexpr int Limbs = Scale::limbs;
  for (int half = 0; half < 2; ++half) {
    const auto scale = Scale::load(scales + 16 * half);
    for (int g = 0; g < 16; ++g) {  // four k of sixteen rows
      next.fetch(16 * half + g);
      Digits<Limbs> digits[Parts];
      for (int part = 0; part < Parts; ++part)
        for (int c = 0; c < 4; ++c)
          extract<PanelSide::rows, Scale>(tile[part], k_of_byte(4 * g + c), 16 * half, scale, digits[part].group[c]);
      store_residues<PanelSide::rows, Limbs>(digits, tables, out + row_byte(16 * half, 4 * g), strides);
    }
  }
}

template <class Scale, int Parts, int Terms>
void columns_of_step(const TileView<typename Scale::Element> (&tile)[Parts][Terms],
                     const typename Scale::Element* scales, const DigitTables& tables, std::int8_t* out,
                     const PlaneStrides& strides, const NextStep& next) {
  constexpr int Limbs = Scale::limbs;
  for (int v = 0; v < strip_size; ++v) {
    next.fetch(v);
    const auto scale = Scale::all(scales[v]);
    Digits<Limbs> digits[Parts];
    for (int part = 0; part < Parts; ++part)
      for (int c = 0; c < 4; ++c)
        extract<PanelSide::columns, Scale>(tile[part], v, 16 * c, scale, digits[part].group[c]);
    store_residues<PanelSide::columns, Limbs>(digits, tables, out + column_byte(v, 0), strides);
  }
}

template <class Scale, int Parts, int Terms, class T>
void decompose(const Operand<T> (&strips)[Parts][Terms], const DigitTables& tables, const DecomposeTask& task,
               const PlaneStrides& strides) {
  using E = typename Scale::Element;
  alignas(64) E buffer[Parts][Terms][tile_elements], scales[strip_size];
  for (int v = 0; v < strip_size; ++v) scales[v] = Scale::of(task.scales[v], task.factor);
  for (std::int64_t step = task.filled.begin; step < std::min(task.filled.end, task.layout.steps); ++step) {
    TileView<E> tile[Parts][Terms];
    for (int part = 0; part < Parts; ++part)
      for (int i = 0; i < Terms; ++i)
        tile[part][i] = load_tile(strips[part][i], task, tables.side, step, buffer[part][i]);
    std::int8_t* out = task.planes + task.layout.offset(task.strip, step);
    constexpr std::int64_t size = sizeof(T);
    NextStep next;
    if (task.next != nullptr)
      next = {task.next + step * step_size * size, task.next_stride,
              std::min<std::int64_t>(step_size, strips[0][0].k - step * step_size) * size};
    if (tables.side == PanelSide::rows)
      rows_of_step<Scale>(tile, scales, tables, out, strides, next);
    else
      columns_of_step<Scale>(tile, scales, tables, out, strides, next);
  }
  _mm_sfence();
}

template <int Parts, int Terms, class T>
void decompose_limbs(const Operand<T> (&strips)[Parts][Terms], const DigitTables& tables, const DecomposeTask& task,
                     std::size_t part_bytes = 0) {
  const PlaneStrides strides{task.plane_bytes, part_bytes, task.cached};
  if constexpr (Terms == 1)  // sums are never narrow
    if (tables.limbs == 0)
      return decompose<std::conditional_t<std::is_same_v<T, float>, FloatScale, PowerScale<0>>>(strips, tables, task,
                                                                                                strides);
  switch (tables.limbs) {
    case 1:
      return decompose<PowerScale<1>>(strips, tables, task, strides);
    case 2:
      return decompose<PowerScale<2>>(strips, tables, task, strides);
    default:
      return decompose<PowerScale<3>>(strips, tables, task, strides);
  }
}

}  // namespace

template <class T>
void decompose_avx512(const Operand<T>& strip, const DigitTables& tables, const DecomposeTask& task) {
  if constexpr (std::is_same_v<T, double>)
    if (task.factor != 1) return decompose<FactorScale>({{strip}}, tables, task, {task.plane_bytes, 0, task.cached});
  decompose_limbs({{strip}}, tables, task);
}

void decompose_sum_avx512(const Operand<double>* terms, int count, const DigitTables& tables,
                          const DecomposeTask& task) {
  if (count == 1) return decompose_avx512(terms[0], tables, task);
  if (count == 2) return decompose_limbs({{terms[0], terms[1]}}, tables, task);
  decompose_limbs({{terms[0], terms[1], terms[2]}}, tables, task);
}

template <class T>
void decompose_complex_avx512(const ComplexStrip<T>& strip, const DigitTables& tables, const DecomposeTask& task,
                              std::size_t part_bytes) {
  decompose_limbs({{strip.real}, {strip.imaginary}}, tables, task, part_bytes);
}

VERNIER_REAL_INSTANCES(decompose_avx512, decompose_complex_avx512)

}  // namespace vernier
