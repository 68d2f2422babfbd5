// What a product allocates besides its workspace: counted, and refused piece by piece.
#include <atomic>
#include <cstdlib>
#include <new>

#include "fixture.hpp"

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

}  // namespace
}  // namespace vernier::test

#endif
