// Complex products, level 3 and batches on a GPU against the same routines on the CPU, whose bits they have under
// reproducible contracts.
#include "vernier/cuda_level3.hpp"

#include <cstring>

#include "blas/array.hpp"
#include "blas/fixture.hpp"
#include "cuda/device.hpp"
#include "gpu/engines.hpp"
#include "support/random.hpp"

namespace vernier::test::level3_test {
namespace {

using cuda::DeviceBuffer;

// An array in device memory, under the same shape.
template <class T>
class Resident {
 public:
  explicit Resident(const Array<T>& x) : memory_(x.x.size()) {
    cuda::copy_to_device(memory_.data(), x.x.data(), memory_.bytes());
  }
  T* data() const { return memory_.data(); }
  Array<T> read(std::int64_t rows, std::int64_t columns) const {
    Array<T> x{rows, columns};
    cuda::check(cudaDeviceSynchronize(), "routine");
    cuda::check(cudaMemcpy(x.x.data(), memory_.data(), memory_.bytes(), cudaMemcpyDeviceToHost), "to the host");
    return x;
  }

 private:
  DeviceBuffer<T> memory_;
};

template <class T>
std::string difference(const Array<T>& got, const Array<T>& expected) {
  for (std::int64_t j = 0; j < got.columns; ++j)
    for (std::int64_t i = 0; i < got.rows; ++i)
      if (std::memcmp(&got(i, j), &expected(i, j), sizeof(T)) != 0 && got(i, j) != expected(i, j))
        return joined("(", i, ", ", j, "): got ", got(i, j), ", expected ", expected(i, j));
  return "";
}

template <class T>
class Level3OnGpu : public testing::Test {
 protected:
  using R = Real<T>;

  Level3OnGpu() {
    contract_ = default_contract<T>();
    contract_.reproducible = true;
    on_cpu_.contract = on_gpu_.contract = contract_;
  }

  Array<T> scattered(std::int64_t rows, std::int64_t columns) {
    return filled<T>(rows, columns, [this] { return random_.scattered(0.5); });
  }
  Array<T> integers(std::int64_t rows, std::int64_t columns) {
    return filled<T>(rows, columns, [this] { return static_cast<double>(random_.integer(-3, 3)); });
  }
  static T number(double re, double im) {
    if constexpr (is_complex_type<T>)
      return T(static_cast<R>(re), static_cast<R>(im));
    else
      return static_cast<T>(re);
  }
  // NaNs where a routine must not look.
  static Array<T> hidden(Array<T> a, Uplo uplo) {
    for (std::int64_t j = 0; j < a.columns; ++j)
      for (std::int64_t i = 0; i < a.rows; ++i)
        if (uplo == Uplo::lower ? i < j : i > j) a(i, j) = T(std::numeric_limits<R>::quiet_NaN());
    return a;
  }

  Random random_{23};
  Contract contract_;
  Options on_cpu_;
  cuda::Options on_gpu_;
};

using Types = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Level3OnGpu, Types);

constexpr Uplo both_uplo[] = {Uplo::lower, Uplo::upper};
constexpr Side both_sides[] = {Side::left, Side::right};
constexpr Op all_ops[] = {Op::none, Op::transpose, Op::conjugate_transpose};

TYPED_TEST(Level3OnGpu, ProductsOfAllTransposesAndFactorsHaveTheBitsOfTheCpu) {
  using T = TypeParam;
  const std::int64_t m = 70, n = 45, k = 130;
  const std::pair<T, T> factors[] = {
      {T(1), T(0)}, {this->number(0.5, 0), this->number(-2, 0)}, {this->number(0.3, -0.7), this->number(0.2, 1.1)}};
  for (const Op opa : all_ops)
    for (const Op opb : all_ops)
      for (const auto& [alpha, beta] : factors)
        for (const bool in_device_memory : {false, true}) {
          const Array<T> a = opa == Op::none ? this->scattered(m, k) : this->scattered(k, m);
          const Array<T> b = opb == Op::none ? this->scattered(k, n) : this->scattered(n, k);
          Array<T> c = this->scattered(m, n), both{2, 1};
          both(0, 0) = alpha;
          both(1, 0) = beta;
          const Resident<T> da(a), db(b), dc(c), scalars(both);
          cuda::Options options = this->on_gpu_;
          options.pointer_mode = in_device_memory ? cuda::PointerMode::device : cuda::PointerMode::host;
          const T* x = in_device_memory ? scalars.data() : both.x.data();
          const Report report =
              cuda::gemm<T>(opa, opb, m, n, k, x, da.data(), a.rows, db.data(), b.rows, x + 1, dc.data(), m, options);
          EXPECT_EQ(report.plan.scheme, "residues");
          EXPECT_EQ(report.plan.k, k);
          gemm<T>(opa, opb, m, n, k, alpha, a.x.data(), a.rows, b.x.data(), b.rows, beta, c.x.data(), m, this->on_cpu_);
          EXPECT_EQ(difference(dc.read(m, n), c), "")
              << static_cast<char>(opa) << static_cast<char>(opb) << alpha << beta << in_device_memory;
        }
}

// Without a promise of bits large complex products go by two products modulo each p; NaN, infinities and wide data take
// the other way. Entry by entry against the same product with bits(70), whose error does not count.
TYPED_TEST(Level3OnGpu, ComplexProductsKeepTheBoundByEitherWay) {
  using T = TypeParam;
  if constexpr (is_complex_type<T>) {
    using R = Real<T>;
    const std::int64_t m = 301, n = 203, k = 517;
    const std::pair<T, T> factors[] = {{T(1), T(0)}, {this->number(0.3, -0.7), this->number(0.2, 1.1)}};
    for (const Op opa : all_ops)
      for (const Op opb : all_ops)
        for (const auto& [alpha, beta] : factors)
          for (const int kind : {0, 1, 2}) {  // ordinary data, an infinity, wide exponents
            Array<T> a = opa == Op::none ? this->scattered(m, k) : this->scattered(k, m);
            const Array<T> b = opb == Op::none ? this->scattered(k, n) : this->scattered(n, k);
            if (kind == 1) a(5, 7) = T(std::numeric_limits<R>::infinity(), R(1));
            if (kind == 2)
              for (std::size_t i = 0; i < a.x.size(); i += 3) a.x[i] *= R(std::ldexp(1.0, -60));
            const Array<T> c0 = this->scattered(m, n);
            const Resident<T> da(a), db(b), dc(c0), fine(c0);
            cuda::Options options;
            options.contract = Contract::normwise();
            options.engine = usual_engine();
            if (kind == 2 || sizeof(R) == 8) options.contract = Contract::fp64();
            const Report report = cuda::gemm<T>(opa, opb, m, n, k, &alpha, da.data(), a.rows, db.data(), b.rows, &beta,
                                                dc.data(), m, options);
            const bool by_roots = report.plan.reason.find("root of -1") != std::string::npos;
            EXPECT_EQ(by_roots, kind == 0) << report.plan.reason;
            options.contract = Contract::parse("bits(70)");
            cuda::gemm<T>(opa, opb, m, n, k, &alpha, da.data(), a.rows, db.data(), b.rows, &beta, fine.data(), m,
                          options);
            const Array<T> got = dc.read(m, n), exact = fine.read(m, n);
            int wrong = 0;
            for (std::int64_t j = 0; j < n; j += 7)  // coprime to the units and tiles
              for (std::int64_t i = 0; i < m; i += 5) {
                double scale = std::abs(beta) * std::abs(c0(i, j));
                for (std::int64_t l = 0; l < k; ++l)
                  scale += 2 * std::abs(alpha) * static_cast<double>(std::abs(element(opa, a, i, l))) *
                           static_cast<double>(std::abs(element(opb, b, l, j)));
                const double error = std::abs(std::complex<double>(got(i, j)) - std::complex<double>(exact(i, j)));
                const double u = std::ldexp(1.0, -std::numeric_limits<R>::digits);
                const bool special = !std::isfinite(scale);
                if (special ? std::isfinite(std::abs(got(i, j))) : !(error <= static_cast<double>(k + 8) * u * scale))
                  ++wrong;
              }
            EXPECT_EQ(wrong, 0) << static_cast<char>(opa) << static_cast<char>(opb) << alpha << kind;
          }
  }
}

TYPED_TEST(Level3OnGpu, SymmAndHemmHaveTheBitsOfTheCpu) {
  using T = TypeParam;
  const std::int64_t m = 90, n = 37;
  const T alpha = this->number(2, 1), beta = this->number(-1, 2);
  for (const bool hermitian : {false, true})
    for (const Side side : both_sides)
      for (const Uplo uplo : both_uplo) {
        const std::int64_t order = side == Side::left ? m : n;
        const Array<T> a = this->hidden(this->scattered(order, order), uplo), b = this->scattered(m, n);
        Array<T> c = this->scattered(m, n);
        const Resident<T> da(a), db(b), dc(c);
        (hermitian ? cuda::hemm<T> : cuda::symm<T>)(side, uplo, m, n, alpha, da.data(), order, db.data(), m, beta,
                                                    dc.data(), m, this->on_gpu_);
        (hermitian ? hemm<T> : symm<T>)(side, uplo, m, n, alpha, a.x.data(), order, b.x.data(), m, beta, c.x.data(), m,
                                        this->on_cpu_);
        EXPECT_EQ(difference(dc.read(m, n), c), "") << hermitian;
      }
}

TYPED_TEST(Level3OnGpu, UpdatesHaveTheBitsOfTheCpuAndLeaveTheOtherTriangle) {
  using T = TypeParam;
  using R = Real<T>;
  const T alpha = this->number(2, 1), beta = this->number(-1, 2);
  for (const auto& [n, k] : {std::pair{75, 40}, std::pair{1300, 33}})
    for (const Uplo uplo : both_uplo)
      for (const bool turned : {false, true}) {
        const Array<T> a = turned ? this->scattered(k, n) : this->scattered(n, k);
        const Array<T> b = turned ? this->scattered(k, n) : this->scattered(n, k);
        const Array<T> c0 = this->hidden(this->scattered(n, n), uplo);
        const Resident<T> da(a), db(b);
        const auto compare = [&](const char* routine, auto gpu, auto cpu) {
          Array<T> c = c0;
          const Resident<T> dc(c);
          gpu(dc.data());
          cpu(c.x.data());
          EXPECT_EQ(difference(dc.read(n, n), c), "") << routine << n << turned;
        };
        const Op symmetric = turned ? Op::transpose : Op::none, hermitian = turned ? Op::conjugate_transpose : Op::none;
        const T* x = a.x.data();
        const T* y = b.x.data();
        for (const Op opb : {Op::none, Op::transpose, Op::conjugate_transpose}) {
          const Array<T> y_of_op = opb == Op::none ? this->scattered(k, n) : this->scattered(n, k);
          const Resident<T> dy(y_of_op);
          const Op opa = turned ? Op::conjugate_transpose : Op::none;
          compare(
              "gemmt",
              [&](T* c) {
                cuda::gemmt<T>(uplo, opa, opb, n, k, alpha, da.data(), a.rows, dy.data(), y_of_op.rows, beta, c, n,
                               this->on_gpu_);
              },
              [&](T* c) {
                gemmt<T>(uplo, opa, opb, n, k, alpha, x, a.rows, y_of_op.x.data(), y_of_op.rows, beta, c, n,
                         this->on_cpu_);
              });
        }
        compare(
            "syrk",
            [&](T* c) { cuda::syrk<T>(uplo, symmetric, n, k, alpha, da.data(), a.rows, beta, c, n, this->on_gpu_); },
            [&](T* c) { syrk<T>(uplo, symmetric, n, k, alpha, x, a.rows, beta, c, n, this->on_cpu_); });
        compare(
            "herk",
            [&](T* c) { cuda::herk<T>(uplo, hermitian, n, k, R(2), da.data(), a.rows, R(-3), c, n, this->on_gpu_); },
            [&](T* c) { herk<T>(uplo, hermitian, n, k, R(2), x, a.rows, R(-3), c, n, this->on_cpu_); });
        compare(
            "syr2k",
            [&](T* c) {
              cuda::syr2k<T>(uplo, symmetric, n, k, alpha, da.data(), a.rows, db.data(), b.rows, beta, c, n,
                             this->on_gpu_);
            },
            [&](T* c) { syr2k<T>(uplo, symmetric, n, k, alpha, x, a.rows, y, b.rows, beta, c, n, this->on_cpu_); });
        compare(
            "syrkx",
            [&](T* c) {
              cuda::syrkx<T>(uplo, symmetric, n, k, alpha, da.data(), a.rows, db.data(), b.rows, beta, c, n,
                             this->on_gpu_);
            },
            [&](T* c) {
              gemmt<T>(uplo, symmetric, turned ? Op::none : Op::transpose, n, k, alpha, x, a.rows, y, b.rows, beta, c,
                       n, this->on_cpu_);
            });
        compare(
            "herkx",
            [&](T* c) {
              cuda::herkx<T>(uplo, hermitian, n, k, alpha, da.data(), a.rows, db.data(), b.rows, R(-3), c, n,
                             this->on_gpu_);
            },
            [&](T* c) {
              for (std::int64_t i = 0; i < n; ++i) c[i + i * n] = T(std::real(c[i + i * n]));
              gemmt<T>(uplo, hermitian, turned ? Op::none : Op::conjugate_transpose, n, k, alpha, x, a.rows, y, b.rows,
                       T(-3), c, n, this->on_cpu_);
              for (std::int64_t i = 0; i < n; ++i) c[i + i * n] = T(std::real(c[i + i * n]));
            });
        compare(
            "her2k",
            [&](T* c) {
              cuda::her2k<T>(uplo, hermitian, n, k, alpha, da.data(), a.rows, db.data(), b.rows, R(-3), c, n,
                             this->on_gpu_);
            },
            [&](T* c) { her2k<T>(uplo, hermitian, n, k, alpha, x, a.rows, y, b.rows, R(-3), c, n, this->on_cpu_); });
      }
}

// Integers, whose products and solutions are exact: large enough for a half on each side of the diagonal's blocks. The
// solves are of matrices that couple only unknowns that are far apart, so that no inverse of a block grows.
TYPED_TEST(Level3OnGpu, TriangularProductsAndSolvesOfIntegersAreExact) {
  using T = TypeParam;
  const std::int64_t order = 1300, others = 20;
  cuda::Options options;
  options.contract = default_contract<T>();
  options.engine = usual_engine();
  for (const Side side : both_sides)
    for (const Uplo uplo : both_uplo)
      for (const Op op : all_ops)
        for (const Diag diag : {Diag::non_unit, Diag::unit}) {
          Array<T> a = this->hidden(this->integers(order, order), uplo);
          for (std::int64_t j = 0; j < order; ++j) {
            for (std::int64_t i = 0; i < order; ++i)
              if (i / 512 == j / 512 && a(i, j) == a(i, j)) a(i, j) = T(0);
            a(j, j) = diag == Diag::unit ? T(std::numeric_limits<Real<T>>::quiet_NaN()) : T(2);
          }
          const std::int64_t m = side == Side::left ? order : others, n = side == Side::left ? others : order;
          const Array<T> x = this->integers(m, n);
          const Resident<T> da(a), dx(x), product(Array<T>{m, n});
          cuda::trmm<T>(side, uplo, op, diag, m, n, T(2), da.data(), order, dx.data(), m, product.data(), m, options);
          Array<T> expected = x;
          Options plain;
          plain.contract = default_contract<T>();
          plain.engine = "native";
          trmm<T>(side, uplo, op, diag, m, n, T(2), a.x.data(), order, expected.x.data(), m, plain);
          EXPECT_EQ(difference(product.read(m, n), expected), "") << "trmm " << static_cast<char>(op);
          const Report report =
              cuda::trsm<T>(side, uplo, op, diag, m, n, T(Real<T>(0.5)), da.data(), order, product.data(), m, options);
          EXPECT_EQ(report.plan.scheme, "residues");
          EXPECT_EQ(difference(product.read(m, n), x), "") << "trsm " << static_cast<char>(op);
        }
}

TYPED_TEST(Level3OnGpu, BatchesAreProductsOneByOne) {
  using T = TypeParam;
  const std::int64_t m = 40, n = 30, k = 50, count = 3;
  const T alpha = this->number(1, 2), beta = this->number(0.5, 0);
  const Array<T> a = this->scattered(m, k * count), b = this->scattered(k, n * count),
                 c0 = this->scattered(m, n * count);
  Array<T> expected = c0;
  const Resident<T> da(a), db(b), strided(c0), addressed(c0);
  gemm_strided_batched<T>(Op::none, Op::none, m, n, k, alpha, a.x.data(), m, m * k, b.x.data(), k, k * n, beta,
                          expected.x.data(), m, m * n, count, this->on_cpu_);
  cuda::gemm_strided_batched<T>(Op::none, Op::none, m, n, k, &alpha, da.data(), m, m * k, db.data(), k, k * n, &beta,
                                strided.data(), m, m * n, count, this->on_gpu_);
  EXPECT_EQ(difference(strided.read(m, n * count), expected), "");
  std::vector<T*> addresses;
  for (std::int64_t i = 0; i < count; ++i)
    for (T* p : {da.data() + i * m * k, db.data() + i * k * n, addressed.data() + i * m * n}) addresses.push_back(p);
  std::vector<T*> by_matrix;
  for (std::size_t matrix = 0; matrix < 3; ++matrix)
    for (std::size_t i = 0; i < count; ++i) by_matrix.push_back(addresses[3 * i + matrix]);
  const DeviceBuffer<T*> array(by_matrix.size());
  cuda::copy_to_device(array.data(), by_matrix.data(), array.bytes());
  cuda::gemm_batched<T>(Op::none, Op::none, m, n, k, &alpha, array.data(), m, array.data() + count, k, &beta,
                        array.data() + 2 * count, m, count, this->on_gpu_);
  EXPECT_EQ(difference(addressed.read(m, n * count), expected), "");
}

}  // namespace
}  // namespace vernier::test::level3_test
