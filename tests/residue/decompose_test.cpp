#include "residue/convert/decompose.hpp"

#include <gmpxx.h>

#include <algorithm>

#include "backends.hpp"
#include "product/strip.hpp"
#include "samples.hpp"
#include "scaled_integer.hpp"

namespace vernier::test::decompose_test {
namespace {

template <class T>
class DecomposeTest : public SchemeTest<T> {};
TYPED_TEST_SUITE(DecomposeTest, Types);

constexpr std::int8_t untouched = 99;

struct Form {
  PanelSide side;
  bool k_contiguous, narrow;
  int limbs;
  bool nonfinite, cached;

  int largest() const { return narrow ? narrow_exponent : largest_exponent(limbs); }
  std::string text() const {
    return joined(side == PanelSide::rows ? "rows" : "columns", k_contiguous ? ", k contiguous, " : ", k strided, ",
                  narrow ? 0 : limbs, " limbs", nonfinite ? ", not finite" : "", cached ? ", cached" : "");
  }
};

std::vector<Form> all_forms() {
  std::vector<Form> forms;
  for (const PanelSide side : {PanelSide::rows, PanelSide::columns})
    for (const bool k_contiguous : {false, true})
      for (int limbs = 0; limbs <= max_limbs; ++limbs)
        for (const bool nonfinite : {false, true})
          for (const bool cached : {false, true})
            forms.push_back({side, k_contiguous, limbs == 0, std::max(limbs, 1), nonfinite, cached});
  return forms;
}

// Some vectors, of which a strip and a range of k are decomposed into the second of three strips.
template <class T>
struct Case {
  Matrix<T> x;
  std::int64_t first_vector, k_begin, k_count;
  std::vector<int> scales;

  Case(std::int64_t vectors, std::int64_t first, std::int64_t begin, std::int64_t count, const Form& form, Random& r)
      : x(vectors_of_all_kinds<T>(begin + count + 3, vectors, r)), first_vector(first), k_begin(begin), k_count(count) {
    if (form.nonfinite) sprinkle_nonfinite(x, r);
    for (std::int64_t v = first; v < first + strip_size; ++v) {
      const VectorStatistics s = v < vectors ? vector_statistics(&x(0, v), 1, x.rows()) : VectorStatistics{};
      // Up to the largest scaled exponent that the form allows, where a tenth of the vectors are.
      const int exponent =
          std::max(0, form.largest() - static_cast<int>(r.integer(0, 9)) * static_cast<int>(r.integer(0, 9)));
      scales.push_back(v < vectors && !s.zero() ? exponent - s.exponent : 0);
    }
  }
};

struct Planes {
  PanelLayout layout;
  std::size_t stride;
  std::vector<std::int8_t> storage;
  std::int8_t* begin;

  Planes(const PanelLayout& l, int count)
      : layout(l),
        stride(static_cast<std::size_t>(l.bytes()) + 64),
        storage(stride * static_cast<std::size_t>(count) + 64, untouched) {
    begin = storage.data() + (64 - reinterpret_cast<std::uintptr_t>(storage.data()) % 64) % 64;
  }
  std::int8_t at(int q, std::int64_t strip, int v, std::int64_t l, PanelSide side) const {
    int b = 0;
    while (k_of_byte(b) != l % step_size) ++b;
    const int byte = side == PanelSide::rows ? row_byte(v, b) : column_byte(v, b);
    return begin[static_cast<std::size_t>(q) * stride +
                 static_cast<std::size_t>(layout.offset(strip, l / step_size) + byte)];
  }
};

template <class T>
Planes decomposed(decltype(SchemeBackend<T>::decompose) decompose, const Case<T>& c, const Form& form, int count,
                  double factor = 1) {
  const DigitTables tables(residue_system(count), form.side, form.narrow, form.limbs);
  const StoredOperand<T> stored(c.x, form.k_contiguous, 3);
  Planes planes(panel_layout(3 * strip_size, c.k_count), count);
  decompose(strip_of(stored.operand, c.first_vector, c.k_begin, c.k_count), tables,
            {.scales = c.scales.data(),
             .factor = factor,
             .planes = planes.begin,
             .plane_bytes = planes.stride,
             .layout = planes.layout,
             .strip = 1,
             .has_nonfinite = form.nonfinite,
             .cached = form.cached});
  return planes;
}

template <class T>
void expect_exact_residues(const Planes& planes, const Case<T>& c, const Form& form, int count) {
  const ResidueSystem& system = residue_system(count);
  for (std::int64_t v = 0; v < strip_size; ++v)
    for (std::int64_t l = 0; l < planes.layout.steps * step_size; ++l) {
      const bool inside = c.first_vector + v < c.x.columns() && l < c.k_count;
      const mpz_class x = inside ? scaled_integer(static_cast<double>(c.x(c.k_begin + l, c.first_vector + v)),
                                                  c.scales[static_cast<std::size_t>(v)])
                                 : mpz_class(0);
      for (int q = 0; q < count; ++q) {
        const auto i = static_cast<std::size_t>(q);
        const int p = moduli[i], factor = form.side == PanelSide::rows ? system.row_factor[i] : 1;
        const auto rest = static_cast<std::int64_t>(mpz_fdiv_ui(x.get_mpz_t(), static_cast<unsigned long>(p)));
        ASSERT_EQ(planes.at(q, 1, static_cast<int>(v), l, form.side), symmetric_residue(rest * factor, p))
            << form.text() << ": vector " << v << ", k " << l << ", modulo " << p << ", " << x.get_str();
      }
    }
}

template <class T>
void expect_exact(decltype(SchemeBackend<T>::decompose) decompose) {
  Random random(1);
  for (const Form& form : all_forms())
    for (const int count : {2, 15, 49}) {
      const Case<T> c(60, 20, 1, count == 15 ? 77 : 64, form, random);
      expect_exact_residues(decomposed(decompose, c, form, count), c, form, count);
      if (testing::Test::HasFatalFailure()) return;
    }
}

TYPED_TEST(DecomposeTest, PortableResiduesAreThoseOfTheRoundedInteger) {
  expect_exact<TypeParam>(decompose_portable<TypeParam>);
}
TYPED_TEST(DecomposeTest, VectorResiduesAreThoseOfTheRoundedInteger) {
  VERNIER_NEEDS_VECTORS(TypeParam);
  for (const SchemeBackend<TypeParam>* vector : vector_backends<TypeParam>()) {
    expect_exact<TypeParam>(vector->decompose);
  }
}

// Of operands whose exponents are far from the ends of the range, as speculative products have them.
void expect_factors(decltype(SchemeBackend<double>::decompose) decompose) {
  Random random(3);
  for (const Form& form : all_forms()) {
    if (form.limbs != 1 || form.narrow) continue;
    Case<double> c(60, 20, 1, 77, form, random);
    c.x = Matrix<double>::of(c.x.rows(), c.x.columns(), [&](auto, auto) { return random.scattered(1.0); });
    for (int v = 0; v < strip_size; ++v)
      c.scales[static_cast<std::size_t>(v)] = static_cast<int>(random.integer(-5, 52));
    if (form.nonfinite) sprinkle_nonfinite(c.x, random);
    for (const int sixteenths : {17, 23, 31}) {
      const double factor = sixteenths / 16.0;
      Case<double> multiplied = c;
      for (std::int64_t v = 0; v < c.x.columns(); ++v)
        for (std::int64_t l = 0; l < c.x.rows(); ++l) multiplied.x(l, v) *= factor;
      const Planes got = decomposed<double>(decompose, c, form, 14, factor);
      const Planes expected = decomposed<double>(decompose, multiplied, form, 14);
      EXPECT_TRUE(std::equal(got.begin, got.begin + 14 * got.stride, expected.begin)) << form.text();
    }
  }
}

TEST(DecomposeOfSpeculativeProducts, PortableTakesFactorsIntoTheElements) {
  expect_factors(decompose_portable<double>);
}
TEST(DecomposeOfSpeculativeProducts, VectorsTakeFactorsIntoTheElements) {
  VERNIER_NEEDS_VECTORS(double);
  for (const SchemeBackend<double>* vector : vector_backends<double>()) {
    expect_factors(vector->decompose);
  }
}

// Every byte of all planes, those of other strips and the gaps between planes included.
TYPED_TEST(DecomposeTest, VectorsWriteTheBytesOfPortable) {
  VERNIER_NEEDS_VECTORS(TypeParam);
  for (const SchemeBackend<TypeParam>* vector : vector_backends<TypeParam>()) {
    Random random(2);
    for (const Form& form : all_forms())
      for (const int count : {2, 7, 49})
        for (const std::int64_t k : {1, 64, 101, 1100})
          for (const std::int64_t first : {0, 32}) {
            if (((k > 1000 || k == 64) && count != 7) || (count == 49 && first != 0)) continue;
            const Case<TypeParam> c(first == 0 ? 32 : 49, first, first == 0 ? 0 : 5, k, form, random);
            const Planes portable = decomposed<TypeParam>(decompose_portable<TypeParam>, c, form, count);
            const Planes got = decomposed<TypeParam>(vector->decompose, c, form, count);
            const std::size_t bytes = portable.stride * static_cast<std::size_t>(count);
            const auto [at, other] = std::mismatch(portable.begin, portable.begin + bytes, got.begin);
            ASSERT_EQ(at, portable.begin + bytes)
                << form.text() << ", " << count << " moduli, k = " << k << ", from vector " << first << ": byte "
                << (at - portable.begin) << " is " << static_cast<int>(*other) << ", expected "
                << static_cast<int>(*at);
          }
  }
}

TYPED_TEST(DecomposeTest, WritesItsOwnStripAlone) {
  Random random(3);
  for (const Form& form : all_forms()) {
    const Case<TypeParam> c(32, 0, 0, 100, form, random);
    const Planes planes = decomposed<TypeParam>(best_backend<TypeParam>().decompose, c, form, 3);
    for (int q = 0; q < 3; ++q)
      for (const std::int64_t strip : {0, 2})
        for (int v = 0; v < strip_size; ++v)
          for (std::int64_t l = 0; l < 128; ++l)
            ASSERT_EQ(planes.at(q, strip, v, l, form.side), untouched) << form.text();
  }
}

// Every integer near zero and near the ends of the narrow form, so that every residue and every tie of one is there.
TYPED_TEST(DecomposeTest, HitsEveryResidueOfIntegers) {
  Random random(4);
  for (const Form& form : all_forms()) {
    if (form.nonfinite) continue;
    Case<TypeParam> c(32, 0, 0, 64, form, random);
    for (std::int64_t v = 0; v < 32; ++v) {
      for (std::int64_t l = 0; l < c.x.rows(); ++l) {
        const std::int64_t x = v * 64 + l - 1024;
        c.x(l, v) = static_cast<TypeParam>(x) / 2;  // ties in every other element
      }
      c.scales[static_cast<std::size_t>(v)] = form.narrow ? static_cast<int>(v % 16) : static_cast<int>(v);
    }
    expect_exact_residues(decomposed<TypeParam>(best_backend<TypeParam>().decompose, c, form, 49), c, form, 49);
    if (this->HasFatalFailure()) return;
  }
}

// Planes of the real parts, of the imaginary parts, and of their sums modulo each p.
template <class T>
void expect_complex(decltype(SchemeBackend<T>::decompose_complex) decompose) {
  Random random(6);
  for (const Form& form : all_forms())
    for (const int count : {2, 15, 49}) {
      const Case<T> c(60, 20, 1, 77, form, random);
      Case<T> d(60, 20, 1, 77, form, random);
      d.scales = c.scales;
      for (std::int64_t v = 0; v < 60; ++v)  // within what the scale of the other part allows
        for (std::int64_t l = 0; l < d.x.rows(); ++l) d.x(l, v) = -c.x((l * 5 + 2) % c.x.rows(), v);
      const Planes real = decomposed<T>(decompose_portable<T>, c, form, count);
      const Planes imaginary = decomposed<T>(decompose_portable<T>, d, form, count);
      const DigitTables tables(residue_system(count), form.side, form.narrow, form.limbs);
      const StoredOperand<T> x(c.x, form.k_contiguous, 3), y(d.x, form.k_contiguous, 3);
      const Planes all(real.layout, 3 * count);
      const std::size_t part = static_cast<std::size_t>(count) * all.stride;
      decompose({strip_of(x.operand, 20, 1, 77), strip_of(y.operand, 20, 1, 77)}, tables,
                {.scales = c.scales.data(),
                 .planes = all.begin,
                 .plane_bytes = all.stride,
                 .layout = all.layout,
                 .strip = 1,
                 .has_nonfinite = form.nonfinite,
                 .cached = form.cached},
                part);
      for (int q = 0; q < count; ++q)
        for (std::size_t b = 0; b < all.stride; ++b) {
          const std::size_t at = static_cast<std::size_t>(q) * all.stride + b;
          const int u = real.begin[at], v = imaginary.begin[at];
          ASSERT_EQ(all.begin[at], u) << form.text();
          ASSERT_EQ(all.begin[part + at], v) << form.text();
          if (u == untouched && v == untouched && all.begin[2 * part + at] == untouched) continue;
          ASSERT_EQ(all.begin[2 * part + at], symmetric_residue(u + v, moduli[static_cast<std::size_t>(q)]))
              << form.text();
        }
    }
}

TYPED_TEST(DecomposeTest, PortableComplexPlanesAreThoseOfThePartsAndTheirSums) {
  expect_complex<TypeParam>(decompose_complex_portable<TypeParam>);
}
TYPED_TEST(DecomposeTest, VectorComplexPlanesAreThoseOfThePartsAndTheirSums) {
  VERNIER_NEEDS_VECTORS(TypeParam);
  for (const SchemeBackend<TypeParam>* vector : vector_backends<TypeParam>()) {
    expect_complex<TypeParam>(vector->decompose_complex);
  }
}

}  // namespace
}  // namespace vernier::test::decompose_test
