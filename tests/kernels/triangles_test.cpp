// Triangular solves of vectors, thread by thread on the host, against their definition.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "cuda/launch.hpp"
#include "lapack/triangle/inverses.cuh"
#include "lapack/triangle/solves.cuh"

namespace vernier::triangles_test {
namespace {

template <class T>
void invert_in_place(T* x, bool unit) {
  if (threadIdx.x < cuda::triangle_block)
    cuda::invert_by_warp(x, static_cast<int>(threadIdx.x) / 32 * cuda::inverse_step, unit);
  __syncthreads();
  cuda::join_inverses<32>(x);
  cuda::join_inverses<64>(x);
}

template <class T>
class Triangles : public testing::Test {
 protected:
  static constexpr int blocks = 3, n = blocks * cuda::triangle_block, vectors = 2;
  static constexpr double u = std::numeric_limits<T>::epsilon() / 2;

  Triangles() : a_(static_cast<std::size_t>(n * n)) {
    std::mt19937_64 random(3);
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) a_[place(i, j)] = static_cast<T>(uniform(random) / 10 + (i == j ? 2 : 0));
    for (double& b : b_) b = uniform(random);
  }
  static std::size_t place(int i, int j) { return static_cast<std::size_t>(i * n + j); }

  // An element of the unit lower triangle, or of the upper one.
  double at(bool upper, int i, int j) const {
    if (i == j && !upper) return 1;
    return (upper ? i <= j : i > j) ? static_cast<double>(a_[place(i, j)]) : 0;
  }

  // Of the diagonal blocks, one below the other, as the kernel has them.
  std::vector<T> inverses(bool upper) const {
    std::vector<T> all(static_cast<std::size_t>(n * cuda::triangle_block)),
        x(cuda::triangle_block * cuda::inverse_pitch);
    const auto turned = [&](int i) { return upper ? cuda::triangle_block - 1 - i : i; };
    for (int first = 0; first < n; first += cuda::triangle_block) {
      const auto each = [&](auto f) {
        for (int i = 0; i < cuda::triangle_block; ++i)
          for (int j = 0; j < cuda::triangle_block; ++j)
            f(x[static_cast<std::size_t>(turned(i) * cuda::inverse_pitch + turned(j))], first + i, j);
      };
      each([&](T& e, int i, int j) { e = a_[place(i, first + j)]; });
      emulated::Block(cuda::solve_threads, [&] { invert_in_place(x.data(), !upper); });
      each([&](T e, int i, int j) { all[static_cast<std::size_t>(i * cuda::triangle_block + j)] = e; });
    }
    return all;
  }

  std::vector<T> a_;
  std::vector<double> b_ = std::vector<double>(static_cast<std::size_t>(vectors * n));
};

using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Triangles, Types);

TYPED_TEST(Triangles, InversesTimesTheirBlocksAreOne) {
  constexpr int n = TestFixture::n, order = cuda::triangle_block;
  for (const bool upper : {false, true}) {
    const auto inverses = this->inverses(upper);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < order; ++j) {
        const int first = i / order * order;
        double sum = 0, size = 0;
        for (int k = 0; k < order; ++k) {
          const double term = this->at(upper, i, first + k) *
                              static_cast<double>(inverses[static_cast<std::size_t>((first + k) * order + j)]);
          sum += term, size += std::abs(term);
        }
        ASSERT_LE(std::abs(sum - (i == first + j)), 32 * TestFixture::u * (size + 1)) << upper << i << ", " << j;
      }
  }
}

template <class T, bool Transposed>
void solve(std::vector<T>& a, const std::vector<T>& inverses, bool upper, int blocks, cuda::SolveVectors v) {
  int ticket = 0;
  const int order = blocks * cuda::triangle_block;
  gridDim.x = static_cast<unsigned>(blocks * v.count);
  cuda::launch("triangle_kernel", cuda::triangle_kernel<T, Transposed>,
               {.grid = gridDim.x, .block = cuda::solve_threads}, nullptr, cuda::RowMajor<T>{a.data(), order},
               inverses.data(), blocks, upper != Transposed, v, &ticket);
  EXPECT_EQ(ticket, 0);
}

TYPED_TEST(Triangles, SolvesHaveSmallResidualsWhateverTheTriangleAndOp) {
  constexpr int n = TestFixture::n, blocks = TestFixture::blocks, vectors = TestFixture::vectors;
  for (const bool upper : {false, true})
    for (const bool transposed : {false, true}) {
      std::vector<double> x(this->b_.size(), __longlong_as_double(cuda::absent));
      const cuda::SolveVectors v{this->b_.data(), x.data(), n, vectors};
      if (transposed)
        solve<TypeParam, true>(this->a_, this->inverses(upper), upper, blocks, v);
      else
        solve<TypeParam, false>(this->a_, this->inverses(upper), upper, blocks, v);
      for (int c = 0; c < vectors; ++c)
        for (int i = 0; i < n; ++i) {
          double sum = -this->b_[static_cast<std::size_t>(c * n + i)], size = 0;
          for (int j = 0; j < n; ++j) {
            const double term =
                (transposed ? this->at(upper, j, i) : this->at(upper, i, j)) * x[static_cast<std::size_t>(c * n + j)];
            sum += term, size += std::abs(term);
          }
          ASSERT_LE(std::abs(sum), 32 * TestFixture::u * size) << upper << transposed << ", row " << i;
        }
    }
}

}  // namespace
}  // namespace vernier::triangles_test
