// The conventional product behind a gate, for what a chain of kernels leaves (product/native/conventional.hpp).
#include "product/native/conventional.hpp"

#include <algorithm>
#include <vector>

#include "cuda/cublas.hpp"
#include "gpu/engines.hpp"
#include "gpu/fixture.hpp"
#include "gpu/on_device.hpp"
#include "gpu/program_cublas.hpp"
#include "vernier/cuda_level3.hpp"

namespace vernier::test::conventional_test {
namespace {

// A chain of fused multiply-adds in the order of k.
template <class T>
void a_conventional_product_is_a_chain(std::int64_t m, std::int64_t n, std::int64_t k, Op opa, Op opb, T alpha,
                                       T beta) {
  const Call<T> call{.a = scattered_matrix<T>(m, k, 1, 1), .b = scattered_matrix<T>(k, n, 1, 2)};
  const Matrix<T> a = stored(opa, call.a, 3), b = stored(opb, call.b, 1), old = scattered_matrix<T>(m, n, 1, 3);
  Matrix<T> c = padded(old, 1);
  const DeviceCopy<T> device_a(a), device_b(b), device_c(c);
  const int word = 3;
  const cuda::DeviceBuffer<int> gate(1);
  cuda::check(cudaMemcpy(gate.data(), &word, sizeof(word), cudaMemcpyHostToDevice), "gate");
  cuda::ConventionalProduct<T> product{
      .rows = {device_a.data(), m, opa == Op::none ? 1 : a.ld(), opa == Op::none ? a.ld() : 1},
      .columns = {device_b.data(), n, opb == Op::none ? b.ld() : 1, opb == Op::none ? 1 : b.ld()},
      .k = k,
      .to = {{alpha}, {beta}, device_c.data(), c.ld()},
      .gate = {gate.data(), 2}};
  cuda::multiply_conventionally(product, nullptr);
  device_c.read(c);
  EXPECT_EQ(difference(c, padded(old, 1)), "") << "behind a closed gate";
  product.gate.value = 3;
  cuda::multiply_conventionally(product, nullptr);
  device_c.read(c);
  EXPECT_EQ(c.broken_guard(), "");
  const auto chain = Matrix<T>::of(m, n, [&](auto i, auto j) {
    double sum = 0;
    for (std::int64_t l = 0; l < k; ++l) sum = std::fma<double>(call.a(i, l), call.b(l, j), sum);
    return static_cast<T>(sum);
  });
  EXPECT_EQ(difference(c, padded(combined(alpha, chain, beta, old), 1)), "")
      << "m = " << m << ", n = " << n << ", k = " << k << ", op " << text(opa) << text(opb)
      << ", sizeof(T) = " << sizeof(T);
}

// cuBLAS reads C where beta is -0.
template <class T>
void a_beta_of_minus_zero_reads_no_c() {
  const std::int64_t n = 40;
  std::vector<T> x(n * n), nothing(n * n, T(NAN));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = T(static_cast<float>(i % 23) - 11);
  const OnDevice<T> a(x), b(x);
  const auto product = [&](T beta, cuda::PointerMode mode, const char* engine, bool batch) {
    const std::vector<T> factors{T{1}, beta};
    const OnDevice<T> c(nothing), device_factors(factors);
    const T* const f = mode == cuda::PointerMode::host ? factors.data() : device_factors.data();
    const cuda::Options options{.contract = default_contract<T>(), .engine = engine, .pointer_mode = mode};
    if (batch)
      cuda::gemm_strided_batched<T>(Op::none, Op::none, n, n / 2, n, f, a.data(), n, 0, b.data(), n, n * n / 2, f + 1,
                                    c.data(), n, n * n / 2, 2, options);
    else
      cuda::gemm<T>(Op::none, Op::none, n, n, n, f, a.data(), n, b.data(), n, f + 1, c.data(), n, options);
    cuda::check(cudaDeviceSynchronize(), "gemm");
    return c.read();
  };
  for (const cuda::PointerMode mode : {cuda::PointerMode::host, cuda::PointerMode::device})
    for (const char* engine : {"", "native"})
      for (const bool batch : {false, true})
        EXPECT_EQ(product(-T{0}, mode, engine, batch), product(T{0}, mode, engine, batch))
            << engine << (mode == cuda::PointerMode::host ? ", host" : ", device") << (batch ? ", batch" : "");
}

TEST(ConventionalOnGpu, ReadsNoCWhereBetaIsMinusZero) {
  a_beta_of_minus_zero_reads_no_c<float>();
  a_beta_of_minus_zero_reads_no_c<double>();
  a_beta_of_minus_zero_reads_no_c<std::complex<double>>();
}

// C whose factors are in device memory is kept part by part, in the caller's workspace and no more of it: alpha may be
// 0, and then C = beta C, whatever A and B are.
enum class Product { one, strided, addressed };
template <class T>
class KeptC {
 public:
  KeptC(Product product, std::int64_t m, std::int64_t n, std::int64_t count, std::int64_t kept_bytes)
      : product_(product), m_(m), n_(n), count_(count), kept_bytes_(kept_bytes) {}

  // Entries of C after the product of two matrices full of x, behind C full of c.
  std::vector<T> multiply(T alpha, T beta, T x, T c) const {
    const std::int64_t k = 3, area = m_ * n_;
    const std::vector<std::byte> unused(static_cast<std::size_t>(kept_bytes_ + 200), std::byte{0x5a});
    const OnDevice<std::byte> memory(unused);
    const OnDevice<T> factors({alpha, beta}), a(full(m_ * k * count_, x)), b(full(k * n_ * count_, x)),
        out(full(area * count_, c));
    const cuda::Options options{.contract = default_contract<T>(),
                                .engine = "native",
                                .workspace = memory.data() + 100,
                                .workspace_bytes = static_cast<std::size_t>(kept_bytes_),
                                .pointer_mode = cuda::PointerMode::device};
    const auto in_a = addresses<const T>(a.data(), m_ * k), in_b = addresses<const T>(b.data(), k * n_);
    const auto in_c = addresses<T>(out.data(), area);
    const T *const one = factors.data(), *const two = one + 1;
    if (product_ == Product::one)
      cuda::gemm<T>(Op::none, Op::none, m_, n_, k, one, a.data(), m_, b.data(), k, two, out.data(), m_, options);
    else if (product_ == Product::strided)
      cuda::gemm_strided_batched<T>(Op::none, Op::none, m_, n_, k, one, a.data(), m_, m_ * k, b.data(), k, k * n_, two,
                                    out.data(), m_, area, count_, options);
    else
      cuda::gemm_batched<T>(Op::none, Op::none, m_, n_, k, one, in_a.data(), m_, in_b.data(), k, two, in_c.data(), m_,
                            count_, options);
    cuda::check(cudaDeviceSynchronize(), "product");
    const std::vector<std::byte> now = memory.read();
    const auto begin = now.begin() + 100, end = begin + kept_bytes_;
    const auto unused_in = [](auto from, auto to) { return std::count(from, to, std::byte{0x5a}); };
    EXPECT_EQ(unused_in(now.begin(), begin) + unused_in(end, now.end()), 200) << "beside the workspace";
    EXPECT_EQ(unused_in(begin, end) < kept_bytes_, alpha == T{0}) << "C that is kept";
    return out.read();
  }

 private:
  static std::vector<T> full(std::int64_t size, T x) { return std::vector<T>(static_cast<std::size_t>(size), x); }

  template <class E>
  OnDevice<E*> addresses(E* first, std::int64_t apart) const {
    std::vector<E*> list;
    for (std::int64_t i = 0; i < count_; ++i)
      list.push_back(first + (i % 2 == 0 ? i : count_ - i - count_ % 2) * apart);
    return OnDevice<E*>(list);
  }

  Product product_;
  std::int64_t m_, n_, count_, kept_bytes_;
};

template <class T>
void c_is_kept_part_by_part() {
  const std::int64_t m = 5, columns = 300 * m * static_cast<std::int64_t>(sizeof(T)) + 4096;
  for (const KeptC<T>& c :
       {KeptC<T>(Product::one, m, 1000, 1, columns), KeptC<T>(Product::strided, m, 7, 100, columns),
        KeptC<T>(Product::strided, m, 700, 3, columns), KeptC<T>(Product::addressed, m, 7, 100, columns)}) {
    const auto all = [](const std::vector<T>& list, T x) { return std::count(list.begin(), list.end(), x); };
    const std::vector<T> cleared = c.multiply(0, 0, T(NAN), T(NAN));
    const auto size = static_cast<std::ptrdiff_t>(cleared.size());
    EXPECT_EQ(all(cleared, 0), size);
    EXPECT_EQ(all(c.multiply(0, 2, T(NAN), 3), 6), size);
    EXPECT_EQ(all(c.multiply(1, 2, 2, 3), 18), size);
    EXPECT_EQ(all(c.multiply(2, -T{0}, 1, T(NAN)), 6), size);
  }
}

TEST(ConventionalOnGpu, KeepsCPartByPartWhereAlphaInDeviceMemoryMayBeZero) {
  c_is_kept_part_by_part<float>();
  c_is_kept_part_by_part<double>();
}

TEST(ConventionalOnGpu, IsAChainOfFusedMultiplyAddsInEveryLayout) {
  for (const Op opa : {Op::none, Op::transpose})
    for (const Op opb : {Op::none, Op::transpose}) {
      for (const std::int64_t k : {1, 16, 17, 100}) {
        a_conventional_product_is_a_chain<double>(130, 67, k, opa, opb, 1, 0);
        a_conventional_product_is_a_chain<float>(65, 129, k, opa, opb, 0.7f, -1.5f);
      }
      a_conventional_product_is_a_chain<double>(2900, 3000, 35, opa, opb, -0.3, 1);  // of wide tiles
    }
  a_conventional_product_is_a_chain<double>(50, 60, 70, Op::none, Op::none, 0, 0.5);
}

// A handle that a caller lends serves in place of the library's own, and has its stream and pointer mode at the end.
TEST(LentCublasOnGpu, ServesAndKeepsItsModes) {
  ProgramCublas program;
  cuda::SharedLibrary& library = program.library;
  const decltype(&cublasSetStream_v2) set_stream = library.find("cublasSetStream_v2");
  const decltype(&cublasGetStream_v2) get_stream = library.find("cublasGetStream_v2");
  const decltype(&cublasSetPointerMode_v2) set_pointer_mode = library.find("cublasSetPointerMode_v2");
  const decltype(&cublasGetPointerMode_v2) get_pointer_mode = library.find("cublasGetPointerMode_v2");
  const decltype(&cublasSetMathMode) set_math_mode = library.find("cublasSetMathMode");
  const decltype(&cublasGetMathMode) get_math_mode = library.find("cublasGetMathMode");
  const cublasHandle_t handle = program.handle;
  const cuda::Stream mine, other;
  const std::int64_t n = 40;
  std::vector<double> x(n * n);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i % 23) - 11;
  const OnDevice<double> a(x);
  cuda::Cublas& own = cuda::thread_cublas();
  for (const auto mode : {CUBLAS_POINTER_MODE_DEVICE, CUBLAS_POINTER_MODE_HOST})
    for (const cudaStream_t stream : {static_cast<cudaStream_t>(mine), static_cast<cudaStream_t>(other)}) {
      ASSERT_EQ(set_stream(handle, mine), CUBLAS_STATUS_SUCCESS);
      ASSERT_EQ(set_pointer_mode(handle, mode), CUBLAS_STATUS_SUCCESS);
      ASSERT_EQ(set_math_mode(handle, CUBLAS_TF32_TENSOR_OP_MATH), CUBLAS_STATUS_SUCCESS);
      cublasMath_t found_math{};
      const OnDevice<double> c(x), expected(x);
      const auto multiply = [&](double* to) {
        const cuda::Options options{.contract = Contract::fp64(), .engine = "native", .stream = stream};
        return cuda::gemm_strided_batched<double>(Op::none, Op::transpose, n / 2, n / 2, n, 2.0, a.data(), n, 3,
                                                  a.data(), n, 5, 1.0, to, n, n / 2, 2, options);
      };
      EXPECT_EQ(multiply(expected.data()).plan.scheme, "native");
      {
        const cuda::LentCublas lent(handle);
        EXPECT_NE(&cuda::thread_cublas(), &own);
        multiply(c.data());
        EXPECT_EQ(get_math_mode(handle, &found_math), CUBLAS_STATUS_SUCCESS);
        EXPECT_EQ(found_math, CUBLAS_DEFAULT_MATH);
      }
      EXPECT_EQ(&cuda::thread_cublas(), &own);
      cuda::check(cudaDeviceSynchronize(), "gemm_strided_batched");
      EXPECT_TRUE(c.has(expected.read()));
      cudaStream_t found = nullptr;
      cublasPointerMode_t found_mode{};
      EXPECT_EQ(get_stream(handle, &found), CUBLAS_STATUS_SUCCESS);
      EXPECT_EQ(get_pointer_mode(handle, &found_mode), CUBLAS_STATUS_SUCCESS);
      EXPECT_EQ(found, static_cast<cudaStream_t>(mine));
      EXPECT_EQ(found_mode, mode);
      EXPECT_EQ(get_math_mode(handle, &found_math), CUBLAS_STATUS_SUCCESS);
      EXPECT_EQ(found_math, CUBLAS_TF32_TENSOR_OP_MATH);
    }
  {
    const cuda::LentCublas outer(handle);
    cuda::Cublas* const lent = &cuda::thread_cublas();
    EXPECT_NE(lent, &own);
    {
      const cuda::LentCublas inner(nullptr);
      EXPECT_EQ(&cuda::thread_cublas(), &own);
    }
    EXPECT_EQ(&cuda::thread_cublas(), lent) << "the outer counts again";
  }
}

}  // namespace
}  // namespace vernier::test::conventional_test
