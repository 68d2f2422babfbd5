// The product of |A| and |B| in low precision, and products whose scales come from it: a lower bound that is one, and
// every entry within the contract's bound (docs/accuracy.md, theorem 12).
#include "residue/bound/bound_search.hpp"

#include <algorithm>
#include <cmath>

#include "../engine/emulated_tile.hpp"
#include "blas/plan.hpp"
#include "engine/bound/bound_loop.hpp"
#include "fixture.hpp"
#include "residue/bound/moduli_guess.hpp"
#include "support/bound.hpp"

namespace vernier::test::bound_test {
namespace {

const BoundTiles& emulated_tiles() {
  static constexpr BoundTiles tiles{[] {}, [] {}, [](const BoundStrips& s) { multiply_bound_strips<EmulatedTile>(s); }};
  return tiles;
}

// What a search knows of its operands after the product.
template <class T>
class Measured {
 public:
  Measured(const Matrix<T>& a, const Matrix<T>& b, const BoundTiles* tiles, std::int64_t skip, bool symmetric)
      : shape_{a.rows(), b.columns(), a.columns()}, plan_(plan_product<T>(shape_, {.engine = "portable"})) {
    const BoundBlocking blocking =
        choose_bound_blocking({shape_.m, shape_.n, bound_k(shape_.k, skip)}, 2, tiles != nullptr, 1U << 20, skip == 1);
    memory_.resize(vector_bytes(shape_, 2, false) + blocking.bytes + 2 * Arena::alignment);
    Arena arena(memory_.data(), memory_.size());
    vectors = carve_vectors(arena, shape_, 2, false);
    problem_.a = {a.data(), shape_.m, shape_.k, a.ld(), false};
    problem_.b = {b.data(), shape_.n, shape_.k, b.ld(), true};
    problem_.symmetric = symmetric;
    statistics_portable(problem_.a, 0, shape_.m, vectors.a.statistics);
    statistics_portable(problem_.b, 0, shape_.n, vectors.b.statistics);
    std::optional<BoundSample> sample;
    BoundSearch<T>(plan_, problem_, vectors, blocking, tiles, arena, sample, skip).measure();
  }

  const BoundRule& rule() const { return *plan_.bound; }

  VectorBuffers vectors;

 private:
  ProductShape shape_;
  ProductPlan plan_;
  ResidueProblem<T> problem_{};
  std::vector<std::byte> memory_;
};

// |x| / 2^e, which no exponent of the type leaves the range of.
template <class T>
long double magnitude(T x, int exponent) {
  return std::ldexp(std::abs(static_cast<long double>(x)), -exponent);
}

// skip: of so many steps of 32 k the product has the first, and the sum, too.
template <class T>
void expect_bounds_from_below(const Matrix<T>& a, const Matrix<T>& b, const BoundTiles* tiles, std::int64_t skip = 1,
                              bool symmetric = false) {
  const Measured<T> measured(a, b, tiles, skip, symmetric);
  const std::int64_t m = a.rows(), n = b.columns(), k = a.columns();
  const BoundProduct product = bound_product(k, tiles != nullptr);
  const VectorBuffers& v = measured.vectors;
  const auto weight = [&](const VectorStatistics& s) { return bound_weight(measured.rule(), k, s); };
  const auto lower = [&](float minimum) { return std::ldexp(minimum * product.lower, -product.unit); };
  for (std::int64_t i = 0; i < m; ++i) {
    long double least = INFINITY;
    for (std::int64_t j = 0; j < n; ++j) {
      const VectorStatistics &row = v.a.statistics[i], &column = v.b.statistics[j];
      long double sum = 0;
      for (std::int64_t l = 0; l < k; ++l)
        if (l / 32 % skip == 0) sum += magnitude(a(i, l), row.exponent) * magnitude(b(l, j), column.exponent);
      if (sum == 0 && (skip == 1 || row.zero() || column.zero())) continue;
      least = std::min(least, sum / weight(column));
      EXPECT_LE(lower(v.a.bounds.minima[i]), sum / weight(column)) << i << ", " << j;
      EXPECT_LE(lower(v.b.bounds.minima[j]), sum / weight(row)) << i << ", " << j;
    }
    // Not far below either: elements that are too small to count are smaller than 2^-60 of their row's largest. A part
    // of k says nothing of a sum with a zero vector.
    const bool told =
        skip == 1 || std::none_of(v.b.statistics, v.b.statistics + n, [](const auto& x) { return x.zero(); });
    if (told && least < INFINITY && least > 0x1p-30L) {
      EXPECT_GT(lower(v.a.bounds.minima[i]), 0.95L * least) << i;
    }
  }
}

template <class T>
Matrix<T> graded(std::int64_t rows, std::int64_t columns, int width, std::uint64_t seed) {
  Random random(seed);
  return Matrix<T>::of(rows, columns, [&](auto i, auto) {
    const T x = random.scattered(0.5);
    return random.integer(0, 5) == 0
               ? T{0}
               : static_cast<T>(std::ldexp(x, static_cast<int>(random.integer(-width, 0) - (i % 3) * width / 2)));
  });
}

template <class T>
class BoundOf : public testing::Test {};
using Types = testing::Types<double, float>;
TYPED_TEST_SUITE(BoundOf, Types);

TYPED_TEST(BoundOf, FloatsAndTilesNeverExceedsTheTrueProduct) {
  const int most = sizeof(TypeParam) == 4 ? 40 : 400;
  std::uint64_t seed = 1;
  for (const BoundTiles* tiles : {static_cast<const BoundTiles*>(nullptr), &emulated_tiles()})
    for (const std::int64_t k : {1, 2, 31, 33, 700})
      for (const int width : {0, 6, 30, most}) {
        SCOPED_TRACE(joined(tiles != nullptr ? "tiles" : "floats", ", k = ", k, ", width ", width));
        seed += 2;
        expect_bounds_from_below(graded<TypeParam>(70, k, width, seed), graded<TypeParam>(k, 37, width, seed + 1),
                                 tiles);
      }
}

// A sum of zeros says nothing of what is left out.
TYPED_TEST(BoundOf, APartOfKNeverExceedsItsSum) {
  std::uint64_t seed = 90;
  for (const BoundTiles* tiles : {static_cast<const BoundTiles*>(nullptr), &emulated_tiles()})
    for (const std::int64_t k : {1, 33, 95, 700})
      for (const std::int64_t skip : {2, 3}) {
        SCOPED_TRACE(joined(tiles != nullptr ? "tiles" : "floats", ", k = ", k, ", skip ", skip));
        seed += 2;
        const auto a = graded<TypeParam>(40, k, 6, seed), b = graded<TypeParam>(k, 37, 6, seed + 1);
        expect_bounds_from_below(a, b, tiles, skip);
        auto apart = a;
        for (std::int64_t l = 0; l < k; ++l)
          if (l / 32 % skip == 0) apart(3, l) = 0;
        expect_bounds_from_below(apart, b, tiles, skip);
      }
}

// Of triangles, bands and blocks, whose tiles are skipped.
TYPED_TEST(BoundOf, DataWithZerosOnTilesNeverExceedsTheTrueProduct) {
  for (const std::int64_t skip : {1, 2})
    for (const int form : {0, 1, 2}) {
      SCOPED_TRACE(joined("skip ", skip, ", form ", form));
      auto a = graded<TypeParam>(100, 1300, 6, 11), b = graded<TypeParam>(1300, 70, 6, 12);
      const auto zero = [form](std::int64_t l, std::int64_t v) {
        return form == 0 ? l > 13 * v : form == 1 ? l / 200 != v / 16 : l < 1100 || v / 32 == 1;
      };
      for (std::int64_t l = 0; l < 1300; ++l) {
        for (std::int64_t i = 0; i < 100; ++i) a(i, l) = zero(l, i) ? 0 : a(i, l);
        for (std::int64_t j = 0; j < 70; ++j) b(l, j) = zero(l, j) ? 0 : b(l, j);
      }
      expect_bounds_from_below(a, b, &emulated_tiles(), skip);
    }
}

// More rows than a group has.
TYPED_TEST(BoundOf, HalfOfASymmetricProductNeverExceedsIt) {
  for (const std::int64_t skip : {1, 2}) {
    const auto a = graded<TypeParam>(600, 33, 6, 200);
    expect_bounds_from_below(a, transposed(a), &emulated_tiles(), skip, true);
  }
}

// Largest and smallest numbers of the type, whose magnitudes no float holds unscaled.
TYPED_TEST(BoundOf, HugeAndSubnormalVectorsAreBoundedToo) {
  using Limits = std::numeric_limits<TypeParam>;
  for (const BoundTiles* tiles : {static_cast<const BoundTiles*>(nullptr), &emulated_tiles()}) {
    const auto a = Matrix<TypeParam>::of(5, 40, [](auto i, auto l) {
      return i % 2 == 0 ? Limits::max() / static_cast<TypeParam>(l + 1)
                        : Limits::denorm_min() * static_cast<TypeParam>(l);
    });
    expect_bounds_from_below(a, transposed(a), tiles);
  }
}

class BoundedProducts : public PerEngine {};
INSTANTIATE_TEST_SUITE_P(Engines, BoundedProducts, testing::ValuesIn(engine_cases()), ReadableName());

// Data that statistics of rows and columns leave without proof, under every contract that promises no bits.
TEST_P(BoundedProducts, KeepTheBoundOfEveryContractForEveryEntry) {
  with_type([this]<class T>(T) {
    int bounded = 0;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      Random random(seed);
      const std::int64_t m = random.integer(1, 40), n = random.integer(1, 40), k = random.integer(1, 300);
      const int width = static_cast<int>(random.integer(0, 60));
      const auto a = graded<T>(m, k, width, 2 * seed), b = graded<T>(k, n, width, 2 * seed + 1);
      const ExactProduct<T> exact(a, b);
      for (const Contract& contract : {Contract::fp64(), Contract::fp32(), Contract::bits(30), Contract::bits(70)}) {
        const auto out = multiply<T>({.a = a, .b = b}, {.contract = contract, .engine = options<T>().engine});
        EXPECT_EQ(broken_bound(contract, a, b, exact, out.c), "") << contract.text() << ", seed " << seed;
        bounded += out.report.bounded ? 1 : 0;
      }
    }
    EXPECT_GT(bounded, 60);
  });
}

// Rectified data: statistics of rows with half their elements zero prove nothing, but the residues that are there
// serve, as a part of the product tells. Where large elements lie in what it leaves out, all of it tells.
TEST_P(BoundedProducts, ServeByTheResiduesThatAreThere) {
  constexpr std::int64_t m = 140, n = 130, k = 2100;  // the part lies where products will
  const auto positive = scattered_matrix<double>(m, k, 0.5, 3), b = scattered_matrix<double>(k, n, 0.5, 4);
  const auto a = Matrix<double>::of(m, k, [&](auto i, auto l) { return std::max(positive(i, l), 0.0); });
  const auto hidden = Matrix<double>::of(
      m, k, [&](auto i, auto l) { return l / 32 % 2 == 1 ? a(i, l) : std::ldexp(a(i, l), i % 2 == 0 ? -60 : 0); });
  const auto made = [&](const Matrix<double>& x) {
    auto out = multiply<double>({.a = x, .b = b}, {.contract = Contract::fp64(), .engine = options<double>().engine});
    EXPECT_EQ(broken_bound(Contract::fp64(), x, b, out.c), "");
    EXPECT_TRUE(out.report.bounded);
    return out.report;
  };
  const Report plain = made(a);
  EXPECT_EQ(plain.plan.moduli, 15);
  EXPECT_EQ(plain.wide_moduli, 0) << "no pass of its own";
  EXPECT_GT(made(hidden).wide_moduli, 0) << "by all of the product";
}

// Few elements in each row, of which no part of k tells: all of the product tells that the residues serve, where there
// is room for it beside them.
TEST_P(BoundedProducts, ServeByTheResiduesThatAreThereOfSparseVectors) {
  const auto made = [&](std::int64_t m, std::int64_t n, std::int64_t k, int one_of) {
    const auto full = scattered_matrix<double>(m, k, 0.5, 5), b = scattered_matrix<double>(k, n, 0.5, 6);
    const auto a =
        Matrix<double>::of(m, k, [&](auto i, auto l) { return (i + 7 * l) % one_of == 0 ? full(i, l) : 0.0; });
    auto out = multiply<double>({.a = a, .b = b}, {.contract = Contract::fp64(), .engine = options<double>().engine});
    EXPECT_EQ(broken_bound(Contract::fp64(), a, b, out.c), "");
    EXPECT_TRUE(out.report.bounded);
    return out.report;
  };
  const Report serves = made(140, 130, 2100, 20);
  EXPECT_EQ(serves.plan.moduli, 15);
  EXPECT_EQ(serves.wide_moduli, 0) << "no pass of its own";
  EXPECT_GT(made(140, 130, 2100, 2000).wide_moduli, 0) << "one or two elements a row";
  made(3, 5, 9000, 20);
}

// What a product does whose sample of vectors is wide.
Report multiply_by_guess(const Matrix<double>& a, const Matrix<double>& b, const Options& options) {
  const ProductShape shape{a.rows(), b.columns(), a.columns()};
  ProductPlan plan = plan_product<double>(shape, options);
  plan.seems_wide = true;
  Matrix<double> c(shape.m, shape.n);
  const ResidueProblem<double> problem{{{a.data(), shape.m, shape.k, a.ld(), false},
                                        {b.data(), shape.n, shape.k, b.ld(), true},
                                        {1.0, 0.0, c.data(), c.ld()}}};
  Report report;
  report.plan = plan.printable;
  EXPECT_TRUE(residue_gemm(plan, problem, options, report));
  EXPECT_EQ(broken_bound(options.contract, a, b, c), "");
  return report;
}

// Residues of as many moduli as a sample asks for serve, as a part of the product tells, or those of few more; where
// norms tell too little of the entries, scales from all of the product come before any residues.
Matrix<double> half_of(const Matrix<double>& x) {
  return Matrix<double>::of(x.rows(), x.columns(), [&](auto i, auto j) { return std::max(x(i, j), 0.0); });
}
TEST_P(BoundedProducts, ServeByTheModuliThatASampleAsksFor) {
  constexpr std::int64_t m = 140, n = 130, k = 2100;
  const auto a = scattered_matrix<double>(m, k, 0.5, 3), b = scattered_matrix<double>(k, n, 0.5, 4);
  const auto made = [&](const Matrix<double>& x, const Matrix<double>& y) {
    return multiply_by_guess(x, y, {.contract = Contract::fp64(), .engine = options<double>().engine});
  };
  const Report ordinary = made(a, b);
  EXPECT_FALSE(ordinary.bounded);
  EXPECT_EQ(ordinary.plan.moduli, 15);
  const Report half = made(half_of(a), b);
  EXPECT_TRUE(half.bounded);
  EXPECT_EQ(half.plan.moduli, 15);
  EXPECT_EQ(half.wide_moduli, 0) << "no pass of its own";
  const Report spread = made(scattered_matrix<double>(m, k, 2.5, 5), scattered_matrix<double>(k, n, 2.5, 6));
  EXPECT_TRUE(spread.bounded);
  EXPECT_GT(spread.plan.moduli, 15);
  EXPECT_EQ(spread.wide_moduli, 0) << "no pass of its own";
  // One row and one column that share few large elements, which are not in the sample.
  const auto apart = [](const Matrix<double>& x, std::int64_t vector, bool row, int odd) {
    return Matrix<double>::of(x.rows(), x.columns(), [&](auto i, auto j) {
      const std::int64_t l = row ? j : i;
      return (row ? i : j) == vector && (l % 2 == odd) ? std::ldexp(x(i, j), -8) : x(i, j);
    });
  };
  const Report more = made(apart(half_of(a), 40, true, 0), apart(b, 40, false, 1));
  EXPECT_TRUE(more.bounded);
  EXPECT_GT(more.wide_moduli, 15);
  const auto grade = [](const Matrix<double>& x, bool row, int sign) {
    return Matrix<double>::of(x.rows(), x.columns(), [&](auto i, auto j) {
      return std::ldexp(x(i, j), static_cast<int>(sign * (row ? j : i) * 24 / k));
    });
  };
  const Report graded = made(grade(a, true, -1), grade(b, false, 1));
  EXPECT_TRUE(graded.bounded);
  EXPECT_GT(graded.wide_moduli, 15) << "after statistics alone";
  EXPECT_LT(graded.wide_moduli, 19);
}

// A guess that is sure of itself is right, so that residues are made once; where it is not, a part of the product is
// the first to tell.
TEST_P(BoundedProducts, ConvertOnceWhereAGuessIsSure) {
  constexpr std::int64_t m = 140, n = 130, k = 2100;
  const Options by{.contract = Contract::fp64(), .engine = options<double>().engine};
  const ProductPlan plan = plan_product<double>({m, n, k}, by);
  int sure = 0, unsure = 0;
  for (const double phi : {0.0, 1.5, 2.0, 2.3}) {
    const auto x = scattered_matrix<double>(m, k, phi == 0 ? 0.5 : phi, 11),
               b = scattered_matrix<double>(k, n, phi, 12);
    const auto a = phi == 0 ? half_of(x) : x;
    std::optional<BoundSample> sample;
    const ModuliGuess guess =
        guess_moduli<double>(plan, {a.data(), m, k, a.ld(), false}, {b.data(), n, k, b.ld(), true}, sample);
    const Report report = multiply_by_guess(a, b, by);
    if (!report.bounded) continue;
    guess.sure ? ++sure : ++unsure;
    EXPECT_TRUE(!guess.sure || report.wide_moduli == 0) << "phi = " << phi << ": residues of " << guess.by_norms;
  }
  EXPECT_GT(sure, 0);
  EXPECT_GT(unsure, 0);
}

// Where corners of the product lack more than others, no part of k is asked.
TEST(ModuliGuess, LeavesTrianglesToTheWholeProduct) {
  constexpr std::int64_t n = 1024;
  const ProductPlan plan = plan_product<double>({n, n, n}, {.contract = Contract::fp64(), .engine = "portable"});
  const auto guess_of = [&](bool triangles) {
    auto a = scattered_matrix<double>(n, n, 1, 3), b = scattered_matrix<double>(n, n, 1, 4);
    for (std::int64_t l = 0; l < n && triangles; ++l)
      for (std::int64_t i = 0; i < l; ++i) a(i, l) = b(l, i) = 0;
    std::optional<BoundSample> sample;
    return guess_moduli<double>(plan, {a.data(), n, n, a.ld(), false}, {b.data(), n, n, b.ld(), true}, sample);
  };
  EXPECT_GT(guess_of(false).by_norms, 0);
  EXPECT_EQ(guess_of(true).by_norms, 0);
  EXPECT_GT(guess_of(true).by_product, 0);
}

// Nor where all entries lack far more than a sample can tell.
TEST(ModuliGuess, LeavesScatteredDataToTheWholeProduct) {
  constexpr std::int64_t n = 2048;
  const ProductPlan plan = plan_product<double>({n, n, n}, {.contract = Contract::fp64(), .engine = "portable"});
  const auto guess_of = [&](double phi) {
    const auto a = scattered_matrix<double>(n, n, phi, 3), b = scattered_matrix<double>(n, n, phi, 4);
    std::optional<BoundSample> sample;
    return guess_moduli<double>(plan, {a.data(), n, n, a.ld(), false}, {b.data(), n, n, b.ld(), true}, sample);
  };
  EXPECT_GT(guess_of(4).by_norms, 0);
  const ModuliGuess guess = guess_of(5);
  EXPECT_EQ(guess.by_norms, 0) << "20 moduli would serve the sample";
  EXPECT_GT(guess.by_product, 0);
}

// Fewer moduli than the scales of statistics take, for the same contract.
TEST_P(BoundedProducts, TakeFewerModuliThanReproducibleOnes) {
  with_type([this]<class T>(T) {
    const auto a = graded<T>(60, 500, 12, 5), b = graded<T>(500, 50, 12, 6);
    Contract contract = sizeof(T) == 4 ? Contract::fp32() : Contract::fp64();
    const auto out = multiply<T>({.a = a, .b = b}, {.contract = contract, .engine = options<T>().engine}).report;
    contract.reproducible = true;
    const auto usual = multiply<T>({.a = a, .b = b}, options<T>(contract)).report;
    ASSERT_TRUE(out.bounded);
    EXPECT_FALSE(usual.bounded);
    EXPECT_LT(out.plan.moduli, std::max(usual.plan.moduli, usual.wide_moduli));
    EXPECT_NE(out.text().find("|A||B|"), std::string::npos);
  });
}

}  // namespace
}  // namespace vernier::test::bound_test
