// alpha and beta convert to the type of the matrices, in every routine that takes them.
#include <gtest/gtest.h>

#include <array>
#include <complex>
#include <concepts>

#include "vernier/cuda_level3.hpp"
#include "vernier/prepared.hpp"
#include "vernier/slices.hpp"

namespace vernier::test::scalars_test {
namespace {

template <class T>
class Scalars : public testing::Test {};
using Types = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Scalars, Types);

// [1 2; 3 4] and its square, by columns.
template <class T>
struct Square {
  std::array<T, 4> a = {1, 3, 2, 4}, square = {7, 15, 10, 22}, c = {1, 1, 1, 1};
  const T* const pointers[1] = {a.data()};
  T* const results[1] = {c.data()};
};

TYPED_TEST(Scalars, OfDoubleAndIntServeProducts) {
  Square<TypeParam> s;
  gemm(Op::none, Op::none, 2, 2, 2, 1.0, s.a.data(), 2, s.a.data(), 2, 0.0, s.c.data(), 2);
  EXPECT_EQ(s.c, s.square);
  gemm(Op::none, Op::none, 2, 2, 2, 1, s.a.data(), 2, s.a.data(), 2, -1, s.c.data(), 2);
  EXPECT_EQ(s.c, (std::array<TypeParam, 4>{}));
  gemm_batched(Op::none, Op::none, 2, 2, 2, 1.0, s.pointers, 2, s.pointers, 2, 0.0, s.results, 2, 1);
  EXPECT_EQ(s.c, s.square);
  gemm_strided_batched(Op::none, Op::none, 2, 2, 2, 1.0, s.a.data(), 2, 4, s.a.data(), 2, 4, -1.0, s.c.data(), 2, 4, 1);
  EXPECT_EQ(s.c, (std::array<TypeParam, 4>{}));
  const PreparedOperand<TypeParam> prepared(Side::left, Op::none, 2, 2, s.a.data(), 2);
  gemm(prepared, Op::none, 2, 2, 2, 1.0, s.a.data(), 2, 0.0, s.c.data(), 2);
  EXPECT_EQ(s.c, s.square);
}

TYPED_TEST(Scalars, OfDoubleServeLevel3) {
  Square<TypeParam> s;
  const std::array<TypeParam, 4> identity = {1, 0, 0, 1};
  symm(Side::left, Uplo::lower, 2, 2, 2.0, identity.data(), 2, s.a.data(), 2, 0.0, s.c.data(), 2);
  EXPECT_EQ(s.c, (std::array<TypeParam, 4>{2, 6, 4, 8}));
  hemm(Side::left, Uplo::lower, 2, 2, 2.0, identity.data(), 2, s.a.data(), 2, -1.0, s.c.data(), 2);
  EXPECT_EQ(s.c, (std::array<TypeParam, 4>{}));
  gemmt(Uplo::lower, Op::none, Op::none, 2, 2, 1.0, s.a.data(), 2, s.a.data(), 2, 0.0, s.c.data(), 2);
  EXPECT_EQ(s.c[3], s.square[3]);
  syrk(Uplo::lower, Op::none, 2, 2, 1.0, s.a.data(), 2, 0.0, s.c.data(), 2);
  EXPECT_EQ(s.c[0], TypeParam(5));
  syr2k(Uplo::lower, Op::none, 2, 2, 1.0, s.a.data(), 2, s.a.data(), 2, 0.0, s.c.data(), 2);
  EXPECT_EQ(s.c[0], TypeParam(10));
  her2k(Uplo::lower, Op::none, 2, 2, 1.0, s.a.data(), 2, s.a.data(), 2, 0.0, s.c.data(), 2);
  EXPECT_EQ(s.c[0], TypeParam(10));
  trmm(Side::left, Uplo::lower, Op::none, Diag::non_unit, 2, 2, 2.0, identity.data(), 2, s.a.data(), 2);
  trsm(Side::left, Uplo::lower, Op::none, Diag::non_unit, 2, 2, 0.5, identity.data(), 2, s.a.data(), 2);
  EXPECT_EQ(s.a, Square<TypeParam>().a);
}

// Without a GPU these are only compiled.
template <class T>
concept TakenByValueOnGpu = requires(const T* a, const T* const* as, T* c, T* const* cs) {
  { cuda::gemm(Op::none, Op::none, 1, 1, 1, 1.0, a, 1, a, 1, 0.0, c, 1) } -> std::same_as<Report>;
  cuda::gemm_batched(Op::none, Op::none, 1, 1, 1, 1.0, as, 1, as, 1, 0.0, cs, 1, 1);
  cuda::gemm_strided_batched(Op::none, Op::none, 1, 1, 1, 1.0, a, 1, 1, a, 1, 1, 0.0, c, 1, 1, 1);
  cuda::syrk(Uplo::lower, Op::none, 1, 1, 1.0, a, 1, 0.0, c, 1);
  cuda::trsm(Side::left, Uplo::lower, Op::none, Diag::unit, 1, 1, 1.0, a, 1, c, 1);
};
static_assert(TakenByValueOnGpu<float> && TakenByValueOnGpu<std::complex<double>>);
template <class T>
concept PreparedByValueOnGpu = requires(const cuda::PreparedOperand<T>& x, const T* a, T* c) {
  cuda::gemm(x, Op::none, 1, 1, 1, 1.0, a, 1, 0.0, c, 1);
  cuda::gemm(Op::none, x, 1, 1, 1, 1.0, a, 1, 0.0, c, 1);
  cuda::gemm(x, x, 1, 1, 1, 1.0, 0.0, c, 1);
};
static_assert(PreparedByValueOnGpu<float>);

}  // namespace
}  // namespace vernier::test::scalars_test
