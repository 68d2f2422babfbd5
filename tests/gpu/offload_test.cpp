// Matrices of the host on the GPU: the CPU's bits, whatever the blocks and the memory; and what happens where the GPU
// cannot.
#include "blas/offload/offload.hpp"

#include <cuda_runtime_api.h>

#include <cstring>
#include <optional>
#include <utility>

#include "gpu/fixture.hpp"
#include "support/error_message.hpp"
#include "vernier/lapack.hpp"
#include "vernier/level3.hpp"
#include "vernier/offload.hpp"

namespace vernier::test::offload_test {
namespace {

template <class T>
struct HostCall {
  Op opa, opb;
  std::int64_t m, n, k;
  T alpha, beta;
  Matrix<T> a, b, c;  // as stored

  GemmCall<T> call() { return {opa, opb, m, n, k, alpha, a.data(), a.ld(), b.data(), b.ld(), beta, c.data(), c.ld()}; }

  Matrix<T> on_the_cpu(const Options& options) const {
    HostCall copy = *this;
    const GemmCall<T> x = copy.call();
    gemm<T>(x.opa, x.opb, x.m, x.n, x.k, x.alpha, x.a, x.lda, x.b, x.ldb, x.beta, x.c, x.ldc, options);
    return copy.c;
  }
};

template <class T>
HostCall<T> random_call(Random& random, std::uint64_t seed, std::int64_t most) {
  const auto& families = operand_families();
  HostCall<T> h{all_ops[random.integer(0, 1)], all_ops[random.integer(0, 1)], random.integer(1, most),
                random.integer(1, most), random.integer(1, most)};
  const auto [a, b] = make_operands<T>(families[seed % families.size()], h.m, h.n, h.k, seed);
  h.alpha = random.integer(0, 1) == 0 ? T{1} : static_cast<T>(random.normal());
  h.beta = random.integer(0, 1) == 0 ? T{0} : static_cast<T>(random.normal());
  h.a = stored(h.opa, a, random.integer(0, 3));
  h.b = stored(h.opb, b, random.integer(0, 3));
  h.c = padded(scattered_matrix<T>(h.m, h.n, 0.5, seed + 1), random.integer(0, 3));
  return h;
}

// Pins what it is given.
class Pinned {
 public:
  template <class T>
  explicit Pinned(Matrix<T>& x) : data_(x.data()) {
    const std::size_t bytes = static_cast<std::size_t>(x.ld() * x.columns()) * sizeof(T);
    cuda::check(cudaHostRegister(data_, bytes, cudaHostRegisterDefault), "cudaHostRegister");
  }
  ~Pinned() { (void)cudaHostUnregister(data_); }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;

 private:
  void* data_;
};

// A copy in managed memory.
class Managed {
 public:
  explicit Managed(const Matrix<double>& x) {
    const std::size_t bytes = static_cast<std::size_t>(x.ld() * x.columns()) * sizeof(double);
    cuda::check(cudaMallocManaged(reinterpret_cast<void**>(&data_), bytes), "cudaMallocManaged");
    std::memcpy(data_, x.data(), bytes);
  }
  ~Managed() { (void)cudaFree(data_); }
  Managed(const Managed&) = delete;
  Managed& operator=(const Managed&) = delete;
  double* data() const { return data_; }

 private:
  double* data_ = nullptr;
};

template <class T>
void expect_the_bits_of_the_cpu(int cases, std::int64_t most, bool pinned, std::uint64_t first) {
  Random random(first);
  int on_cpu = 0;
  for (std::uint64_t i = first; i < first + static_cast<std::uint64_t>(cases) && !testing::Test::HasFailure(); ++i) {
    HostCall<T> h = random_call<T>(random, i, most);
    const Contract contracts[] = {default_contract<T>(), Contract::bits(60), Contract::exact(), Contract::normwise()};
    Options options;
    options.contract = reproducible(contracts[random.integer(0, 3)]);
    OffloadSettings settings;
    settings.m_block = random.integer(1, most), settings.n_block = random.integer(1, most);
    settings.transfer.piece_bytes = std::size_t{8} << random.integer(i % 20 == 0 ? 0 : 5, 17);  // single ones take long
    const Matrix<T> cpu = h.on_the_cpu(options);
    std::optional<Pinned> pins[3];
    if (pinned) pins[0].emplace(h.a), pins[1].emplace(h.b), pins[2].emplace(h.c);
    const Report report = offloaded_gemm<T>(h.call(), options, cuda_target<T>(options), settings);
    EXPECT_EQ(difference_but_for_nans(h.c, cpu), "")
        << "case " << i << ", " << h.m << " x " << h.n << " x " << h.k << ", " << options.contract.text();
    EXPECT_EQ(h.c.broken_guard(), "");
    on_cpu += report.plan.reason.find("on the CPU") != std::string::npos;
  }
  EXPECT_EQ(on_cpu, 0);
}

TEST(OffloadOnGpu, HasTheBitsOfTheCpu) {
  expect_the_bits_of_the_cpu<double>(600, 300, false, 1);
  expect_the_bits_of_the_cpu<float>(200, 300, false, 1001);
}

TEST(OffloadOnGpu, HasThemFromPinnedMemory) { expect_the_bits_of_the_cpu<double>(200, 300, true, 2001); }

// Large enough that copies, products and copies back overlap, in blocks as they are chosen.
TEST(OffloadOnGpu, HasThemInBlocksAsTheyAreChosen) {
  const std::int64_t n = 2500;
  Options options;
  options.contract = Contract::parse("fp64+reproducible");
  const Matrix<double> a = scattered_matrix<double>(n, n, 0.5, 1), b = scattered_matrix<double>(n, n, 0.5, 2);
  Matrix<double> c = scattered_matrix<double>(n, n, 0.5, 3), expected = c;
  gemm<double>(Op::none, Op::none, n, n, n, 1, a.data(), n, b.data(), n, -1, expected.data(), n, options);
  for (const std::size_t memory : {std::size_t{0}, std::size_t{600} << 20, std::size_t{300} << 20}) {
    Matrix<double> out = c;
    const Report report =
        offloaded_gemm<double>({Op::none, Op::none, n, n, n, 1, a.data(), n, b.data(), n, -1, out.data(), n}, options,
                               cuda_target<double>(options), {.memory = memory});
    EXPECT_EQ(difference(out, expected), "") << memory << ": " << report.plan.reason;
    EXPECT_EQ(report.plan.reason.find("on the CPU"), std::string::npos) << report.plan.reason;
  }
}

// Residues that are kept of what blocks share, by long runs from pinned memory: of ordinary data, and of wide ones.
TEST(OffloadOnGpu, HasThemFromResiduesThatBlocksShare) {
  const std::int64_t m = 1500, n = 2100, k = 1700;
  for (const char* contract : {"fp64+reproducible", "bits(60)+reproducible", "fp64-normwise+reproducible"})
    for (const double phi : {0.5, 3.0, 8.0}) {
      Options options;
      options.contract = Contract::parse(contract);
      Matrix<double> a = scattered_matrix<double>(m, k, phi, 1), b = scattered_matrix<double>(k, n, phi, 2);
      Matrix<double> c(m, n), expected(m, n);
      gemm<double>(Op::none, Op::none, m, n, k, 1, a.data(), m, b.data(), k, 0, expected.data(), m, options);
      const Pinned pins[]{Pinned(a), Pinned(b), Pinned(c)};
      const Report report =
          offloaded_gemm<double>({Op::none, Op::none, m, n, k, 1, a.data(), m, b.data(), k, 0, c.data(), m}, options,
                                 cuda_target<double>(options));
      EXPECT_EQ(difference(c, expected), "") << contract << ", phi = " << phi << ": " << report.plan.reason;
      EXPECT_EQ(report.plan.reason.find("on the CPU"), std::string::npos) << report.plan.reason;
    }
}

// Two parts at once, each with streams and memory of its own: several devices, or one that is taken for two.
TEST(OffloadOnGpu, HasThemFromSeveralDevicesOrLinks) {
  const std::int64_t m = 2300, n = 900, k = 1100;
  Options options;
  options.contract = Contract::parse("fp64+reproducible");
  const Matrix<double> a = scattered_matrix<double>(m, k, 0.5, 1), b = scattered_matrix<double>(k, n, 0.5, 2);
  Matrix<double> c = scattered_matrix<double>(m, n, 0.5, 3), expected = c;
  gemm<double>(Op::none, Op::none, m, n, k, 1, a.data(), m, b.data(), k, 2, expected.data(), m, options);
  OffloadTarget<double> target = cuda_target<double>(options);
  const int devices = std::exchange(target.devices, 2);
  target.link = [devices](int part, offload::BlockProduct product) {
    return offload::cuda_link(part % devices, std::move(product));
  };
  target.free_memory = [devices](int part) { return offload::free_memory(part % devices) / 2; };
  target.shared_seconds = nullptr;
  const Report report =
      offloaded_gemm<double>({Op::none, Op::none, m, n, k, 1, a.data(), m, b.data(), k, 2, c.data(), m}, options,
                             target, {.m_block = 500, .n_block = 300});
  EXPECT_EQ(difference(c, expected), "");
  EXPECT_NE(report.plan.reason.find("and 1 more"), std::string::npos) << report.plan.reason;
  EXPECT_EQ(report.plan.reason.find("on the CPU"), std::string::npos) << report.plan.reason;
}

TEST(OffloadOnGpu, KeepsTheBoundWhereNoBitsArePromised) {
  const std::int64_t n = 3000;
  Options options;
  const Matrix<double> a = scattered_matrix<double>(n, n, 0.5, 1), b = scattered_matrix<double>(n, n, 0.5, 2);
  Matrix<double> c(n, n), native(n, n);
  offloaded_gemm<double>({Op::none, Op::none, n, n, n, 1, a.data(), n, b.data(), n, 0, c.data(), n}, options,
                         cuda_target<double>(options));
  Options exact;
  exact.contract = Contract::parse("fp64+reproducible");
  gemm<double>(Op::none, Op::none, n, n, n, 1, a.data(), n, b.data(), n, 0, native.data(), n, exact);
  double worst = 0;
  for (std::int64_t j = 0; j < n; j += 37)
    for (std::int64_t i = 0; i < n; i += 41) {
      double magnitude = 0;
      for (std::int64_t l = 0; l < n; ++l) magnitude += std::fabs(a(i, l) * b(l, j));
      worst = std::max(worst, std::fabs(c(i, j) - native(i, j)) / magnitude);
    }
  EXPECT_LT(worst, static_cast<double>(2 * n + 2) * 0x1p-53);
  EXPECT_GT(worst, 0);
}

TEST(OffloadOnGpu, IsTheCpusWhereTheMemoryIsTaken) {
  std::size_t free = 0, total = 0;
  cuda::release_workspace();
  cuda::check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  const cuda::DeviceBuffer<std::byte> taken(free - (std::size_t{8} << 20));
  Options options;
  options.contract = Contract::parse("fp64+reproducible");
  const std::int64_t n = 50, k = 500000;
  const Matrix<double> a = scattered_matrix<double>(n, k, 0.5, 1), b = scattered_matrix<double>(k, n, 0.5, 2);
  Matrix<double> c(n, n), expected(n, n);
  const Report report =
      offloaded_gemm<double>({Op::none, Op::none, n, n, k, 1, a.data(), n, b.data(), k, 0, c.data(), n}, options,
                             cuda_target<double>(options));
  gemm<double>(Op::none, Op::none, n, n, k, 1, a.data(), n, b.data(), k, 0, expected.data(), n, options);
  EXPECT_EQ(difference(c, expected), "");
  EXPECT_NE(report.plan.reason.find("on the CPU"), std::string::npos) << report.plan.reason;
}

TEST(OffloadOnGpu, UsesDeviceMemoryWhereItIsAndRefusesAMixture) {
  Random random(6);
  HostCall<double> h = random_call<double>(random, 0, 200);
  h.beta = 0;
  Options options;
  options.contract = Contract::parse("fp64+reproducible");
  const Matrix<double> cpu = h.on_the_cpu(options);
  const DeviceCopy<double> a(h.a, 0), b(h.b, 0), c(h.c, 0);
  GemmCall<double> call = h.call();
  call.a = a.data();
  EXPECT_EQ(message([&] { offloaded_gemm<double>(call, options, cuda_target<double>(options)); }),
            "gemm: A is in memory of a GPU; expected all of A, B and C there, or none of them");
  call.b = b.data(), call.c = c.data();
  offloaded_gemm<double>(call, options, cuda_target<double>(options));
  c.read(h.c);
  EXPECT_EQ(difference_but_for_nans(h.c, cpu), "");
}

// Both sides reach managed memory: it may be mixed with the host's.
TEST(OffloadOnGpu, TakesManagedMemoryAloneOrBesideTheHosts) {
  Random random(8);
  HostCall<double> h = random_call<double>(random, 2, 200);
  h.beta = 0;
  Options options;
  options.contract = Contract::parse("fp64+reproducible");
  const Matrix<double> cpu = h.on_the_cpu(options);
  const Managed a(h.a), b(h.b), c(h.c);
  GemmCall<double> call = h.call();
  call.a = a.data();
  offloaded_gemm<double>(call, options, cuda_target<double>(options));
  EXPECT_EQ(difference_but_for_nans(h.c, cpu), "");
  call.b = b.data(), call.c = c.data();
  offloaded_gemm<double>(call, options, cuda_target<double>(options));
  for (std::int64_t j = 0; j < h.n; ++j)
    for (std::int64_t i = 0; i < h.m; ++i) h.c(i, j) = c.data()[i + j * h.c.ld()];
  EXPECT_EQ(difference_but_for_nans(h.c, cpu), "");
}

// Level 3 and factorisations stand on gemm: of the thread's device, with the same bits.
TEST(OffloadOnGpu, ServesLevel3AndFactorsWithTheSameBits) {
  const std::int64_t n = 900;
  Options options;
  options.contract = Contract::parse("fp64+reproducible");
  const Matrix<double> a = scattered_matrix<double>(n, n, 0.5, 1), b = scattered_matrix<double>(n, n, 0.5, 2);
  const auto all = [&](Device device) {
    const DeviceScope scope(device);
    std::vector<Matrix<double>> out(4, b);
    const Report update = syrk<double>(Uplo::lower, Op::none, n, n, 2, a.data(), n, -1, out[0].data(), n, options);
    EXPECT_EQ(update.plan.reason.find("matrices of the host: whole") != std::string::npos, device == Device::cuda)
        << update.plan.reason;
    symm<double>(Side::left, Uplo::upper, n, n, 1, a.data(), n, b.data(), n, 0, out[1].data(), n, options);
    trmm<double>(Side::right, Uplo::lower, Op::transpose, Diag::unit, n, n, 1, a.data(), n, out[2].data(), n, options);
    std::vector<std::int64_t> pivots(n);
    EXPECT_EQ(getrf<double>(n, n, out[3].data(), n, pivots.data(), options), 0);
    return out;
  };
  const auto on_cpu = all(Device::cpu), on_gpu = all(Device::cuda);
  for (std::size_t i = 0; i < on_cpu.size(); ++i) EXPECT_EQ(difference(on_gpu[i], on_cpu[i]), "") << i;
}

// Contracts that promise no bits: within both bounds of each other, for every routine, whole on the GPU.
TEST(OffloadOnGpu, TakesLevel3Whole) {
  const std::int64_t m = 1100, n = 900;
  const Matrix<double> a = scattered_matrix<double>(m, m, 0.5, 1), b = scattered_matrix<double>(m, n, 0.5, 2);
  Matrix<double> easy = a;
  for (std::int64_t i = 0; i < m; ++i) easy(i, i) = 400;
  const auto all = [&](Device device) {
    Options options;
    options.device = device;
    std::vector<Matrix<double>> out{scattered_matrix<double>(m, m, 0.5, 3), scattered_matrix<double>(m, m, 0.5, 4), b,
                                    b, b};
    const Report reports[] = {
        syrk<double>(Uplo::upper, Op::none, m, n, 2, b.data(), m, -1, out[0].data(), m, options),
        syr2k<double>(Uplo::lower, Op::transpose, n, m, 2, b.data(), m, b.data(), m, 1, out[1].data(), m, options),
        symm<double>(Side::left, Uplo::upper, m, n, 1, a.data(), m, b.data(), m, 3, out[2].data(), m, options),
        trmm<double>(Side::left, Uplo::lower, Op::transpose, Diag::unit, m, n, 1, a.data(), m, out[3].data(), m,
                     options),
        trsm<double>(Side::left, Uplo::upper, Op::none, Diag::non_unit, m, n, 1, easy.data(), m, out[4].data(), m,
                     options)};
    for (const Report& r : reports)
      EXPECT_EQ(r.plan.reason.find("matrices of the host: whole") != std::string::npos, device == Device::cuda)
          << r.plan.routine << ": " << r.plan.reason;
    return out;
  };
  const auto on_cpu = all(Device::cpu), on_gpu = all(Device::cuda);
  for (std::size_t r = 0; r < on_cpu.size(); ++r) {
    double largest = 0, difference = 0;
    for (std::int64_t j = 0; j < on_cpu[r].columns(); ++j)
      for (std::int64_t i = 0; i < on_cpu[r].rows(); ++i) {
        largest = std::max(largest, std::abs(on_cpu[r](i, j)));
        difference = std::max(difference, std::abs(on_cpu[r](i, j) - on_gpu[r](i, j)));
      }
    EXPECT_LE(difference, 1e-12 * largest) << r;  // of products whose |A||B| is some hundred times their entries
  }
}

// Matrices larger than what may be taken of the GPU: products in blocks, solutions by the CPU's routine, whose products
// go to the GPU.
TEST(OffloadOnGpu, ServesMatricesLargerThanItsMemory) {
  const std::int64_t n = 2500, nrhs = 3;  // 50 MB a matrix
  setenv("VERNIER_GPU_MEMORY", "90M", 1);
  const Matrix<double> a = scattered_matrix<double>(n, n, 0.5, 1), b = scattered_matrix<double>(n, n, 0.5, 2);
  Matrix<double> c(n, n), expected(n, n), x(n, nrhs), y(n, nrhs);
  Options options;
  options.contract = Contract::parse("fp64+reproducible");
  SolveOptions solving;
  solving.products = options;
  const auto both = [&](Device device, Matrix<double>& product, Matrix<double>& solution) {
    const DeviceScope scope(device);
    const Report report =
        gemm<double>(Op::none, Op::none, n, n, n, 1, a.data(), n, b.data(), n, 0, product.data(), n, options);
    EXPECT_EQ(report.plan.reason.find("of C at a time") != std::string::npos, device == Device::cuda)
        << report.plan.reason;
    const SolveReport solved = solve<double>(Op::none, n, nrhs, a.data(), n, b.data(), n, solution.data(), n, solving);
    EXPECT_EQ(solved.verdict, Verdict::ok) << solved.text();
    EXPECT_EQ(solved.reason.find("whole on"), std::string::npos) << solved.reason;
  };
  both(Device::cpu, expected, y);
  both(Device::cuda, c, x);
  unsetenv("VERNIER_GPU_MEMORY");
  EXPECT_EQ(difference(c, expected), "");
}

// Factors and solutions, made whole on the GPU: residuals as small as the CPU's, pivots and verdicts on the host.
TEST(OffloadOnGpu, TakesFactorsAndSolutionsWhole) {
  const std::int64_t n = 1500, nrhs = 3;
  Options options;
  options.device = Device::cuda;
  const Matrix<double> a = scattered_matrix<double>(n, n, 0.5, 1), b = scattered_matrix<double>(n, nrhs, 0.5, 2);
  SolveOptions solving;
  solving.products.device = Device::cuda;
  Matrix<double> x(n, nrhs);
  const SolveReport report = solve<double>(Op::transpose, n, nrhs, a.data(), n, b.data(), n, x.data(), n, solving);
  EXPECT_EQ(report.verdict, Verdict::ok) << report.text();
  EXPECT_NE(report.reason.find("matrices of the host: whole"), std::string::npos) << report.reason;
  const auto residual = [&](const Matrix<double>& m, const Matrix<double>& y, Op op) {
    Matrix<double> r = b;
    gemm<double>(op, Op::none, n, nrhs, n, -1, m.data(), n, y.data(), n, 1, r.data(), n, {.device = Device::cpu});
    double largest = 0, scale = 0;
    for (std::int64_t j = 0; j < nrhs; ++j)
      for (std::int64_t i = 0; i < n; ++i) {
        largest = std::max(largest, std::abs(r(i, j)));
        scale = std::max(scale, std::abs(y(i, j)));
      }
    return largest / (scale * static_cast<double>(n));
  };
  EXPECT_LE(residual(a, x, Op::transpose), 1e-15);

  Matrix<double> lu = a, y = b;
  std::vector<std::int64_t> pivots(static_cast<std::size_t>(n));
  ASSERT_EQ(getrf<double>(n, n, lu.data(), n, pivots.data(), options), 0);
  getrs<double>(Op::none, n, nrhs, lu.data(), n, pivots.data(), y.data(), n, {.device = Device::cpu});
  EXPECT_LE(residual(a, y, Op::none), 1e-13);

  Matrix<double> definite(n, n);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) definite(i, j) = i == j ? 800 : 0.5 * (a(i, j) + a(j, i));
  Matrix<double> factor = definite;
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < j; ++i) factor(i, j) = -7;
  ASSERT_EQ(potrf<double>(Uplo::lower, n, factor.data(), n, options), 0);
  EXPECT_EQ(factor(3, 900), -7) << "the other triangle";
  y = b;
  potrs<double>(Uplo::lower, n, nrhs, factor.data(), n, y.data(), n, {.device = Device::cpu});
  EXPECT_LE(residual(definite, y, Op::none), 1e-13);
}

// The estimate of a large product is for the GPU, that of a small one for the CPU.
TEST(OffloadOnGpu, IsChosenByTheEstimate) {
  const DeviceScope scope(Device::automatic);
  const HostLink link = host_link();
  const Plan large = explain<double>(Op::none, Op::none, 8192, 8192, 8192);
  EXPECT_NE(large.reason.find("matrices of the host"), std::string::npos) << large.reason;
  EXPECT_EQ(explain<double>(Op::none, Op::none, 200, 200, 200).reason.find("matrices of the host"), std::string::npos);
  EXPECT_GE(link.devices, 1) << link.missing;
  EXPECT_GT(link.up, 1e9);
  EXPECT_GT(link.down, 1e9);
}

}  // namespace
}  // namespace vernier::test::offload_test
