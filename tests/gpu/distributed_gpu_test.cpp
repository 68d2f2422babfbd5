// Partial products of a distributed product on a GPU: the elements of the CPU, byte by byte.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numeric>
#include <vector>

#include "number/complex.hpp"
#include "residue/partial_gpu/device_product.hpp"
#include "support/random.hpp"
#include "vernier/distributed.hpp"

namespace vernier::test::distributed_gpu_test {
namespace {

template <class T>
T number(Random& random, int reach) {
  const auto real = [&] {
    return std::ldexp(static_cast<RealType<T>>(2 * random.uniform() - 1),
                      static_cast<int>(random.integer(-reach, reach)));
  };
  if constexpr (is_complex<T>)
    return {real(), real()};
  else
    return real();
}

struct Case {
  std::int64_t m, n, k;
  const char* contract;
  int reach;             // of exponents
  bool special = false;  // an infinity and a NaN
};

// One party holds everything.
template <class T>
class Party {
 public:
  Party(const Case& x, Op opa, Op opb, Device device, const std::vector<T>& a, const std::vector<T>& b)
      : x_(x),
        opa_(opa),
        opb_(opb),
        product_(opa, opb, x.m, x.n, x.k, options(x, device)),
        indices_(static_cast<std::size_t>(std::max({x.m, x.n, x.k}))) {
    std::iota(indices_.begin(), indices_.end(), 0);
    while (product_.scanning()) {
      product_.scan(Side::left, part(a, opa, x.m, x.k));
      product_.scan(Side::right, part(b, opb, x.k, x.n));
      product_.combine();
    }
  }

  int passes() const { return product_.passes(); }

  // Of so much that is there already.
  std::vector<std::byte> elements(int pass, const std::vector<T>& a, const std::vector<T>& b) const {
    const std::size_t bytes = product_.element_bytes(pass);
    std::vector<std::byte> left(bytes * a.size()), right(bytes * b.size()),
        c(bytes * static_cast<std::size_t>(x_.m * x_.n));
    product_.convert(pass, Side::left, part(a, opa_, x_.m, x_.k), left.data(), ld(opa_, x_.m, x_.k));
    product_.convert(pass, Side::right, part(b, opb_, x_.k, x_.n), right.data(), ld(opb_, x_.k, x_.n));
    for (int twice = 0; twice < 2; ++twice)
      product_.multiply(pass, opa_, opb_, x_.m, x_.n, x_.k, left.data(), ld(opa_, x_.m, x_.k), right.data(),
                        ld(opb_, x_.k, x_.n), c.data(), x_.m);
    return c;
  }

 private:
  static Options options(const Case& x, Device device) {
    return {.contract = Contract::parse(x.contract), .threads = 4, .device = device};
  }
  static std::int64_t ld(Op op, std::int64_t rows, std::int64_t columns) { return op == Op::none ? rows : columns; }
  MatrixPart<const T> part(const std::vector<T>& x, Op op, std::int64_t rows, std::int64_t columns) const {
    if (op != Op::none) std::swap(rows, columns);
    return {x.data(), rows, indices_.data(), rows, indices_.data(), columns};
  }

  Case x_;
  Op opa_, opb_;
  DistributedProduct<T> product_;
  std::vector<std::int64_t> indices_;
};

template <class T>
void expect_elements_of_the_cpu(const Case& x, Op opa, Op opb) {
  Random random(static_cast<std::uint64_t>(x.m + x.k));
  std::vector<T> a(static_cast<std::size_t>(x.m * x.k)), b(static_cast<std::size_t>(x.k * x.n));
  for (T& v : a) v = number<T>(random, x.reach);
  for (T& v : b) v = number<T>(random, x.reach);
  if (x.special)
    a[7] = std::numeric_limits<RealType<T>>::infinity(), b[9] = std::numeric_limits<RealType<T>>::quiet_NaN();
  const Party<T> cpu(x, opa, opb, Device::cpu, a, b), gpu(x, opa, opb, Device::cuda, a, b);
  ASSERT_EQ(cpu.passes(), gpu.passes());
  for (int pass = 0; pass < cpu.passes(); ++pass)
    EXPECT_TRUE(cpu.elements(pass, a, b) == gpu.elements(pass, a, b))
        << x.m << " x " << x.n << " x " << x.k << ", " << x.contract << ", pass " << pass;
}

// The GPU's own work: nothing else would show that the CPU has not taken over.
TEST(ElementsOnGpu, AreTheProductsOfTheCpu) {
  ASSERT_GT(element_device().memory, 0U);
  for (const ElementLayout& layout : {ElementLayout{1, 15}, ElementLayout{2, 7}, ElementLayout{1, 49}}) {
    PassData pass;
    pass.layout = layout;
    pass.engine = &find_int8_engine("");
    constexpr std::int64_t m = 150, n = 70, k = 300;
    const std::size_t bytes = layout.bytes();
    Random random(static_cast<std::uint64_t>(layout.moduli));
    const auto elements = [&](std::int64_t count) {
      std::vector<std::byte> x(bytes * static_cast<std::size_t>(count));
      for (std::size_t e = 0; e < x.size(); e += bytes)
        for (int r = 0; r < layout.parts * layout.moduli; ++r) {
          const int p = moduli[static_cast<std::size_t>(r % layout.moduli)];
          x[e + static_cast<std::size_t>(r)] =
              static_cast<std::byte>(random.integer(smallest_residue(p), largest_residue(p)));
        }
      return x;
    };
    const std::vector<std::byte> a = elements(m * k), b = elements(k * n);
    std::vector<std::byte> expected(bytes * m * n), got(bytes * m * n, std::byte{99});
    const ElementProduct product{m, n, k, {a.data(), m, false, bytes}, {b.data(), k, true, bytes}, expected.data(), m};
    multiply_residues(pass, product);
    ASSERT_TRUE(make_product_on_device(pass, product, 128, got.data()));
    EXPECT_TRUE(got == expected) << layout.moduli << " moduli, " << layout.parts << " parts";
  }
}

class DistributedOnGpu : public testing::TestWithParam<Case> {};

TEST_P(DistributedOnGpu, HasTheElementsOfTheCpu) {
  for (const auto& [opa, opb] : {std::pair{Op::none, Op::none},
                                 {Op::transpose, Op::none},
                                 {Op::none, Op::transpose},
                                 {Op::conjugate_transpose, Op::conjugate_transpose}}) {
    expect_elements_of_the_cpu<double>(GetParam(), opa, opb);
    expect_elements_of_the_cpu<std::complex<double>>(GetParam(), opa, opb);
  }
  expect_elements_of_the_cpu<float>(GetParam(), Op::none, Op::none);
  expect_elements_of_the_cpu<std::complex<float>>(GetParam(), Op::transpose, Op::none);
}

INSTANTIATE_TEST_SUITE_P(Shapes, DistributedOnGpu,
                         testing::Values(Case{100, 90, 120, "fp64+reproducible", 3},
                                         Case{65, 130, 500, "fp64+reproducible", 40},  // two passes
                                         Case{33, 200, 9000, "fp64+reproducible", 2},  // two blocks of k
                                         Case{70, 65, 64, "exact", 6}, Case{80, 70, 90, "fp64+reproducible", 3, true}));

}  // namespace
}  // namespace vernier::test::distributed_gpu_test
