// What a product allocates besides its workspace: counted, and refused piece by piece.
#include <complex>
#include <functional>

#include "fixture.hpp"
#include "support/refused_memory.hpp"
#include "vernier/level3.hpp"

#if VERNIER_REFUSES_MEMORY

namespace vernier::test::allocation_test {
namespace {

using Allocation = PerEngine;
INSTANTIATE_TEST_SUITE_P(Engines, Allocation, testing::ValuesIn(engine_cases()), ReadableName());

template <class T>
Report product(const Matrix<T>& a, Matrix<T>& c, const Options& options) {
  const std::int64_t size = a.rows();
  return gemm<T>(Op::none, Op::none, size, size, size, 1, a.data(), size, a.data(), size, 1, c.data(), size, options);
}

TEST_P(Allocation, BesideTheCallersWorkspaceDoesNotGrowWithTheProduct) {
  with_type([this]<class T>(T) {
    for (const Contract& contract : {default_contract<T>(), Contract::exact()}) {
      std::int64_t bytes[2] = {};
      for (const int large : {0, 1}) {
        const std::int64_t size = large != 0 ? 400 : 140;
        const auto a = integer_matrix<T>(size, size, 100, 1);
        Matrix<T> c(size, size);
        Options own = options<T>(contract);
        std::vector<std::byte> memory(gemm_workspace<T>(size, size, size, own));
        own.workspace = memory.data();
        own.workspace_bytes = memory.size();
        product(a, c, own);  // tables that are made once
        const std::int64_t before = allocated_bytes;
        product(a, c, own);
        bytes[large] = allocated_bytes - before;
      }
      EXPECT_LE(bytes[1], bytes[0] + 256) << contract.text();  // longer numbers in words
      EXPECT_LE(bytes[1], contract.kind == Contract::Kind::exact ? 1 << 20 : 4 << 10) << contract.text();
    }
  });
}

// Two passes over C, for a row is wide.
TEST_P(Allocation, ThatFailsLeavesCAsItWas) {
  with_type([this]<class T>(T) {
    const std::int64_t size = 100;
    Matrix<T> a = scattered_matrix<T>(size, size, 0.5, 1);
    for (std::int64_t l = 0; l < size; ++l) a(7, l) = std::ldexp(a(7, l), l % 2 == 0 ? -16 : 16);
    const auto c = scattered_matrix<T>(size, size, 0.5, 2);
    Matrix<T> expected = c;
    EXPECT_GT(product(a, expected, options<T>()).wide_rows, 0);
    Matrix<T> out;
    const int sites = refuse_every_site([&] { out = c; }, [&] { product(a, out, options<T>()); },
                                        [&](bool done) { EXPECT_EQ(difference(out, done ? expected : c), ""); });
    EXPECT_GT(sites, 1);
  });
}

// The routines of level 3, and batches, on matrices of one order: C, and B of trmm and trsm, are what is written.
template <class T>
struct Routine {
  const char* name;
  std::function<Report(const T* a, const T* b, T* c, std::int64_t n, const Options&)> run;
};

template <class T>
std::vector<Routine<T>> routines() {
  constexpr Op none = Op::none;
  const Op turned = std::is_same_v<T, std::complex<double>> ? Op::conjugate_transpose : Op::transpose;
  const T alpha = 2, beta = 3;
  using R = decltype(std::real(T{}));
  return {
      {"gemm", [=](auto a, auto b, auto c, auto n,
                   const Options& o) { return gemm<T>(none, none, n, n, n, alpha, a, n, b, n, beta, c, n, o); }},
      {"gemm of nothing",
       [=](auto a, auto b, auto c, auto n, const Options& o) {
         return gemm<T>(none, none, n, n, 0, alpha, a, n, b, n, beta, c, n, o);
       }},
      {"symm",
       [=](auto a, auto b, auto c, auto n, const Options& o) {
         return symm<T>(Side::left, Uplo::lower, n, n, alpha, a, n, b, n, beta, c, n, o);
       }},
      {"symm of nothing",
       [=](auto a, auto b, auto c, auto n, const Options& o) {
         return symm<T>(Side::left, Uplo::lower, n, n, T{0}, a, n, b, n, beta, c, n, o);
       }},
      {"hemm",
       [=](auto a, auto b, auto c, auto n, const Options& o) {
         return hemm<T>(Side::right, Uplo::upper, n, n, alpha, a, n, b, n, beta, c, n, o);
       }},
      {"gemmt",
       [=](auto a, auto b, auto c, auto n, const Options& o) {
         return gemmt<T>(Uplo::lower, none, none, n, n, alpha, a, n, b, n, beta, c, n, o);
       }},
      {"syrk", [=](auto a, auto, auto c, auto n,
                   const Options& o) { return syrk<T>(Uplo::lower, none, n, n, alpha, a, n, beta, c, n, o); }},
      {"syrk of nothing",
       [=](auto a, auto, auto c, auto n, const Options& o) {
         return syrk<T>(Uplo::lower, none, n, 0, alpha, a, n, beta, c, n, o);
       }},
      {"herk", [=](auto a, auto, auto c, auto n,
                   const Options& o) { return herk<T>(Uplo::upper, turned, n, n, R{2}, a, n, R{3}, c, n, o); }},
      {"syr2k", [=](auto a, auto b, auto c, auto n,
                    const Options& o) { return syr2k<T>(Uplo::upper, none, n, n, alpha, a, n, b, n, beta, c, n, o); }},
      {"syr2k of nothing",
       [=](auto a, auto b, auto c, auto n, const Options& o) {
         return syr2k<T>(Uplo::upper, none, n, 0, alpha, a, n, b, n, beta, c, n, o);
       }},
      {"her2k", [=](auto a, auto b, auto c, auto n,
                    const Options& o) { return her2k<T>(Uplo::lower, none, n, n, alpha, a, n, b, n, R{3}, c, n, o); }},
      {"trmm",
       [=](auto a, auto, auto c, auto n, const Options& o) {
         return trmm<T>(Side::left, Uplo::lower, none, Diag::unit, n, n, alpha, a, n, c, n, o);
       }},
      {"trmm of nothing",
       [=](auto a, auto, auto c, auto n, const Options& o) {
         return trmm<T>(Side::left, Uplo::lower, none, Diag::unit, n, n, T{0}, a, n, c, n, o);
       }},
      {"trmm of one block",
       [=](auto a, auto, auto c, auto n, const Options& o) {
         return trmm<T>(Side::left, Uplo::lower, none, Diag::unit, 40, n, alpha, a, n, c, n, o);
       }},
      {"trsm",
       [=](auto a, auto, auto c, auto n, const Options& o) {
         return trsm<T>(Side::right, Uplo::upper, none, Diag::unit, n, n, alpha, a, n, c, n, o);
       }},
  };
}

using AllocationOf = testing::TestWithParam<bool>;  // reproducible: residues; else what is native at this size
INSTANTIATE_TEST_SUITE_P(Contracts, AllocationOf, testing::Bool());

// The first of all routines meets tables that are not made yet: what is expected is computed last.
template <class T>
void expect_all_or_nothing(const Routine<T>& routine, const Options& options) {
  using R = decltype(std::real(T{}));
  const std::int64_t n = 130,
                     rows = static_cast<std::int64_t>(n * (sizeof(T) / sizeof(R)));  // real and imaginary parts
  const auto a = integer_matrix<R>(rows, n, 3, 1), b = integer_matrix<R>(rows, n, 3, 2),
             c = integer_matrix<R>(rows, n, 3, 3);
  Matrix<R> out, complete;
  std::string wrong;
  int successes = 0;
  const auto run = [&] {
    routine.run(reinterpret_cast<const T*>(a.data()), reinterpret_cast<const T*>(b.data()),
                reinterpret_cast<T*>(out.data()), n, options);
  };
  const int sites = refuse_every_site([&] { out = c; }, run,
                                      [&](bool done) {
                                        if (!done && wrong.empty()) wrong = difference(out, c);
                                        if (!done) return;
                                        if (successes++ == 0)
                                          complete = out;
                                        else if (wrong.empty())
                                          wrong = difference(out, complete);
                                      });
  if (options.contract.reproducible) {
    EXPECT_GT(sites, 0) << routine.name;  // a small native product asks for none
  }
  EXPECT_EQ(wrong, "") << routine.name;
  out = c;
  run();
  EXPECT_EQ(difference(complete, out), "") << routine.name;
}

TEST_P(AllocationOf, LevelThreeThatFailsLeavesTheOutputAsItWas) {
  setenv("VERNIER_RATES", "none", 1);  // one method each, whatever tests before took
  const auto with = [](auto zero) {
    using T = decltype(zero);
    Options options{.contract = default_contract<T>()};
    options.contract.reproducible = GetParam();
    options.threads = 2;
    for (const Routine<T>& routine : routines<T>()) expect_all_or_nothing(routine, options);
  };
  with(double{});
  with(float{});
  with(std::complex<double>{});
}

// Of eight products some are written when memory fails: the BLAS underneath makes the others.
TEST(AllocationOfBatches, ThatFailsLeavesTheOtherProductsToTheNativeOne) {
  constexpr std::int64_t n = 70, count = 8;
  const auto a = integer_matrix<double>(n, n * count, 100, 1);
  const auto c = integer_matrix<double>(n, n * count, 100, 2);
  Options options{.contract = Contract::fp64(), .engine = "portable", .threads = 1};
  Matrix<double> out, expected = c;
  const auto run = [&](Matrix<double>& x) {
    return gemm_strided_batched<double>(Op::none, Op::none, n, n, n, 1, a.data(), n, n * n, a.data(), n, n * n, 2,
                                        x.data(), n, n * n, count, options);
  };
  EXPECT_FALSE(run(expected).fallback);
  int after_fallbacks = 0, workspaces_missed = 0;
  bool fell_back = false;
  const auto refused_run = [&] {
    try {
      fell_back = run(out).fallback;
    } catch (const Error&) {
      ++workspaces_missed;
      throw;
    }
  };
  const int sites = refuse_every_site([&] { out = c, fell_back = false; }, refused_run,
                                      [&](bool done) {
                                        EXPECT_EQ(difference(out, done ? expected : c), "");
                                        after_fallbacks += fell_back ? 1 : 0;
                                      });
  EXPECT_EQ(workspaces_missed, 0) << "products whose workspace is refused are native, too";
  EXPECT_GT(sites, 8);
  EXPECT_GT(after_fallbacks, 8);
}

}  // namespace
}  // namespace vernier::test::allocation_test

#endif
