// op(B) is op(A) transposed, by its elements or by its place, of data that go natively: cuBLAS makes the lower
// triangle.
#include <cmath>
#include <cstdlib>

#include "gpu/fixture.hpp"
#include "gpu/program_cublas.hpp"
#include "support/bound.hpp"

namespace vernier::test::native_half_test {
namespace {

constexpr std::int64_t n = 3100;

Matrix<double> decaying() {
  Matrix<double> a(n, n);
  for (std::int64_t l = 0; l < n; ++l)
    for (std::int64_t i = 0; i < n; ++i)
      a(i, l) =
          std::exp(-0.03 * static_cast<double>(std::abs(i - l))) * (1 + static_cast<double>((7 * i + 3 * l) % 11) / 16);
  return a;
}

std::string broken(const Matrix<double>& a, const Matrix<double>& b, const Matrix<double>& c) {
  return broken_bound_of_some(Contract::fp64(), a, b, c, 60, 50);
}

// After the first call, which finds out; one element that differs is seen by the device, with a host or without.
TEST(NativeHalfOnGpu, ProductsOfAMatrixWithItselfAreSymmetric) {
  const Matrix<double> a = decaying();
  const Matrix<double> b = transposed(a);
  Matrix<double> other = b;
  other(n - 1, n - 1) += 3;
  const cuda::Options waits{.contract = Contract::fp64()};
  cuda::Options asynchronous = waits;
  asynchronous.asynchronous = true;
  const auto multiply = [&](const Matrix<double>& with, const cuda::Options& options) {
    const auto out = multiply_on_gpu(Call<double>{.a = a, .b = with}, options);
    EXPECT_EQ(broken(a, with, out.c), "");
    EXPECT_EQ(out.report.plan.scheme, "native");
    return out.c;
  };
  multiply(b, waits);
  if (cuda::takes_hopper_kernels()) {
    for (int call = 0; call < 5; ++call) EXPECT_EQ(asymmetry(multiply(b, waits)), "");
    EXPECT_EQ(asymmetry(multiply(b, asynchronous)), "");  // whatever the next look with a host will find
  }
  multiply(other, asynchronous);
  multiply(other, waits);
  multiply(other, asynchronous);

  const DeviceCopy<double> x(a), c(Matrix<double>(n, n));
  const double one = 1, zero = 0;
  for (int call = 0; call < 2; ++call) {
    cuda::gemm(Op::none, Op::transpose, n, n, n, &one, x.data(), a.ld(), x.data(), a.ld(), &zero, c.data(), n, waits);
    Matrix<double> got(n, n);
    c.read(got);
    EXPECT_EQ(broken(a, b, got), "");
    EXPECT_EQ(asymmetry(got), "");
  }
}

// What a program's own gemm would make all of is not left to it where its cuBLAS is lent.
TEST(NativeHalfOnGpu, IsMadeByALentCublas) {
  if (!cuda::takes_hopper_kernels()) GTEST_SKIP() << "nothing is known to be symmetric";
  const Matrix<double> a = decaying();
  const DeviceCopy<double> x(a), c(Matrix<double>(n, n));
  const double one = 1, zero = 0;
  const auto multiply = [&] {
    return cuda::gemm_unless_wide(Op::none, Op::transpose, n, n, n, &one, x.data(), a.ld(), x.data(), a.ld(), &zero,
                                  c.data(), n, {.contract = Contract::fp64()});
  };
  EXPECT_THROW(multiply(), Error);
  const ProgramCublas program;
  const cuda::LentCublas lent(program.handle);
  const Report report = multiply();
  EXPECT_EQ(report.plan.scheme, "native");
  EXPECT_TRUE(report.fallback);
  Matrix<double> got(n, n);
  c.read(got);
  EXPECT_EQ(broken(a, transposed(a), got), "");
  EXPECT_EQ(asymmetry(got), "");
}

}  // namespace
}  // namespace vernier::test::native_half_test
