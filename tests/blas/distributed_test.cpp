// DistributedProduct by parties that this process plays: the bits of gemm, however m, n and k are cut and in whatever
// order the parties' messages meet.
#include "vernier/distributed.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "number/complex.hpp"
#include "support/compare.hpp"
#include "support/error_message.hpp"
#include "support/exact.hpp"
#include "support/random.hpp"

namespace vernier {
namespace {

using test::Random;

template <class T>
struct Stored {
  std::int64_t rows, columns;
  std::vector<T> data;

  Stored(std::int64_t r, std::int64_t c) : rows(r), columns(c), data(static_cast<std::size_t>(r * c)) {}
  std::int64_t ld() const { return std::max<std::int64_t>(1, rows); }
  T& at(std::int64_t i, std::int64_t j) { return data[static_cast<std::size_t>(i + j * rows)]; }
};

// Kinds of data: what makes scales, proofs, passes and classes differ.
enum Kind { ordinary, some_wide, integers, all_wide, zeros, specials, small, large, sparse, kinds };

template <class R>
R element(Kind kind, std::int64_t row, std::int64_t column, Random& r) {
  constexpr int most = std::numeric_limits<R>::max_exponent;
  const double x = r.scattered(0.5);
  switch (kind) {
    case integers:
      return static_cast<R>(r.integer(-9, 9));
    case some_wide:
      return static_cast<R>(row == 0 ? std::ldexp(x, static_cast<int>(r.integer(-40, 40))) : x);
    case all_wide:
      return static_cast<R>(std::ldexp(x, static_cast<int>(r.integer(-most / 2, most / 2 - 4))));
    case zeros:
      return static_cast<R>(row % 3 == 0 || column % 4 == 1 ? 0 : x);
    case specials:
      if (r.integer(0, 99) < 3)
        return r.integer(0, 2) == 0 ? std::numeric_limits<R>::quiet_NaN()
                                    : static_cast<R>(r.sign()) * std::numeric_limits<R>::infinity();
      return static_cast<R>(r.integer(0, 9) == 0 ? 0 : x);
    case small:
      return static_cast<R>(std::ldexp(x, -most + 20));
    case large:
      return static_cast<R>(std::ldexp(x, most / 2 - 8));
    case sparse:
      return static_cast<R>(r.integer(0, 9) < 7 ? 0 : std::ldexp(x, static_cast<int>(r.integer(-6, 6))));
    default:
      return static_cast<R>(x);
  }
}

template <class T>
Stored<T> random_matrix(std::int64_t rows, std::int64_t columns, Kind kind, Random& r) {
  Stored<T> x(rows, columns);
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = 0; i < rows; ++i) {
      const auto real = element<RealType<T>>(kind, i, j, r);
      if constexpr (is_complex<T>)
        x.at(i, j) = {real, element<RealType<T>>(kind, i, j, r)};
      else
        x.at(i, j) = real;
    }
  return x;
}

// Indices 0 .. count - 1 in sets of any size and order.
std::vector<std::vector<std::int64_t>> random_sets(std::int64_t count, Random& r) {
  std::vector<std::vector<std::int64_t>> sets(static_cast<std::size_t>(r.integer(1, 3)));
  for (const std::int64_t i : r.permutation(count))
    sets[static_cast<std::size_t>(r.integer(0, static_cast<std::int64_t>(sets.size()) - 1))].push_back(i);
  return sets;
}

// A copy of some rows and columns, with room below each column.
template <class T>
struct Part {
  std::vector<T> data;
  std::vector<std::int64_t> rows, columns;
  std::int64_t ld;

  Part(Stored<T>& x, std::vector<std::int64_t> r, std::vector<std::int64_t> c)
      : rows(std::move(r)), columns(std::move(c)), ld(static_cast<std::int64_t>(rows.size()) + 1) {
    for (const std::int64_t j : columns) {
      for (const std::int64_t i : rows) data.push_back(x.at(i, j));
      data.push_back(T{77});
    }
  }
  std::int64_t row_count() const { return static_cast<std::int64_t>(rows.size()); }
  std::int64_t column_count() const { return static_cast<std::int64_t>(columns.size()); }
  MatrixPart<const T> read() const {
    return {data.data(), ld, rows.data(), row_count(), columns.data(), column_count()};
  }
  MatrixPart<T> write() { return {data.data(), ld, rows.data(), row_count(), columns.data(), column_count()}; }
  void store(Stored<T>& x) const {
    for (std::size_t j = 0; j < columns.size(); ++j)
      for (std::size_t i = 0; i < rows.size(); ++i)
        x.at(rows[i], columns[j]) = data[i + j * static_cast<std::size_t>(ld)];
  }
};

template <class T>
struct Problem {
  Op opa, opb;
  std::int64_t m, n, k;
  T alpha, beta;
  Options options;
};

struct Coverage {
  int two_passes = 0, digits = 0, beyond = 0, products = 0, different = 0;
};

template <class T>
class Parties {
 public:
  using Product = DistributedProduct<T>;

  Parties(const Problem<T>& p, Stored<T>& a, Stored<T>& b, Random& r)
      : p_(p), r_(r), rows_(random_sets(p.m, r)), columns_(random_sets(p.n, r)), ks_(random_sets(p.k, r)) {
    const auto count = r.integer(1, 5);
    for (int i = 0; i < count; ++i) parties_.emplace_back(p.opa, p.opb, p.m, p.n, p.k, p.options);
    for (const auto& set : rows_)
      for (const auto& k : ks_) a_.push_back(p.opa == Op::none ? Part<T>(a, set, k) : Part<T>(a, k, set));
    for (const auto& set : columns_)
      for (const auto& k : ks_) b_.push_back(p.opb == Op::none ? Part<T>(b, k, set) : Part<T>(b, set, k));
  }

  void scan() {
    std::vector<std::size_t> a_owner, b_owner;
    for (std::size_t i = 0; i < a_.size(); ++i) a_owner.push_back(any());
    for (std::size_t i = 0; i < b_.size(); ++i) b_owner.push_back(any());
    while (parties_[0].scanning()) {
      for (std::size_t i = 0; i < a_.size(); ++i) parties_[a_owner[i]].scan(Side::left, a_[i].read());
      for (std::size_t i = 0; i < b_.size(); ++i) parties_[b_owner[i]].scan(Side::right, b_[i].read());
      exchange();
    }
  }

  Stored<T> multiply(Stored<T> c) {
    for (std::size_t i = 0; i < rows_.size(); ++i)
      for (std::size_t j = 0; j < columns_.size(); ++j) {
        Part<T> part(c, rows_[i], columns_[j]);
        finish(i, j, part);
        part.store(c);
      }
    return c;
  }

  const Product& first() const { return parties_[0]; }

 private:
  std::size_t any() { return static_cast<std::size_t>(r_.integer(0, static_cast<std::int64_t>(parties_.size()) - 1)); }

  // Maxima and sums over all parties; every word travels as a double would hold it.
  void exchange() {
    std::vector<std::int64_t> maxima(parties_[0].maxima().size(), 0), sums(parties_[0].sums().size(), 0);
    for (const std::int64_t at : r_.permutation(static_cast<std::int64_t>(parties_.size()))) {
      Product& party = parties_[static_cast<std::size_t>(at)];
      ASSERT_EQ(party.maxima().size(), maxima.size());
      for (std::size_t i = 0; i < maxima.size(); ++i) maxima[i] = std::max(maxima[i], party.maxima()[i]);
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += party.sums()[i];
    }
    for (const auto* words : {&maxima, &sums})
      for (const std::int64_t w : *words) ASSERT_TRUE(w >= 0 && w < std::int64_t{1} << 53);
    for (Product& party : parties_) {
      std::copy(maxima.begin(), maxima.end(), party.maxima().begin());
      std::copy(sums.begin(), sums.end(), party.sums().begin());
    }
    std::string message;
    for (Product& party : parties_) try {
        party.combine();
      } catch (const Error& error) {
        message = error.what();
        status_ = error.status();
        ++failed_;
      }
    if (failed_ == 0) return;
    ASSERT_EQ(failed_, parties_.size()) << "every party fails or none";
    throw Error(status_, message);
  }

  std::vector<std::byte> partial(int pass, std::size_t i, std::size_t j, std::size_t l) {
    const Product& party = parties_[any()];
    const Part<T>&a = a_[i * ks_.size() + l], &b = b_[j * ks_.size() + l];
    const auto count = rows_[i].size() * columns_[j].size();
    std::vector<std::byte> elements(count * party.element_bytes(pass));
    party.partial(pass, a.read(), b.read(), elements.data(), std::max<std::int64_t>(1, rows_size(i)));
    return elements;
  }

  std::vector<std::byte> sum(int pass, std::size_t i, std::size_t j) {
    const Product& party = parties_[any()];
    const auto count = static_cast<std::int64_t>(rows_[i].size() * columns_[j].size());
    const bool words = r_.integer(0, 1) == 1;
    std::vector<std::byte> total(static_cast<std::size_t>(count) * party.element_bytes(pass));
    std::vector<std::int64_t> total_words(static_cast<std::size_t>(count) * party.words(pass));
    for (const std::int64_t l : r_.permutation(static_cast<std::int64_t>(ks_.size()))) {
      const std::vector<std::byte> one = partial(pass, i, j, static_cast<std::size_t>(l));
      if (words) {
        std::vector<std::int64_t> one_words(total_words.size());
        party.to_words(pass, count, one.data(), one_words.data());
        for (std::size_t w = 0; w < total_words.size(); ++w) total_words[w] += one_words[w];
      } else {
        party.add(pass, count, one.data(), total.data());
      }
    }
    if (words) party.from_words(pass, count, total_words.data(), total.data());
    return total;
  }

  void finish(std::size_t i, std::size_t j, Part<T>& c) {
    std::vector<std::vector<std::byte>> sums;
    std::vector<const std::byte*> elements;
    for (int pass = 0; pass < first().passes(); ++pass) sums.push_back(sum(pass, i, j));
    for (const auto& x : sums) elements.push_back(x.data());
    parties_[any()].finish(elements.data(), std::max<std::int64_t>(1, rows_size(i)), p_.alpha, p_.beta, c.write());
  }

  std::int64_t rows_size(std::size_t i) const { return static_cast<std::int64_t>(rows_[i].size()); }

  const Problem<T>& p_;
  Random& r_;
  std::vector<std::vector<std::int64_t>> rows_, columns_, ks_;
  std::vector<Part<T>> a_, b_;
  std::vector<Product> parties_;
  Status status_ = Status::ok;
  std::size_t failed_ = 0;
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
}  // namespace vernier
