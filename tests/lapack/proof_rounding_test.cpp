// Products of proofs round to nearest, whatever the rounding mode of the threads that a BLAS has.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cstdlib>
#include <vector>

#include "product/native/native.hpp"
#include "support/random.hpp"
#include "vernier/verified.hpp"

namespace vernier::test::proof_rounding_test {
namespace {

using Square = std::vector<double>;

// A program that rounds up when its BLAS begins its second thread. False: a BLAS without such a setting.
bool begin_threads_that_round_up() {
  const auto set = native_symbol<void (*)(int)>("openblas_set_num_threads");
  if (set == nullptr) return false;
  std::fesetround(FE_UPWARD);
  set(2);
  std::fesetround(FE_TONEAREST);
  return true;
}

// A process of its own, whose BLAS begins with one thread.
class ProofRounding : public testing::Test {
 protected:
  ProofRounding() {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    setenv("OMP_NUM_THREADS", "1", 1);
  }
  ~ProofRounding() override { unsetenv("OPENBLAS_NUM_THREADS"), unsetenv("OMP_NUM_THREADS"); }
};

// Entries of a product that differ from their nearest number, 1: each is 1 and many numbers that are small beside it.
int entries_rounded_up() {
  constexpr std::int64_t n = 320;
  Square a(n * n, 0x1p-70), b(n * n, 1), c(n * n);
  std::fill_n(a.begin(), n, 1.0);
  native_gemm<double>({Op::none, Op::none, n, n, n, 1, a.data(), n, b.data(), n, 0, c.data(), n}, 2);
  return static_cast<int>(n * n - std::count(c.begin(), c.end(), 1.0));
}

TEST_F(ProofRounding, NativeProductsOfProofsAreMadeByThreadsThatRoundToNearest) {
  EXPECT_EXIT(
      {
        if (!begin_threads_that_round_up()) std::exit(0);
        const int by_the_blas = entries_rounded_up();
        const NearestProducts nearest;
        std::exit(by_the_blas == 0 ? 2 : entries_rounded_up() == 0 ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST(NearestProducts, TellOfTheirEnd) {  // those of other threads, which a proof does not know, have someone to tell
  const NearestProducts nearest;
  const Square a(64 * 64, 1);
  for (const int threads : {0, 1, 2}) {
    double told = 0;
    Square c(a.size());
    native_gemm<double>({Op::none, Op::none, 64, 64, 64, 1, a.data(), 64, a.data(), 64, 0, c.data(), 64}, threads,
                        [&](double share) { told = share; });
    EXPECT_EQ(told, 1) << threads;
    EXPECT_EQ(c, Square(c.size(), 64));
  }
}

constexpr std::int64_t n = 512;
const Options options{.contract = Contract::fp64(), .threads = 2};

// Of an inverse, whose proof is a product R A.
std::uint64_t bits_of_proof() {
  Random r(7);
  Square a(n * n), low(a.size()), high(a.size());
  for (double& e : a) e = r.scattered(0.5);
  const VerifiedReport report = verified_inverse(n, a.data(), n, low.data(), high.data(), n, options);
  if (!report.verified) return 0;
  auto bits = std::bit_cast<std::uint64_t>(report.contraction);
  for (const Square* x : {&low, &high})
    for (const double e : *x) bits = bits * 0x5851f42d4c957f2d + std::bit_cast<std::uint64_t>(e);
  return bits;
}

TEST_F(ProofRounding, ProofsAskForProductsThatAreRoundedToNearest) {
  if (explain<double>(Op::none, Op::none, n, n, n, options).scheme != "native")
    GTEST_SKIP() << "an int8 engine is faster here";
  EXPECT_EXIT(
      {
        begin_threads_that_round_up();
        const std::uint64_t bits = bits_of_proof();
        const NearestProducts nearest;
        std::exit(bits != 0 && bits == bits_of_proof() ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace vernier::test::proof_rounding_test
