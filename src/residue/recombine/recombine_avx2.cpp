// Residues of C -> T by the sums in double of crt.hpp, four rows of a column at a time. Entries that these leave in
// doubt are rounded one by one from the whole integer.

#include "base/instantiate.hpp"
#include "number/ieee754.hpp"
#include "residue/convert/bytes_avx2.hpp"
#include "residue/recombine/recombine.hpp"

namespace vernier {
namespace {

constexpr int lanes = 4;

// A block of residues in the order of residue_index().
struct ResidueBlock {
  const std::int8_t* data;
  std::size_t plane_bytes;
};

// C = sum_l 2^(width l) s_l of four rows.
template <int Limbs>
struct LimbSums {
  __m256d s[Limbs];
};

template <int Limbs>
inline void add(LimbSums<Limbs>& sums, __m128i u, const double* weight) {
  const __m256d d = _mm256_cvtepi32_pd(u);
  for (int l = 0; l < Limbs; ++l) sums.s[l] = _mm256_fmadd_pd(d, _mm256_set1_pd(weight[l]), sums.s[l]);
}

// kappa P taken away, as CrtSums::reduce() does.
template <int Limbs>
inline void reduce(LimbSums<Limbs>& sums, const LimbSumTables& tables) {
  const __m256d step = _mm256_set1_pd(1.0 / static_cast<double>(std::uint64_t{1} << tables.width));
  const __m256d magic = _mm256_set1_pd(0x1.8p52);
  __m256d top = sums.s[0];
  for (int l = 1; l < Limbs; ++l) top = _mm256_fmadd_pd(top, step, sums.s[l]);
  const __m256d kappa = _mm256_sub_pd(_mm256_fmadd_pd(top, _mm256_set1_pd(tables.inverse_top), magic), magic);
  for (int l = 0; l < Limbs; ++l) sums.s[l] = _mm256_fnmadd_pd(kappa, _mm256_set1_pd(tables.product[l]), sums.s[l]);
}

// Four rows of four columns, whose residues are 16 bytes.
template <int Limbs>
inline void sum_columns(const LimbSumTables& tables, int moduli_count, const std::int8_t* residues,
                        std::size_t plane_bytes, LimbSums<Limbs> (&sums)[4]) {
  for (auto& column : sums)
    for (auto& s : column.s) s = _mm256_setzero_pd();
  const auto load = [&](int q) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(residues + static_cast<std::size_t>(q) * plane_bytes));
  };
  for (int g = 0; g < tables.pairs; ++g) {
    const __m128i a = load(2 * g), b = 2 * g + 1 < moduli_count ? load(2 * g + 1) : _mm_setzero_si128();
    const __m256i pair = _mm256_set1_epi32(static_cast<int>(tables.pair[g]));
    const __m256i low = _mm256_madd_epi16(_mm256_cvtepi8_epi16(_mm_unpacklo_epi8(a, b)), pair);
    const __m256i high = _mm256_madd_epi16(_mm256_cvtepi8_epi16(_mm_unpackhi_epi8(a, b)), pair);
    add(sums[0], _mm256_castsi256_si128(low), tables.weight[g]);
    add(sums[1], _mm256_extracti128_si256(low, 1), tables.weight[g]);
    add(sums[2], _mm256_castsi256_si128(high), tables.weight[g]);
    add(sums[3], _mm256_extracti128_si256(high, 1), tables.weight[g]);
  }
  for (auto& column : sums) reduce(column, tables);
}

// RN(C) in units of 2^(width (Limbs - 2)), as round_by_sums() finds it; all bits of a lane set where it is in doubt, or
// where C is 0.
struct Rounded {
  __m256d value;
  __m256i doubt, zero;
};

inline __m256d magnitude(__m256d x) { return _mm256_andnot_pd(_mm256_set1_pd(-0.0), x); }

template <int Limbs>
inline Rounded rounded(const LimbSums<Limbs>& c, int width) {
  const __m256d unit = _mm256_set1_pd(1.0 / static_cast<double>(std::uint64_t{1} << width));
  __m256d low = c.s[0], errors = _mm256_setzero_pd();
  for (int l = 1; l < Limbs - 2; ++l) {
    low = _mm256_fmadd_pd(low, unit, c.s[l]);
    errors = _mm256_fmadd_pd(errors, unit, magnitude(low));
  }
  const __m256d a = _mm256_mul_pd(c.s[Limbs - 1], _mm256_set1_pd(static_cast<double>(std::uint64_t{1} << width)));
  const __m256d sum = _mm256_add_pd(a, c.s[Limbs - 2]), t = _mm256_sub_pd(sum, a);
  const __m256d error = _mm256_add_pd(_mm256_sub_pd(a, _mm256_sub_pd(sum, t)), _mm256_sub_pd(c.s[Limbs - 2], t));
  const __m256d rest = _mm256_fmadd_pd(low, unit, error);
  __m256d up, down;
  if constexpr (Limbs == 3) {
    up = _mm256_fmadd_pd(rest, _mm256_set1_pd(1.0 + 0x1p-50), sum);
    down = _mm256_fmadd_pd(rest, _mm256_set1_pd(1.0 - 0x1p-50), sum);
  } else {
    const __m256d margin = _mm256_mul_pd(_mm256_fmadd_pd(errors, unit, magnitude(rest)), _mm256_set1_pd(0x1p-50));
    up = _mm256_add_pd(sum, _mm256_add_pd(rest, margin));
    down = _mm256_add_pd(sum, _mm256_sub_pd(rest, margin));
  }
  const __m256d none = _mm256_setzero_pd();
  const __m256i zero =
      _mm256_castpd_si256(_mm256_and_pd(_mm256_cmp_pd(up, none, _CMP_EQ_OQ), _mm256_cmp_pd(down, none, _CMP_EQ_OQ)));
  return {up, _mm256_castpd_si256(_mm256_cmp_pd(up, down, _CMP_NEQ_UQ)), zero};
}

// 2^-(row + column scale) times the unit of Rounded, as what it adds to an exponent.
struct ExponentFields {
  alignas(32) std::int64_t rows[strip_size];
  const int* columns;

  ExponentFields(const int* row_scales, const int* column_scales, int unit) : columns(column_scales) {
    for (int i = 0; i < strip_size; ++i) rows[i] = unit - row_scales[i];
  }
  __m256i of(int row, int column) const {
    return _mm256_sub_epi64(_mm256_load_si256(reinterpret_cast<const __m256i*>(rows + row)),
                            _mm256_set1_epi64x(columns[column]));
  }
};

// The bits of four T as double, and which lanes are undecided: one bit each.
struct Scaled {
  __m256d value;
  int undecided;
};

template <class T>
inline Scaled scaled(const Rounded& c, __m256i exponent) {
  constexpr int bias = Ieee754<double>::max_exponent;
  constexpr int least = Ieee754<T>::min_exponent + bias, most = Ieee754<T>::max_exponent + bias;
  const __m256i bits = _mm256_castpd_si256(c.value);
  const __m256i field =
      _mm256_add_epi64(_mm256_and_si256(_mm256_srli_epi64(bits, 52), _mm256_set1_epi64x(0x7ff)), exponent);
  __m256i doubt = _mm256_or_si256(c.doubt, _mm256_or_si256(_mm256_cmpgt_epi64(_mm256_set1_epi64x(least), field),
                                                           _mm256_cmpgt_epi64(field, _mm256_set1_epi64x(most - 1))));
  if constexpr (sizeof(T) == 4)  // no tie of the second rounding
    doubt = _mm256_or_si256(doubt, _mm256_cmpeq_epi64(_mm256_and_si256(bits, _mm256_set1_epi64x(0x1fffffff)),
                                                      _mm256_set1_epi64x(0x10000000)));
  const __m256i moved = _mm256_add_epi64(bits, _mm256_slli_epi64(exponent, 52));
  return {_mm256_castsi256_pd(_mm256_andnot_si256(c.zero, moved)),
          _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_andnot_si256(c.zero, doubt)))};
}

inline void store(double* out, __m256d x) { _mm256_store_pd(out, x); }
inline void store(float* out, __m256d x) { _mm_store_ps(out, _mm256_cvtpd_ps(x)); }

template <class T>
struct RoundedSink {
  const RecombineTables& tables;
  const LimbSumTables& sums_of;
  const ResidueBlock& block;
  const int *row_scales, *column_scales;
  T* tile;
  ExponentFields fields;

  RoundedSink(const RecombineTables& t, const ResidueBlock& b, const int* rows, const int* columns, T* to)
      : tables(t),
        sums_of(limb_sum_tables(t.system.count)),
        block(b),
        row_scales(rows),
        column_scales(columns),
        tile(to),
        fields(rows, columns, sums_of.width * (sums_of.limbs - 2)) {}

  template <int Limbs>
  void put(const LimbSums<Limbs>& sums, int row, int column) const {
    const Scaled x = scaled<T>(rounded(sums, sums_of.width), fields.of(row, column));
    store(tile + column * strip_size + row, x.value);
    if (__builtin_expect(x.undecided != 0, 0)) put_undecided(x.undecided, row, column);
  }

  T by_integer(int row, int column, int exponent) const {
    return rounded_entry<T>(tables, block.data + residue_index(row, column), block.plane_bytes, exponent);
  }

  void put_undecided(int undecided, int row, int column) const {
    for (int i = 0; i < lanes; ++i)
      if ((undecided >> i & 1) != 0)
        tile[column * strip_size + row + i] =
            by_integer(row + i, column, -(row_scales[row + i] + column_scales[column]));
  }
};

struct SpeculativeSink : RoundedSink<double> {
  __m256d divisor, certain_below;
  mutable bool certain = true;

  SpeculativeSink(const RoundedSink& sink, const SpeculativeTile& tile)
      : RoundedSink(sink), divisor(_mm256_set1_pd(tile.divisor)), certain_below(_mm256_set1_pd(tile.certain)) {}

  template <int Limbs>
  void put(const LimbSums<Limbs>& sums, int row, int column) const {
    const Rounded c = rounded(sums, sums_of.width);
    const Scaled x = scaled<double>(c, fields.of(row, column));
    double* out = tile + column * strip_size + row;
    store(out, x.value);
    __m256d integer = scaled<double>(c, _mm256_set1_epi64x(sums_of.width * (sums_of.limbs - 2))).value;
    if (__builtin_expect(x.undecided != 0, 0)) {
      put_undecided(x.undecided, row, column);
      alignas(32) double values[lanes];
      _mm256_store_pd(values, integer);
      for (int i = 0; i < lanes; ++i)
        if ((x.undecided >> i & 1) != 0) values[i] = by_integer(row + i, column, 0);
      integer = _mm256_load_pd(values);
    }
    certain = certain && _mm256_movemask_pd(_mm256_cmp_pd(magnitude(integer), certain_below, _CMP_NLT_UQ)) == 0;
    store(out, _mm256_div_pd(_mm256_load_pd(out), divisor));
  }
};

struct LeadingSink {
  const LimbSumTables& sums_of;
  LeadingTile& tile;

  template <int Limbs>
  void put(const LimbSums<Limbs>& sums, int row, int column) const {
    alignas(32) double s[Limbs * lanes];
    for (int l = 0; l < Limbs; ++l) _mm256_store_pd(s + l * lanes, sums.s[l]);
    for (int i = 0; i < lanes; ++i)
      put_leading(sums_of, s + i, lanes, static_cast<std::size_t>(column * strip_size + row + i), tile);
  }
};

template <int Limbs, class Sink>
void recombine(const RecombineTables& tables, const ResidueBlock& block, const Sink& sink) {
  for (int column = 0; column < strip_size; column += 4)
    for (int row = 0; row < strip_size; row += lanes) {
      LimbSums<Limbs> sums[4];
      sum_columns(sink.sums_of, tables.system.count, block.data + residue_index(row, column), block.plane_bytes, sums);
      for (int c = 0; c < 4; ++c) sink.put(sums[c], row, column + c);
    }
}

template <class Sink>
void recombine_any(const RecombineTables& tables, const ResidueBlock& block, const Sink& sink) {
  switch (sink.sums_of.limbs) {
    case 3:
      return recombine<3>(tables, block, sink);
    case 4:
      return recombine<4>(tables, block, sink);
    case 6:
      return recombine<6>(tables, block, sink);
    case 9:
      return recombine<9>(tables, block, sink);
    default:
      return recombine<11>(tables, block, sink);
  }
}

}  // namespace

template <class T>
void recombine_avx2(const RecombineTables& tables, const std::int8_t* residues, std::size_t plane_bytes,
                    const int* row_scales, const int* column_scales, T* tile) {
  const ResidueBlock block{residues, plane_bytes};
  recombine_any(tables, block, RoundedSink<T>(tables, block, row_scales, column_scales, tile));
}

bool recombine_speculative_avx2(const RecombineTables& tables, const std::int8_t* residues, std::size_t plane_bytes,
                                const int* row_scales, const int* column_scales, const SpeculativeTile& speculative,
                                double* tile) {
  const ResidueBlock block{residues, plane_bytes};
  const SpeculativeSink sink({tables, block, row_scales, column_scales, tile}, speculative);
  recombine<3>(tables, block, sink);
  return sink.certain;
}

template <class T>
void recombine_complex_avx2(const RecombineTables& tables, const ComplexResidues& residues, const int* row_scales,
                            const int* column_scales, T* real, T* imaginary) {
  alignas(32) std::int8_t parts[2][max_moduli * block_elements];
  for (int q = 0; q < tables.system.count; ++q) {
    const auto i = static_cast<std::size_t>(q);
    const ByteModulus modulo(moduli[i]);
    const std::int8_t* products = residues.products + i * residues.plane_bytes;
    for (int e = 0; e < block_elements; e += 32) {
      const __m256i xu = load_bytes(products + e), yv = load_bytes(products + residues.part_bytes + e);
      const __m256i sums = load_bytes(products + 2 * residues.part_bytes + e);
      store_bytes(parts[0] + q * block_elements + e, modulo.difference(xu, yv));
      store_bytes(parts[1] + q * block_elements + e, modulo.difference(modulo.difference(sums, xu), yv));
    }
  }
  recombine_avx2(tables, parts[0], block_elements, row_scales, column_scales, real);
  recombine_avx2(tables, parts[1], block_elements, row_scales, column_scales, imaginary);
}

void recombine_leading_avx2(const RecombineTables& tables, const std::int8_t* residues, std::size_t plane_bytes,
                            LeadingTile& out) {
  recombine_any(tables, {residues, plane_bytes}, LeadingSink{limb_sum_tables(tables.system.count), out});
}

VERNIER_REAL_INSTANCES(recombine_avx2, recombine_complex_avx2)

}  // namespace vernier
