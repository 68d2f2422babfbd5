// Long inner indices, and matrices that reach further than 32 bits count.
#include <sys/mman.h>

#include <cstddef>

#include "fixture.hpp"
#include "support/bound.hpp"

namespace vernier::test::large_test {
namespace {

class Large : public PerEngine {};
INSTANTIATE_TEST_SUITE_P(Engines, Large, testing::ValuesIn(engine_cases()), ReadableName());

// Around the ends of passes over k, which take at most max_product_k = 32768, and around a power of two.
TEST_P(Large, InnerIndexKeepsTheBoundAtTheBordersOfBlocks) {
  with_type([this]<class T>(T) {
    for (const std::int64_t k : {32767, 32768, 32769, 65535, 65537, 131073}) {
      const auto a = scattered_matrix<T>(3, k, 0.5, 91), b = scattered_matrix<T>(k, 2, 0.5, 92);
      const auto out = multiply<T>({.a = a, .b = b}, options<T>());
      EXPECT_EQ(broken_bound(default_contract<T>(), a, b, out.c), "") << "k = " << k;
    }
  });
}

// Every digit at its largest: int32 sums would overflow if a pass took too many of them.
TEST_P(Large, InnerIndexOfTheLargestResiduesIsSummedExactly) {
  with_type([this]<class T>(T) {
    for (const std::int64_t k : {131072, 140000}) {
      for (const double value : {-128.0, 127.0, 32639.0, 8421504.0}) {
        if (k == 131072 && value != -128) continue;  // 131072 * 128^2 = 2^31 is the border
        const auto all = [&](auto, auto) { return value; };
        const auto a = Matrix<T>::of(2, k, all), b = Matrix<T>::of(k, 1, all);
        const auto expected = ExactProduct<T>(a, b).rounded();
        EXPECT_EQ(difference(multiply<T>({.a = a, .b = b}, options<T>()).c, expected), "")
            << "k = " << k << ", all " << value;
      }
    }
  });
}

TEST_P(Large, InnerIndexPastAPassCountsItsOnes) {
  with_type([this]<class T>(T) {
    const std::int64_t k = (1 << 17) + 7;
    // Ones at both ends and around the borders of passes, zeros elsewhere.
    const auto marked = [](std::int64_t l) { return l % 32768 == 0 || l % 32768 == 32767 ? 1 : 0; };
    const auto a = Matrix<T>::of(2, k, [&](auto, auto l) { return marked(l); });
    const auto b = Matrix<T>::of(k, 2, [&](auto l, auto j) { return j == 0 ? 1 : l; });
    const auto expected = ExactProduct<T>(a, b).rounded();
    EXPECT_EQ(expected(0, 0), 9);
    EXPECT_EQ(difference(multiply<T>({.a = a, .b = b}, options<T>()).c, expected), "");
  });
}

// Address space without memory behind it, but for the pages that are used.
template <class T>
class SparseMemory {
 public:
  explicit SparseMemory(std::int64_t count) : bytes_(static_cast<std::size_t>(count) * sizeof(T)) {
    address_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (address_ == MAP_FAILED) throw std::bad_alloc();
    madvise(address_, bytes_, MADV_NOHUGEPAGE);
  }
  ~SparseMemory() { munmap(address_, bytes_); }
  SparseMemory(const SparseMemory&) = delete;
  SparseMemory& operator=(const SparseMemory&) = delete;

  T* data() const { return static_cast<T*>(address_); }

 private:
  std::size_t bytes_;
  void* address_ = nullptr;
};

template <class T>
void put(const Matrix<T>& x, T* to, std::int64_t ld) {
  for (std::int64_t j = 0; j < x.columns(); ++j)
    for (std::int64_t i = 0; i < x.rows(); ++i) to[i + j * ld] = x(i, j);
}

// Every operand's last column lies past 2^31 elements.
TEST_P(Large, LeadingDimensionsPast32BitsAreFollowed) {
  with_type([this]<class T>(T) {
    const std::int64_t ld = (std::int64_t{1} << 31) + 5, size = 3;
    for (const auto& [opa, opb] :
         {std::pair{Op::none, Op::none}, {Op::transpose, Op::none}, {Op::none, Op::transpose}}) {
      const SparseMemory<T> a_memory(ld * (size - 1) + 40), b_memory(ld * (size - 1) + 40),
          c_memory(ld * (size - 1) + 40);
      // Stored shapes: three columns, and as many rows as the product asks for.
      const std::int64_t m = opa == Op::none ? 37 : size, k = opa == Op::none ? size : 33;
      const std::int64_t n = opb == Op::none ? size : opa == Op::none ? 3 : 2;
      const auto a = integer_matrix<T>(m, k, 100, 93), b = integer_matrix<T>(k, n, 100, 94);
      put(stored(opa, a), a_memory.data(), ld);
      put(stored(opb, b), b_memory.data(), ld);
      const auto c = integer_matrix<T>(m, n, 100, 95);
      put(c, c_memory.data(), ld);
      const Report report = gemm<T>(opa, opb, m, n, k, 2, a_memory.data(), ld, b_memory.data(), ld, -1, c_memory.data(),
                                    ld, options<T>());
      EXPECT_EQ(report.plan.engine, GetParam().engine);
      Matrix<T> got(m, n);
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = 0; i < m; ++i) got(i, j) = c_memory.data()[i + j * ld];
      EXPECT_EQ(difference(got, combined<T>(2, ExactProduct<T>(a, b).rounded(), -1, c)), "") << text(opa) << text(opb);
      EXPECT_EQ(c_memory.data()[m], 0) << "an element behind the first column was written";
    }
  });
}

// ldc * n and lda * k past 2^31 with leading dimensions that fit: the product of two int32 would not.
TEST_P(Large, StridesWhoseProductsPass32BitsAreFollowed) {
  with_type([this]<class T>(T) {
    const std::int64_t ld = 200001, m = 2, n = 12000, k = 3;
    const SparseMemory<T> b_memory(ld * n), c_memory(ld * n);
    const auto a = integer_matrix<T>(m, k, 100, 96), b = integer_matrix<T>(k, n, 100, 97);
    put(b, b_memory.data(), ld);
    gemm<T>(Op::none, Op::none, m, n, k, 1, a.data(), m, b_memory.data(), ld, 0, c_memory.data(), ld, options<T>());
    Matrix<T> got(m, n);
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < m; ++i) got(i, j) = c_memory.data()[i + j * ld];
    EXPECT_EQ(difference(got, ExactProduct<T>(a, b).rounded()), "");
  });
}

TEST_P(Large, OneDimensionMayBeLongAndTheOthersShort) {
  with_type([this]<class T>(T) {
    for (const auto& [m, n, k] : {std::tuple{20000, 1, 3}, {1, 20000, 3}, {5000, 2, 40}, {2, 5000, 40}}) {
      const auto a = integer_matrix<T>(m, k, 1000, 98), b = integer_matrix<T>(k, n, 1000, 99);
      const auto expected = ExactProduct<T>(a, b).rounded();
      EXPECT_EQ(difference(multiply<T>({.a = a, .b = b}, options<T>()).c, expected), "")
          << m << " x " << n << " x " << k;
    }
  });
}

}  // namespace
}  // namespace vernier::test::large_test
