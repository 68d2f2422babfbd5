// Batches against single products.
#include "array.hpp"
#include "fixture.hpp"
#include "support/error_message.hpp"
#include "vernier/cuda_level3.hpp"
#include "vernier/level3.hpp"

namespace vernier::test::batched_test {
namespace {

using Types = testing::Types<float, double, std::complex<float>, std::complex<double>>;

// gemm of every product of a batch, one by one.
template <class T>
class Batch : public testing::Test {};
TYPED_TEST_SUITE(Batch, Types);

TYPED_TEST(Batch, ProductsHaveTheBitsOfSingleProducts) {
  using T = TypeParam;
  Random random(4);
  const auto next = [&] { return random.scattered(1); };
  Options options;
  options.contract = default_contract<T>();
  options.contract.reproducible = true;
  for (const std::int64_t m : {9, 150}) {
    const std::int64_t n = 7, k = m, count = 5;
    const Array<T> a = filled<T>(k, m * count, next), b = filled<T>(k, n, next), c0 = filled<T>(m, n * count, next);
    Array<T> expected = c0, pointers = c0, strided = c0;
    std::vector<const T*> as, bs;
    std::vector<T*> cs;
    for (std::int64_t i = 0; i < count; ++i) {
      as.push_back(a.x.data() + i * k * m);
      bs.push_back(b.x.data());
      cs.push_back(pointers.x.data() + i * m * n);
      gemm<T>(Op::conjugate_transpose, Op::none, m, n, k, T(2), as.back(), k, bs.back(), k, T(-1),
              expected.x.data() + i * m * n, m, options);
    }
    const Report report = gemm_batched<T>(Op::conjugate_transpose, Op::none, m, n, k, T(2), as.data(), k, bs.data(), k,
                                          T(-1), cs.data(), m, count, options);
    gemm_strided_batched<T>(Op::conjugate_transpose, Op::none, m, n, k, T(2), a.x.data(), k, k * m, b.x.data(), k, 0,
                            T(-1), strided.x.data(), m, m * n, count, options);
    EXPECT_EQ(pointers.x, expected.x);
    EXPECT_EQ(strided.x, expected.x);
    EXPECT_EQ(report.plan.scheme, "residues");
    EXPECT_EQ(report.plan.routine, "gemm_batched");
  }
}

TYPED_TEST(Batch, WrongArgumentsAreRefusedBeforeAnyProduct) {
  using T = TypeParam;
  const std::vector<T> a(12, T(1));
  std::vector<T> c(12, T(5));
  const T* as[] = {a.data(), nullptr};
  const T* bs[] = {a.data(), a.data()};
  T* cs[] = {c.data(), c.data() + 4};
  EXPECT_THROW(gemm_batched<T>(Op::none, Op::none, 2, 2, 2, T(1), as, 2, bs, 2, T(0), cs, 2, 2), Error);
  EXPECT_THROW(gemm_batched<T>(Op::none, Op::none, 2, 2, 2, T(1), bs, 2, bs, 2, T(0), cs, 2, -1), Error);
  EXPECT_THROW(gemm_strided_batched<T>(Op::none, Op::none, 2, 2, 2, T(1), a.data(), 1, 4, a.data(), 2, 4, T(0),
                                       c.data(), 2, 4, 2),
               Error);
  EXPECT_THROW(gemm_strided_batched<T>(Op::none, Op::none, 2, 2, 2, T(1), a.data(), 2, 4, a.data(), 2, 4, T(0),
                                       c.data(), 2, 1, 2),
               Error);  // the results would overlap
  EXPECT_EQ(c, std::vector<T>(12, T(5)));
}

// A batch of which nothing is there: which array is missed first? (Found before a GPU is looked for.)
template <class T, class Scalar>
std::string missed(Scalar alpha, Scalar beta) {
  const T* const* none = nullptr;
  T* const* no_result = nullptr;
  const auto call = [&](const auto& options) {
    return gemm_batched(Op::none, Op::none, 2, 2, 2, alpha, none, 2, none, 2, beta, no_result, 2, 3, options);
  };
  if constexpr (std::is_pointer_v<Scalar>)
    return message([&] { call(cuda::Options{}); });
  else
    return message([&] { call(Options{}); });
}

TYPED_TEST(Batch, AAndBAreAskedForWhereTheyAreRead) {
  using T = TypeParam;
  const T zero = 0, one = 1;
  EXPECT_EQ((missed<T, T>(one, zero)), "gemm_batched: A is null");
  EXPECT_EQ((missed<T, T>(zero, one)), "gemm_batched: C is null");
#if VERNIER_HAS_CUDA
  EXPECT_EQ((missed<T, const T*>(&one, &zero)), "gemm_batched: A is null");
  EXPECT_EQ((missed<T, const T*>(&zero, &one)), "gemm_batched: C is null");
#endif
}

}  // namespace
}  // namespace vernier::test::batched_test
