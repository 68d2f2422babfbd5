// Residues of C -> T: byte dot products for groups of three moduli (VPDPBUSD), and from their sums either C as a
// fraction of P, which most doubles are rounded from (remainder_avx512.hpp), or the Chinese remainder and one rounding
// in the conversion of the leading 64 bits, the last of which is sticky.
#include <type_traits>

#include "base/instantiate.hpp"
#include "number/ieee754.hpp"
#include "residue/recombine/remainder_avx512.hpp"

namespace vernier {
namespace {

inline __m512i scaled_exponent(const Leading& c, __m512i row_scales, int column_scale) {
  return _mm512_sub_epi64(c.exponent, _mm512_add_epi64(row_scales, _mm512_set1_epi64(column_scale)));
}

inline void store(const Leading& c, __m512i exponent, double* out) {
  _mm512_store_pd(out, _mm512_scalef_pd(_mm512_cvtepi64_pd(c.significand), _mm512_cvtepi64_pd(exponent)));
}

inline void store(const Leading& c, __m512i exponent, float* out) {
  _mm256_store_ps(out, _mm256_scalef_ps(_mm512_cvtepi64_ps(c.significand), _mm512_cvtepi64_ps(exponent)));
}

template <class T>
void store_rounded(const Leading& c, __m512i row_scales, int column_scale, T* out) {
  const __m512i exponent = scaled_exponent(c, row_scales, column_scale);
  store(c, exponent, out);
  // Where the result may be subnormal the power of two rounds a second time: those lanes are rounded once from the
  // integer.
  const __m512i least = _mm512_set1_epi64(Ieee754<T>::min_exponent);
  const __mmask8 low = _mm512_cmplt_epi64_mask(exponent, least);
  if (__builtin_expect(low == 0, 1)) return;
  alignas(64) std::int64_t significand[8], exponents[8];
  _mm512_store_si512(significand, c.significand);
  _mm512_store_si512(exponents, exponent);
  for (int i = 0; i < 8; ++i) {
    const std::int64_t x = significand[i];
    const auto bits = static_cast<std::uint64_t>(x), magnitude = x < 0 ? 0 - bits : bits;
    if ((low >> i & 1) != 0) out[i] = round_scaled<T>(x < 0, magnitude, static_cast<int>(exponents[i]));
  }
}

// 64 residues modulo q, sixteen rows of four columns. Those of four quads later are sent for, which measured best:
// beyond the end of a block they are those of the next one.
inline __m512i load_residues(const std::int8_t* p) {
  _mm_prefetch(reinterpret_cast<const char*>(p + 4 * 64), _MM_HINT_T0);
  return _mm512_load_si512(p);
}

// y_g of sixteen rows of four columns.
struct alignas(64) GroupSums {
  std::uint32_t y[4][16];

  __m512i of(int half, int column) const {  // of eight rows, as 64-bit integers
    return _mm512_cvtepu32_epi64(_mm256_load_si256(reinterpret_cast<const __m256i*>(y[column] + 8 * half)));
  }
};

// residues(q): of modulus q.
template <class Residues>
inline void group_sums(const RecombineTables& tables, int g, const Residues& residues, GroupSums& out) {
  const __m512i zero = _mm512_setzero_si512();
  const auto load = [&](int q) { return q < tables.system.count ? residues(q) : zero; };
  const __m512i a = load(3 * g), b = load(3 * g + 1), c = load(3 * g + 2);
  const __m512i ab_low = _mm512_unpacklo_epi8(a, b), ab_high = _mm512_unpackhi_epi8(a, b);
  const __m512i c_low = _mm512_unpacklo_epi8(c, zero), c_high = _mm512_unpackhi_epi8(c, zero);
  const __m512i triples[4] = {_mm512_unpacklo_epi16(ab_low, c_low), _mm512_unpackhi_epi16(ab_low, c_low),
                              _mm512_unpacklo_epi16(ab_high, c_high), _mm512_unpackhi_epi16(ab_high, c_high)};
  const auto i = static_cast<std::size_t>(g);
  const __m512i low = _mm512_set1_epi32(static_cast<int>(tables.weight_low[i]));
  const __m512i high = _mm512_set1_epi32(static_cast<int>(tables.weight_high[i]));
  const __m512i offset = _mm512_set1_epi32(static_cast<int>(2 * tables.group_product[i] >> 8));
  const __m512i offset_low = _mm512_set1_epi32(static_cast<int>(2 * tables.group_product[i] << 24));
  for (int v = 0; v < 4; ++v) {
    const __m512i upper = _mm512_dpbusd_epi32(offset, high, triples[v]);
    _mm512_store_si512(out.y[v], _mm512_dpbusd_epi32(_mm512_shldi_epi32(upper, offset_low, 8), low, triples[v]));
  }
}

// C from the sums of the groups.
template <class F, Wanted W>
inline auto integer(const RecombineTables& tables, const __m512i* y) {
  if constexpr (F::limbs == 1) {
    const Leading c = one_word_remainder(tables, F::groups_of(tables), y);
    if constexpr (W == Wanted::one_word)
      return c;
    else
      return LongLeading{c.significand, _mm512_setzero_si512(), c.exponent};
  } else {
    __m512i t[F::limbs];
    chinese_remainder<F>(tables, y, t);
    if constexpr (F::limbs == 3)
      return leading_bits_of_two_words<W>(t);
    else if constexpr (F::limbs == 4 && F::groups != 0)
      return leading_bits_of_three_words<W>(t);
    else
      return leading_bits<W>(t);
  }
}

// What becomes of eight rows of one column: T, or the leading bits.
template <class T>
struct RoundedSink {
  static constexpr Wanted wanted = Wanted::one_word;
  static constexpr bool from_fractions = std::is_same_v<T, double>;
  const int *row_scales, *column_scales;
  T* tile;

  // What is stored of RN(C) and its multiple by the power of two, eight rows of a column.
  __m512d of_fraction(__m512d, __m512d scaled) const { return scaled; }

  void put(const Leading& c, int row, int column) const {
    const __m512i rows = _mm512_cvtepi32_epi64(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(row_scales + row)));
    store_rounded(c, rows, column_scales[column], tile + column * strip_size + row);
  }
};

// T of a speculative product, and the largest |C| so far. 1 / divisor is two doubles, so that the product before its
// one rounding is off by 2^-104 of it at most; and a quotient by ten bits is no nearer to where RN changes than 2^-64
// of it.
struct SpeculativeSink : RoundedSink<double> {
  __m512d inverse, inverse_rest;
  mutable __m512d largest = _mm512_setzero_pd();

  SpeculativeSink(const int* rows, const int* columns, double* to, double divisor)
      : RoundedSink{rows, columns, to},
        inverse(_mm512_set1_pd(1 / divisor)),
        inverse_rest(_mm512_set1_pd(__builtin_fma(-1 / divisor, divisor, 1) / divisor)) {}

  __m512d of_fraction(__m512d c, __m512d scaled) const {
    constexpr int larger_magnitude = 0xb;
    largest = _mm512_range_pd(largest, c, larger_magnitude);
    return _mm512_fmadd_pd(scaled, inverse, _mm512_mul_pd(scaled, inverse_rest));
  }

  void put(const Leading& c, int row, int column) const {
    RoundedSink::put(c, row, column);
    double* out = tile + column * strip_size + row;
    const __m512d value = _mm512_scalef_pd(_mm512_cvtepi64_pd(c.significand), _mm512_cvtepi64_pd(c.exponent));
    _mm512_store_pd(out, of_fraction(value, _mm512_load_pd(out)));
  }
};

struct LeadingSink {
  static constexpr Wanted wanted = Wanted::two_words;
  static constexpr bool from_fractions = false;
  LeadingTile& tile;

  void put(const LongLeading& c, int row, int column) const {
    const auto at = static_cast<std::size_t>(column * strip_size + row);
    _mm512_store_si512(&tile.high[at], c.high);
    _mm512_store_si512(&tile.low[at], c.low);
    _mm256_store_si256(reinterpret_cast<__m256i*>(&tile.exponent[at]), _mm512_cvtepi64_epi32(c.exponent));
  }
};

// Which of eight integers are zero: those whose residues all are, as where there are no rows or columns any more.
template <class F>
inline __mmask8 zeros(const RecombineTables& tables, const __m512i* y) {
  __mmask8 zero = 0xff;
  for (int g = 0; g < F::groups_of(tables); ++g)
    zero = _mm512_mask_cmpeq_epi64_mask(zero, y[g], set1(2 * tables.group_product[static_cast<std::size_t>(g)]));
  return zero;
}

// Sixteen rows of four columns, rounded from their fractions; false if that leaves one of them in doubt.
template <class F, class Residues, class Sink>
inline bool round_quad(const RecombineTables& tables, int quad, const Residues& residues, const ExponentFields& fields,
                       const Sink& sink) {
  const int column = (quad >> 3) * 16 + (quad & 3) * 4, row = (quad >> 2 & 1) * 16, groups = F::groups_of(tables);
  GroupSums sums[F::max_groups];
  for (int g = 0; g < groups; ++g) group_sums(tables, g, residues, sums[g]);
  for (int half = 0; half < 2; ++half) {
    const __m512i rows = _mm512_load_si512(fields.rows + row + 8 * half);
    for (int v = 0; v < 4; ++v) {
      __m512i y[F::max_groups];
      for (int g = 0; g < groups; ++g) y[g] = sums[g].of(half, v);
      const Rounded c = round_by_fraction(tables.fraction, groups, y);
      __m512i scaled = _mm512_add_epi64(_mm512_add_epi64(_mm512_castpd_si512(c.value), rows),
                                        _mm512_set1_epi64(fields.columns[column + v]));
      const __mmask8 doubt = _mm512_test_epi64_mask(c.doubt, c.doubt);
      if (__builtin_expect(doubt != 0, 0)) {
        const auto other = static_cast<__mmask8>(~zeros<F>(tables, y));
        if ((doubt & other) != 0) return false;
        scaled = _mm512_maskz_mov_epi64(other, scaled);
      }
      _mm512_store_pd(sink.tile + (column + v) * strip_size + row + 8 * half,
                      sink.of_fraction(c.value, _mm512_castsi512_pd(scaled)));
    }
  }
  return true;
}

// Sixteen rows of four columns.
template <class F, class Residues, class Sink>
inline void recombine_quad(const RecombineTables& tables, int quad, const Residues& residues, const Sink& sink) {
  const int column = (quad >> 3) * 16 + (quad & 3) * 4, row = (quad >> 2 & 1) * 16, groups = F::groups_of(tables);
  GroupSums sums[F::max_groups];
  for (int g = 0; g < groups; ++g) group_sums(tables, g, residues, sums[g]);
  for (int half = 0; half < 2; ++half) {
    for (int v = 0; v < 4; ++v) {
      __m512i y[F::max_groups];
      for (int g = 0; g < groups; ++g) y[g] = sums[g].of(half, v);
      sink.put(integer<F, Sink::wanted>(tables, y), row + 8 * half, column + v);
    }
  }
}

constexpr int quads = 16;  // 64 bytes a modulus each

// A block of residues, and where it goes.
template <class SinkType>
struct RealBlock {
  using Sink = SinkType;
  const std::int8_t* residues;
  std::size_t plane_bytes;
  Sink sink;

  const Sink& first_sink() const { return sink; }

  // use(residues, sink) of a quad; whether that is all there is to do.
  template <class Use>
  bool each(const RecombineTables&, int quad, const Use& use) const {
    const auto load = [&](int q) {
      return load_residues(residues + 64 * quad + static_cast<std::size_t>(q) * plane_bytes);
    };
    return use(load, sink);
  }
};

// Real and imaginary part out of three products.
template <class SinkType>
struct ComplexBlock {
  using Sink = SinkType;
  const std::int8_t* products;
  std::size_t plane_bytes, part_bytes;
  Sink part[2];

  const Sink& first_sink() const { return part[0]; }

  template <class Use>
  bool each(const RecombineTables& tables, int quad, const Use& use) const {
    __m512i residues[2][max_moduli];
    for (int q = 0; q < tables.system.count; ++q) {
      const auto i = static_cast<std::size_t>(q);
      const std::int8_t* p = products + 64 * quad + i * plane_bytes;
      const __m512i xu = load_residues(p), yv = load_residues(p + part_bytes);
      const __m512i sums = load_residues(p + 2 * part_bytes);
      const ByteModulus modulo(moduli[i]);
      residues[0][q] = modulo.difference(xu, yv);
      residues[1][q] = modulo.difference(modulo.difference(sums, xu), yv);
    }
    for (int x = 0; x < 2; ++x)
      if (!use([&](int q) { return residues[x][q]; }, part[x])) return false;
    return true;
  }
};

// Doubles come from fractions, until a second quad has one in doubt: then there may be many.
template <class F, class Block>
void recombine(const RecombineTables& tables, const Block& block) {
  const auto take_integers = [&](int quad) {
    block.each(tables, quad, [&](const auto& residues, const auto& sink) {
      recombine_quad<F>(tables, quad, residues, sink);
      return true;
    });
  };
  int quad = 0;
  if constexpr (Block::Sink::from_fractions && F::limbs > 1) {
    const ExponentFields fields(tables, block.first_sink().row_scales, block.first_sink().column_scales);
    const auto round = [&](const auto& residues, const auto& sink) {
      return round_quad<F>(tables, quad, residues, fields, sink);
    };
    for (int doubts = fields.serve ? 0 : 2; quad < quads && doubts < 2; ++quad) {
      if (block.each(tables, quad, round)) continue;
      take_integers(quad);
      ++doubts;
    }
  }
  for (; quad < quads; ++quad) take_integers(quad);
}

template <class Block, int Limbs>
auto loop_form(const RecombineTables& tables) {
  return tables.factor_limbs < Limbs ? recombine<Form<Limbs, Limbs - 1, 0>, Block>
                                     : recombine<Form<Limbs, Limbs, 0>, Block>;
}

template <class Block>
auto choose_form(const RecombineTables& tables) {
  if (tables.one_word) return tables.groups == 3 ? recombine<Form<1, 1, 3>, Block> : recombine<Form<1, 1, 0>, Block>;
  if (tables.limbs == 3 && tables.factor_limbs <= 2) {
    switch (tables.groups) {
      case 3:
        return recombine<Form<3, 2, 3>, Block>;  // 8 and 9 moduli; 7, for fp32, are one word
      case 4:
        return recombine<Form<3, 2, 4>, Block>;  // 10 to 12: proofs
      case 5:
        return recombine<Form<3, 2, 5>, Block>;  // 13 to 15: fp64
      default:
        return recombine<Form<3, 2, 0>, Block>;
    }
  }
  switch (tables.limbs) {
    case 3:
      return loop_form<Block, 3>(tables);
    case 4:
      if (tables.groups == 6 && tables.factor_limbs <= 2) return recombine<Form<4, 2, 6>, Block>;  // 17, 18: exact
      if (tables.groups == 7 && tables.factor_limbs <= 3) return recombine<Form<4, 3, 7>, Block>;  // 19 to 21
      if (tables.groups == 8 && tables.factor_limbs <= 3) return recombine<Form<4, 3, 8>, Block>;  // 22 to 24
      return loop_form<Block, 4>(tables);
    case 5:
      if (tables.groups == 10 && tables.factor_limbs <= 4) return recombine<Form<5, 4, 10>, Block>;  // 28 to 30: dd
      return loop_form<Block, 5>(tables);
    case 6:
      return loop_form<Block, 6>(tables);
    default:
      return loop_form<Block, 7>(tables);
  }
}

}  // namespace

template <class T>
void recombine_avx512(const RecombineTables& tables, const std::int8_t* residues, std::size_t plane_bytes,
                      const int* row_scales, const int* column_scales, T* tile) {
  using Block = RealBlock<RoundedSink<T>>;
  choose_form<Block>(tables)(tables, Block{residues, plane_bytes, {row_scales, column_scales, tile}});
}

bool recombine_speculative_avx512(const RecombineTables& tables, const std::int8_t* residues, std::size_t plane_bytes,
                                  const int* row_scales, const int* column_scales, const SpeculativeTile& speculative,
                                  double* tile) {
  const RealBlock<SpeculativeSink> block{residues, plane_bytes, {row_scales, column_scales, tile, speculative.divisor}};
  recombine<Form<3, 2, 5>>(tables, block);
  return _mm512_cmp_pd_mask(block.sink.largest, _mm512_set1_pd(speculative.certain), _CMP_NLT_UQ) == 0;
}

template <class T>
void recombine_complex_avx512(const RecombineTables& tables, const ComplexResidues& residues, const int* row_scales,
                              const int* column_scales, T* real, T* imaginary) {
  using Block = ComplexBlock<RoundedSink<T>>;
  choose_form<Block>(tables)(tables,
                             Block{residues.products,
                                   residues.plane_bytes,
                                   residues.part_bytes,
                                   {{row_scales, column_scales, real}, {row_scales, column_scales, imaginary}}});
}

void recombine_leading_avx512(const RecombineTables& tables, const std::int8_t* residues, std::size_t plane_bytes,
                              LeadingTile& out) {
  using Block = RealBlock<LeadingSink>;
  choose_form<Block>(tables)(tables, Block{residues, plane_bytes, {out}});
}

VERNIER_REAL_INSTANCES(recombine_avx512, recombine_complex_avx512)

}  // namespace vernier
