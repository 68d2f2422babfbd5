// Batches against single products.
#include "array.hpp"
#include "fixture.hpp"
#include "vernier/level3.hpp"

namespace vernier::test {
namespace {

using Types = testing::Types<float, double, std::complex<float>, std::complex<double>>;

// gemm of every product of a batch, one by one.
template <class T>
class Batch : public testing::Test {};
TYPED_TEST_SUITE(Batch, Types);

TYPED_TEST(Batch, products_have_the_bits_of_single_products) {
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

TYPED_TEST(Batch, wrong_arguments_are_refused_before_any_product) {
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

}  // namespace
}  // namespace vernier::test
