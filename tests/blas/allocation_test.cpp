// What a product allocates besides its workspace: counted, and refused piece by piece.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <new>

#include "fixture.hpp"
#include "vernier/level3.hpp"

#if !defined(__SANITIZE_ADDRESS__)

namespace {

std::atomic<std::int64_t> allocated_bytes = 0;
std::atomic<std::int64_t> allocations_left = INT64_MAX;  // before one is refused

}  // namespace

// Not inlined: a compiler that sees through one of them takes the pair for a mismatch.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  allocated_bytes += static_cast<std::int64_t>(bytes);
  void* piece = allocations_left-- == 0 ? nullptr : std::malloc(bytes);
  if (piece == nullptr) throw std::bad_alloc();
  return piece;
}
[[gnu::noinline]] void operator delete(void* piece) noexcept { std::free(piece); }
[[gnu::noinline]] void operator delete(void* piece, std::size_t) noexcept { std::free(piece); }

namespace vernier::test {
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
    int refused = 0;
    for (bool all_given = false; !all_given; ++refused) {
      ASSERT_LT(refused, 1000);
      release_workspace();
      Matrix<T> out = c;
      const Options asked = options<T>();
      bool done = false;
      allocations_left = refused;
      try {
        product(a, out, asked);
        done = true;
      } catch (const std::bad_alloc&) {
      }
      all_given = allocations_left.exchange(INT64_MAX) >= 0;
      EXPECT_EQ(difference(out, done ? expected : c), "") << refused;
    }
    EXPECT_GT(refused, 1);
  });
}

// Level 3: what may fail comes before the first entry of the output is written.
template <class T>
struct OutputOf {
  const char* routine;
  std::function<void(Matrix<T>& out, const Options& options)> compute;
};

template <class T>
std::vector<OutputOf<T>> routines(const Matrix<T>& a, const Matrix<T>& b) {
  const std::int64_t n = a.rows();
  const T alpha{2}, beta{3};
  const auto update = [&, n](auto routine) {
    return [&, n, routine](Matrix<T>& c, const Options& o) { routine(a.data(), b.data(), c.data(), n, o); };
  };
  return {
      {"gemm", update([=](auto* x, auto* y, auto* z, auto ld, auto& o) {
         gemm<T>(Op::none, Op::transpose, n, n, n, alpha, x, ld, y, ld, beta, z, ld, o);
       })},
      {"gemmt", update([=](auto* x, auto* y, auto* z, auto ld, auto& o) {
         gemmt<T>(Uplo::lower, Op::none, Op::none, n, n, alpha, x, ld, y, ld, beta, z, ld, o);
       })},
      {"symm", update([=](auto* x, auto* y, auto* z, auto ld, auto& o) {
         symm<T>(Side::right, Uplo::upper, n, n, alpha, x, ld, y, ld, beta, z, ld, o);
       })},
      {"syrk", update([=](auto* x, auto*, auto* z, auto ld, auto& o) {
         syrk<T>(Uplo::upper, Op::none, n, n, alpha, x, ld, beta, z, ld, o);
       })},
      {"herk", update([=](auto* x, auto*, auto* z, auto ld, auto& o) {
         herk<T>(Uplo::lower, Op::none, n, n, 2, x, ld, 3, z, ld, o);
       })},
      {"syr2k", update([=](auto* x, auto* y, auto* z, auto ld, auto& o) {
         syr2k<T>(Uplo::lower, Op::transpose, n, n, alpha, x, ld, y, ld, beta, z, ld, o);
       })},
      {"syrk that scales", update([=](auto* x, auto*, auto* z, auto ld, auto& o) {
         syrk<T>(Uplo::upper, Op::none, n, n, T{0}, x, ld, beta, z, ld, o);
       })},
      {"syr2k that scales", update([=](auto* x, auto* y, auto* z, auto ld, auto& o) {
         syr2k<T>(Uplo::upper, Op::none, n, n, T{0}, x, ld, y, ld, beta, z, ld, o);
       })},
      {"trmm", update([=](auto* x, auto*, auto* z, auto ld, auto& o) {
         trmm<T>(Side::left, Uplo::lower, Op::none, Diag::non_unit, n, n, alpha, x, ld, z, ld, o);
       })},
      {"trsm", update([=](auto* x, auto*, auto* z, auto ld, auto& o) {
         trsm<T>(Side::right, Uplo::upper, Op::transpose, Diag::unit, n, n, alpha, x, ld, z, ld, o);
       })},
      {"trsm to zero", update([=](auto* x, auto*, auto* z, auto ld, auto& o) {
         trsm<T>(Side::right, Uplo::upper, Op::transpose, Diag::unit, n, n, T{0}, x, ld, z, ld, o);
       })},
  };
}

// C is untouched or complete, whichever allocation is refused; never written by a routine that failed.
template <class T>
void expect_all_or_nothing(const OutputOf<T>& routine, const Matrix<T>& c, const Options& options) {
  Matrix<T> expected = c;
  routine.compute(expected, options);
  int refused = 0;
  for (bool all_given = false; !all_given; ++refused) {
    ASSERT_LT(refused, 2000) << routine.routine;
    release_workspace();
    Matrix<T> out = c;
    bool done = false;
    allocations_left = refused;
    try {
      routine.compute(out, options);
      done = true;
    } catch (const std::bad_alloc&) {
    }
    all_given = allocations_left.exchange(INT64_MAX) >= 0;
    EXPECT_EQ(difference(out, done ? expected : c), "") << routine.routine << ", allocation " << refused;
  }
  EXPECT_GT(refused, 1) << routine.routine;
}

using Level3Allocation = testing::TestWithParam<std::string>;
INSTANTIATE_TEST_SUITE_P(Engines, Level3Allocation, testing::Values("", "native", "avx2"),
                         [](const auto& info) { return info.param.empty() ? std::string("chosen") : info.param; });

TEST_P(Level3Allocation, ThatFailsLeavesTheOutputAsItWas) {
  Options options{.contract = Contract::fp64(), .engine = GetParam(), .threads = 2};
  options.contract.reproducible = GetParam() == "avx2";
  if (GetParam() == "avx2" && std::ranges::count(supported_engines(), "avx2") == 0)
    GTEST_SKIP() << "NOT TESTED: this machine lacks AVX2";
  const std::int64_t n = 130;
  const auto real = scattered_matrix<double>(n, n, 0.5, 3), other = scattered_matrix<double>(n, n, 0.5, 4);
  const auto c = scattered_matrix<double>(n, n, 0.5, 5);
  for (const auto& routine : routines<double>(real, other)) expect_all_or_nothing(routine, c, options);
}

}  // namespace
}  // namespace vernier::test

#endif
