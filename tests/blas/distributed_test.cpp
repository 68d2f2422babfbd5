// DistributedProduct by parties that this process plays: the bits of gemm, however m, n and k are cut and in whatever
// order the parties' messages meet.
#include "vernier/distributed.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "distributed_parties.hpp"
#include "support/exact.hpp"

namespace vernier::distributed_test {
namespace {

using namespace test;

struct Coverage {
  int two_passes = 0, digits = 0, beyond = 0, regular = 0, products = 0, different = 0;
};

template <class R>
bool same_real(R x, R y) {
  return (x != x && y != y) || std::memcmp(&x, &y, sizeof x) == 0;
}
template <class T>
bool same(T x, T y) {
  if constexpr (is_complex<T>)
    return same_real(x.real(), y.real()) && same_real(x.imag(), y.imag());
  else
    return same_real(x, y);
}

template <class T>
std::optional<Status> status_of(Stored<T>& c, const Problem<T>& p, const Stored<T>& a, const Stored<T>& b) {
  try {
    gemm(p.opa, p.opb, p.m, p.n, p.k, p.alpha, a.data.data(), a.ld(), b.data.data(), b.ld(), p.beta, c.data.data(),
         c.ld(), p.options);
  } catch (const Error& error) {
    return error.status();
  }
  return std::nullopt;
}

// Some rows and columns of a regular product alone: are the bits those of the whole?
template <class T>
bool part_agrees(const Problem<T>& p, const Stored<T>& a, const Stored<T>& b, const Stored<T>& c,
                 const Stored<T>& expected, Random& r) {
  const std::int64_t i0 = r.integer(0, p.m - 1), m = r.integer(1, p.m - i0), j0 = r.integer(0, p.n - 1),
                     n = r.integer(1, p.n - j0);
  const T* rows = a.data.data() + (p.opa == Op::none ? i0 : i0 * a.ld());
  const T* columns = b.data.data() + (p.opb == Op::none ? j0 * b.ld() : j0);
  Stored<T> part = c;
  gemm(p.opa, p.opb, m, n, p.k, p.alpha, rows, a.ld(), columns, b.ld(), p.beta, part.data.data() + i0 + j0 * c.ld(),
       c.ld(), p.options);
  for (std::int64_t j = j0; j < j0 + n; ++j)
    for (std::int64_t i = i0; i < i0 + m; ++i) {
      const auto at = static_cast<std::size_t>(i + j * c.ld());
      if (!same(part.data[at], expected.data[at])) return false;
    }
  return true;
}

// One product both ways; what is different goes into the coverage.
template <class T>
void compare(const Problem<T>& p, Kind a_kind, Kind b_kind, Random& r, Coverage& coverage) {
  const bool a_turned = p.opa != Op::none, b_turned = p.opb != Op::none;
  Stored<T> a = random_matrix<T>(a_turned ? p.k : p.m, a_turned ? p.m : p.k, a_kind, r);
  Stored<T> b = random_matrix<T>(b_turned ? p.n : p.k, b_turned ? p.k : p.n, b_kind, r);
  Stored<T> c = random_matrix<T>(p.m, p.n, ordinary, r), expected = c;
  const std::optional<Status> failure = status_of(expected, p, a, b);
  ++coverage.products;
  Parties<T> parties(p, a, b, r);
  try {
    const bool reads = p.alpha != T{0};
    if (reads) parties.scan();
    const Stored<T> result = parties.multiply(c);
    coverage.two_passes += parties.first().passes() == 2;
    coverage.digits += reads && parties.first().moduli(0) == 0;
    bool equal = !failure;
    for (std::size_t i = 0; i < result.data.size(); ++i) equal = equal && same(result.data[i], expected.data[i]);
    if (reads && parties.first().regular()) {
      ++coverage.regular;
      equal = equal && part_agrees(p, a, b, c, expected, r);
    }
    coverage.different += !equal;
  } catch (const Error& error) {
    ++coverage.beyond;
    coverage.different += failure != error.status();
  }
}

template <class T>
T scalar(Random& r, bool real) {
  using R = RealType<T>;
  constexpr R values[] = {1, -1, 0, 2, R(0.3), R(-1.7e5)};
  const auto any = [&] { return values[r.integer(0, 5)]; };
  if constexpr (is_complex<T>)
    return real ? T(any(), 0) : T(any(), any());
  else
    return any();
}

template <class T>
Coverage campaign(const std::vector<const char*>& contracts, int products, std::uint64_t seed) {
  Random r(seed);
  Coverage coverage;
  constexpr Op ops[] = {Op::none, Op::transpose, Op::conjugate_transpose};
  for (int i = 0; i < products; ++i) {
    Problem<T> p{ops[r.integer(0, 2)], ops[r.integer(0, 2)], r.integer(1, 34), r.integer(1, 34), r.integer(1, 50)};
    p.options.contract = Contract::parse(contracts[static_cast<std::size_t>(i) % contracts.size()]);
    p.options.threads = 1;
    const bool real = p.options.contract.kind == Contract::Kind::exact || r.integer(0, 1) == 0;
    p.alpha = scalar<T>(r, real);
    if (p.alpha == T{0} && r.integer(0, 3) != 0) p.alpha = T{1};
    p.beta = scalar<T>(r, real);
    const auto kind = [&] { return static_cast<Kind>(r.integer(0, kinds - 1)); };
    const bool one_wide_row = i % 20 == 19;  // of A: two passes
    if (one_wide_row) p.opa = Op::none, p.m = r.integer(24, 36);
    const Kind a_kind = one_wide_row ? some_wide : kind(), b_kind = one_wide_row ? ordinary : kind();
    compare(p, a_kind, b_kind, r, coverage);
    if (coverage.different > 0) {
      ADD_FAILURE() << "product " << i << ": " << p.options.contract.text() << ", m n k " << p.m << ' ' << p.n << ' '
                    << p.k << ", data " << a_kind << ' ' << b_kind << ", ops " << static_cast<char>(p.opa)
                    << static_cast<char>(p.opb);
      break;
    }
  }
  return coverage;
}

TEST(Distributed, DoubleHasTheBitsOfOneProcess) {
  const Coverage c = campaign<double>(
      {"fp64+reproducible", "fp64+reproducible", "fp64-normwise+reproducible", "bits(70)+reproducible", "exact"}, 900,
      1);
  EXPECT_EQ(c.products, 900);
  EXPECT_GE(c.two_passes, 20);
  EXPECT_GE(c.digits, 10);
  EXPECT_GE(c.beyond, 10);
  EXPECT_GE(c.regular, 100);
  EXPECT_LT(c.regular, 800);  // wide and special data are none
}

TEST(Distributed, FloatHasTheBitsOfOneProcess) {
  const Coverage c = campaign<float>({"fp32+reproducible", "fp32+reproducible", "exact"}, 600, 2);
  EXPECT_EQ(c.products, 600);
  EXPECT_GE(c.two_passes, 10);
}

TEST(Distributed, ComplexDoubleHasTheBitsOfOneProcess) {
  const Coverage c = campaign<std::complex<double>>({"fp64+reproducible", "fp64+reproducible", "exact"}, 400, 3);
  EXPECT_EQ(c.products, 400);
  EXPECT_GE(c.two_passes, 5);
}

TEST(Distributed, ComplexFloatHasTheBitsOfOneProcess) {
  EXPECT_EQ(campaign<std::complex<float>>({"fp32+reproducible", "exact"}, 300, 4).products, 300);
}

// k beyond block spans and beyond a block of the planes; several strips and chunks of C.
TEST(Distributed, LongProductsHaveTheBitsOfOneProcess) {
  Random r(5);
  Coverage coverage;
  for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{70, 300, 700}, {3, 5, 17000}, {33, 2, 5000}}) {
    Problem<double> p{Op::none, Op::transpose, m, n, k, 1.5, -1};
    p.options.contract = Contract::parse("fp64+reproducible");
    compare(p, ordinary, some_wide, r, coverage);
    EXPECT_EQ(coverage.different, 0) << m << ' ' << n << ' ' << k;
  }
}

template <class T>
void expect_exact(Random& r, int products) {
  for (int i = 0; i < products; ++i) {
    Problem<T> p{Op::none,         Op::none,           r.integer(1, 9),   r.integer(1, 9),
                 r.integer(1, 30), scalar<T>(r, true), scalar<T>(r, true)};
    if (p.alpha == 0) p.alpha = 1;
    p.options.contract = Contract::exact();
    const auto kind = std::array{ordinary, integers, some_wide, all_wide, zeros, small, large}[i % 7];
    Stored<T> a = random_matrix<T>(p.m, p.k, kind, r), b = random_matrix<T>(p.k, p.n, kind, r);
    Stored<T> c = random_matrix<T>(p.m, p.n, ordinary, r);
    Parties<T> parties(p, a, b, r);
    parties.scan();
    Stored<T> result = parties.multiply(c);
    const test::ExactProduct<T> exact(test::Matrix<T>::of(p.m, p.k, [&](auto x, auto y) { return a.at(x, y); }),
                                      test::Matrix<T>::of(p.k, p.n, [&](auto x, auto y) { return b.at(x, y); }));
    for (std::int64_t y = 0; y < p.n; ++y)
      for (std::int64_t x = 0; x < p.m; ++x) {
        const mpz_class sum =
            test::exact_value(p.alpha) * exact.sum(x, y) + test::exact_value(p.beta) * test::exact_value(c.at(x, y));
        ASSERT_TRUE(same(result.at(x, y), test::rounded<T>(sum, 2 * test::exact_unit)))
            << "product " << i << " (" << x << ", " << y << "): " << result.at(x, y);
      }
  }
}

TEST(Distributed, ExactIsTheRationalNumberRoundedOnce) {
  Random r(6);
  expect_exact<double>(r, 70);
  expect_exact<float>(r, 35);
}

TEST(Distributed, NothingIsReadWhereAlphaOrKIsZero) {
  const std::int64_t index = 0;
  double c = 3;
  const MatrixPart<double> part{&c, 1, &index, 1, &index, 1};
  Options options{.contract = Contract::parse("fp64+reproducible")};
  DistributedProduct<double> product(Op::none, Op::none, 1, 1, 0, options);
  EXPECT_FALSE(product.scanning());
  product.finish(nullptr, 1, 1.0, -2.0, part);
  EXPECT_EQ(c, -6);
}

// Every party learns in the same round that one cannot go on.
TEST(Distributed, APartyWithoutMemoryEndsTheProductEverywhere) {
  Options options{.contract = Contract::parse("fp64+reproducible")};
  std::vector<DistributedProduct<double>> parties;
  for (int i = 0; i < 3; ++i) parties.emplace_back(Op::none, Op::none, 2, 2, 2, options);
  parties[1].refuse();
  for (auto& party : parties) {
    party.maxima()[0] = std::max(party.maxima()[0], parties[1].maxima()[0]);
    try {
      party.combine();
      FAIL() << "expected out_of_memory";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::out_of_memory);
    }
  }
}

TEST(Distributed, WrongArgumentsAreFoundFirst) {
  const auto message = [](auto body) {
    try {
      body();
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  Options options;
  EXPECT_NE(message([&] { DistributedProduct<double>(Op::none, Op::none, 2, 2, 2, options); }).find("promises no bits"),
            std::string::npos);
  options.contract = Contract::parse("fp64+reproducible");
  DistributedProduct<double> product(Op::none, Op::none, 2, 2, 2, options);
  const std::int64_t wrong[] = {0, 2};
  const double x[4] = {};
  const MatrixPart<const double> part{x, 2, wrong, 2, wrong, 1};
  EXPECT_NE(message([&] { product.scan(Side::left, part); }).find("rows[1] = 2"), std::string::npos);
  EXPECT_NE(message([&] { product.element_bytes(0); }).find("the scan is not complete"), std::string::npos);
}

}  // namespace
}  // namespace vernier::distributed_test
