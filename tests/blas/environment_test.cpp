// What the calling thread and process bring along shows in no bit of a result, and stays theirs.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cfenv>
#include <thread>
#include <vector>

#if VERNIER_X86
#include <xmmintrin.h>
#endif

#include "fixture.hpp"
#include "vernier/level3.hpp"

namespace vernier::test::environment_test {
namespace {

class Environment : public PerEngine {};
INSTANTIATE_TEST_SUITE_P(Engines, Environment, testing::ValuesIn(engine_cases()), ReadableName());

#if VERNIER_X86
// Sets bits of the control register of SSE, and puts it back.
class ControlBits {
 public:
  explicit ControlBits(unsigned bits) { _mm_setcsr(before_ | bits); }
  ~ControlBits() { _mm_setcsr(before_); }
  ControlBits(const ControlBits&) = delete;
  ControlBits& operator=(const ControlBits&) = delete;

 private:
  unsigned before_ = _mm_getcsr();
};

TEST_P(Environment, FlushToZeroOfTheCallerKeepsSubnormalsAndStays) {
  constexpr unsigned flush_to_zero = 0x8000, subnormals_are_zero = 0x0040;
  with_type([this]<class T>(T) {
    for (const char* family : {"subnormal_entries", "subnormal_products"}) {
      const auto [a, b] = make_operands<T>(family, 70, 50, 90, 91);
      for (const int threads : {1, 2}) {
        Options own = options<T>();
        own.threads = threads;
        const Matrix<T> expected = multiply<T>({.a = a, .b = b}, own).c;
        unsigned after = 0;
        Matrix<T> c(70, 50);
        {
          const ControlBits bits(flush_to_zero | subnormals_are_zero);
          gemm<T>(Op::none, Op::none, 70, 50, 90, 1, a.data(), a.ld(), b.data(), b.ld(), 0, c.data(), c.ld(), own);
          after = _mm_getcsr();
        }
        EXPECT_EQ(after & (flush_to_zero | subnormals_are_zero), flush_to_zero | subnormals_are_zero);
        EXPECT_EQ(difference(c, expected), "") << family << ", " << threads << " threads";
      }
    }
  });
}

TEST_P(Environment, FlushToZeroOfTheCallerDoesNotReachLevel3) {
  const std::vector<double> a(64, 0x1p-537), half_of(64, 0x1p-1073), unit(64, 0);
  std::vector<double> c(64, 0x3p-1074), x = half_of;
  const Options own = options<double>();
  {
    const ControlBits bits(0x8040);
    syr2k<double>(Uplo::lower, Op::none, 8, 8, 1, a.data(), 8, a.data(), 8, 1, c.data(), 8, own);
    trsm<double>(Side::left, Uplo::lower, Op::none, Diag::unit, 8, 8, 0.5, unit.data(), 8, x.data(), 8, own);
  }
  EXPECT_EQ(c[0], 0x13p-1074);  // 2 * 8 * 2^-1074 + 3 * 2^-1074
  EXPECT_EQ(x[0], 0x1p-1074);
}
#endif

// Programs that ask for a signal where a number is none, or beyond all others, get none for finite data of usual size.
TEST_P(Environment, ThatTrapsInvalidOperationsMeetsNone) {
  with_type([this]<class T>(T) {
    Matrix<T> a = scattered_matrix<T>(40, 90, 0.5, 95), b = scattered_matrix<T>(90, 40, 0.5, 96);
    for (int l = 0; l < 90; ++l) a(0, l) = 0, b(l, 3) = 0, (l % 2 == 0 ? a(1, l) : b(l, 1)) = 0;
    for (const char* contract : {"fp64", "exact", "bits(40)"}) {
      Options own = options<T>();
      own.contract = Contract::parse(contract);
      const pid_t child = fork();
      ASSERT_GE(child, 0);
      if (child == 0) {
        feenableexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW);
        multiply<T>({.a = a, .b = b}, own);
        _exit(0);
      }
      int status = 1;
      ASSERT_EQ(waitpid(child, &status, 0), child);
      EXPECT_EQ(status, 0) << contract;
    }
  });
}

// The BLAS underneath takes the mode of its caller: bounds are those of numbers rounded to nearest.
TEST(EnvironmentOfNativeProducts, IsTheUsualOneAndTheCallersStays) {
  const std::int64_t n = 40, k = 30;
  const Matrix<double> a = scattered_matrix<double>(n, k, 0.5, 97), b = scattered_matrix<double>(k, n, 0.5, 98);
  Options native;
  native.engine = "native";
  const auto results = [&] {
    Matrix<double> c(n, n), s(n, n), t(n, n), x = b;
    gemm<double>(Op::none, Op::none, n, n, k, 0.7, a.data(), a.ld(), b.data(), b.ld(), 0, c.data(), c.ld(), native);
    syrk<double>(Uplo::lower, Op::none, n, k, 0.7, a.data(), a.ld(), 0, s.data(), s.ld(), native);
    symm<double>(Side::left, Uplo::lower, n, n, 0.7, c.data(), c.ld(), s.data(), s.ld(), 0, t.data(), t.ld(), native);
    trmm<double>(Side::left, Uplo::lower, Op::none, Diag::unit, k, n, 0.7, a.data(), a.ld(), x.data(), x.ld(), native);
    return std::vector<Matrix<double>>{c, s, t, x};
  };
  const std::vector<Matrix<double>> expected = results();
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    std::fesetround(mode);
    const std::vector<Matrix<double>> got = results();
    EXPECT_EQ(std::fegetround(), mode);
    std::fesetround(FE_TONEAREST);
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_EQ(difference(got[i], expected[i]), "") << i << " by " << mode;
  }
}

#if VERNIER_X86
TEST(EnvironmentOfNativeProducts, KnowsASubnormalAlphaFromZero) {
  const double x = 0x1p500, y = 0x1p500, tiny = 0x1p-1070;
  double c = 3, d = 3;
  {
    const ControlBits bits(0x8040);
    gemm<double>(Op::none, Op::none, 1, 1, 1, tiny, &x, 1, &y, 1, 0, &c, 1);
    syrk<double>(Uplo::lower, Op::none, 1, 1, tiny, &y, 1, 0, &d, 1);
  }
  EXPECT_EQ(c, 0x1p-70);
  EXPECT_EQ(d, 0x1p-70);
}
#endif

// The parent's threads do not exist in a child: it computes alone, and does not wait for them.
TEST_P(Environment, OfAForkedChildGivesTheSameBits) {
  with_type([this]<class T>(T) {
    const Call<T> call{.a = scattered_matrix<T>(150, 90, 0.5, 92), .b = scattered_matrix<T>(90, 130, 0.5, 93)};
    Options own = options<T>();
    own.threads = 3;
    const Matrix<T> expected = multiply(call, own).c;
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      alarm(120);  // ends a child that waits for ever
      const Outcome<T> out = multiply(call, own);
      _exit(difference(out.c, expected).empty() && out.report.plan.threads == 1 ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
    EXPECT_EQ(WEXITSTATUS(status), 0);
    EXPECT_EQ(difference(multiply(call, own).c, expected), "") << "the parent, after its child";
  });
}

// OpenBLAS's handler of fork() ends its threads: a product in their midst, of a thread that does not fork, would wait
// for ever.
TEST(ForkOfAProcess, WaitsForNativeProductsOfOtherThreads) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a program of its own: a child's child is beyond OpenBLAS
  const auto fork_meanwhile = [] {
    alarm(100);  // ends what waits for ever
    const std::int64_t n = 260;
    const Matrix<double> a = scattered_matrix<double>(n, n, 0.5, 97);
    Options native;
    native.engine = "native", native.threads = 2;
    std::atomic<bool> ends{false};
    std::atomic<int> products{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t)
      threads.emplace_back([&, t] {
        Matrix<double> c(n, n);
        while (!ends) {
          if (t == 0)
            syrk<double>(Uplo::lower, Op::none, n, n, 0.7, a.data(), a.ld(), 0, c.data(), c.ld(), native);
          else
            gemm<double>(Op::none, Op::none, n, n, n, 0.7, a.data(), a.ld(), a.data(), a.ld(), 0, c.data(), c.ld(),
                         native);
          ++products;
        }
      });
    for (int i = 0; i < 100 || products < 30; ++i) {
      const pid_t child = fork();
      if (child == 0) _exit(0);
      int status = 1;
      if (child < 0 || waitpid(child, &status, 0) != child || status != 0) _exit(2);
    }
    ends = true;
    for (std::thread& thread : threads) thread.join();
    _exit(0);
  };
  EXPECT_EXIT(fork_meanwhile(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace vernier::test::environment_test
