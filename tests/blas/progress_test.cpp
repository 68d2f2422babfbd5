// How much of a native product is done: told between blocks of its columns. That of residues: same_bits_test.cpp.
#include <omp.h>

#include <algorithm>
#include <complex>
#include <functional>
#include <thread>

#include "array.hpp"
#include "fixture.hpp"
#include "number/complex.hpp"

namespace vernier::test::progress_test {
namespace {

template <class T>
class NativeProgress : public testing::Test {};
using Types = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(NativeProgress, Types);

// Whole numbers, whose products and sums are exact in any order.
template <class T>
Array<T> whole_numbers(std::int64_t rows, std::int64_t columns, std::int64_t step) {
  Array<T> x{rows, columns};
  for (std::size_t i = 0; i < x.x.size(); ++i) {
    const auto next = [&](std::int64_t modulus) {
      return static_cast<RealType<T>>(static_cast<std::int64_t>(i) * step % modulus - modulus / 2);
    };
    if constexpr (is_complex<T>)
      x.x[i] = {next(7), next(5)};
    else
      x.x[i] = next(7);
  }
  return x;
}

// A product C = 2 A^T op(B) - C that is long enough to be told of; B and C have room between their columns.
template <class T>
struct LongProduct {
  explicit LongProduct(Op asked = Op::none) : opb(asked) {}

  static constexpr std::int64_t m = is_complex<T> ? 512 : 1024, n = 1100, k = is_complex<T> ? 4096 : 8192;
  const Op opb;
  const Array<T> a = whole_numbers<T>(k, m, 3), c0 = whole_numbers<T>(m + 5, n, 4);
  const Array<T> b = opb == Op::none ? whole_numbers<T>(k + 3, n, 11) : whole_numbers<T>(n + 3, k, 11);

  std::vector<T> operator()(const std::function<void(double)>& progress) const {
    Array<T> c = c0;
    Options options{.contract = default_contract<T>(), .engine = "native"};
    options.progress = progress;
    gemm<T>(Op::transpose, opb, m, n, k, T(2), a.x.data(), k, b.x.data(), b.rows, T(-1), c.x.data(), c.rows, options);
    return c.x;
  }
};

TYPED_TEST(NativeProgress, RisesToOneAndTheProductIsTheSame) {
  for (const Op opb : {Op::none, Op::conjugate_transpose}) {
    const LongProduct<TypeParam> product(opb);
    std::vector<double> told;
    const auto whole = product({}), in_blocks = product([&](double fraction) { told.push_back(fraction); });
    EXPECT_EQ(whole, in_blocks);
    ASSERT_GE(told.size(), 2u);
    EXPECT_TRUE(std::adjacent_find(told.begin(), told.end(), std::greater_equal<>()) == told.end());
    EXPECT_GT(told.front(), 0);
    EXPECT_EQ(told.back(), 1);
  }
}

TEST(ProgressOfGemm, IsToldByTheCallingThreadWhateverItsNumber) {
  const LongProduct<double> product;
  std::vector<double> told;
  bool same_thread = true;
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == omp_get_num_threads() - 1)
    product([&, self = std::this_thread::get_id()](double fraction) {
      same_thread = same_thread && std::this_thread::get_id() == self;
      told.push_back(fraction);
    });
  EXPECT_TRUE(same_thread);
  EXPECT_GE(told.size(), 2u);
}

// From within the threads' region, where the engine's state is set.
TEST(ProgressOfGemm, IsToldToWhoMayMultiplyOtherMatrices) {
  const Array<double> a = whole_numbers<double>(150, 150, 3);
  const auto square = [&](const std::function<void(double)>& progress) {
    Array<double> c{150, 150};
    Options options{.contract = Contract::parse("fp64+reproducible")};
    options.progress = progress;
    gemm<double>(Op::none, Op::none, 150, 150, 150, 1.0, a.x.data(), 150, a.x.data(), 150, 0.0, c.x.data(), 150,
                 options);
    return c.x;
  };
  const auto expected = square({});
  int told = 0;
  const auto outer = square([&](double) {
    ++told;
    EXPECT_EQ(square({}), expected);
  });
  EXPECT_EQ(outer, expected);
  EXPECT_GE(told, 2);
}

TEST(ProgressOfGemm, ShortProductsTellTheirEnd) {
  const double a = 3, b = 5;
  for (const double alpha : {1.0, 0.0}) {
    double c = 7;
    std::vector<double> told;
    Options options;
    options.progress = [&](double fraction) { told.push_back(fraction); };
    gemm<double>(Op::none, Op::none, 1, 1, 1, alpha, &a, 1, &b, 1, 1.0, &c, 1, options);
    EXPECT_EQ(c, 7 + 15 * alpha);
    EXPECT_EQ(told, std::vector{1.0});
  }
}

}  // namespace
}  // namespace vernier::test::progress_test
