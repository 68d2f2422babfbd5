// Linear systems in dd on a GPU: factors of fp64, residuals and vectors stay there, the host is told sizes.
#include <algorithm>
#include <cmath>
#include <optional>

#include "base/duration.hpp"
#include "base/environment.hpp"
#include "base/instantiate.hpp"
#include "lapack/calls.hpp"
#include "lapack/quad/quad_refinement.hpp"
#include "lapack/quad/quad_residual.cuh"
#include "lapack/quad/quad_vectors.cuh"
#include "lapack/quad/solve_arguments.hpp"
#include "lapack/verified/enclose.hpp"
#include "lapack/verified/magnitudes.hpp"
#include "product/operand_blocks.hpp"
#include "vernier/cuda_lapack.hpp"

namespace vernier::cuda {
namespace {

constexpr const char* routine = "quad_solve";
constexpr std::int64_t most_columns = 64;  // of a residual at a time

template <class T>
std::vector<T> matrix_on_host(const T* x, std::int64_t rows, std::int64_t columns, std::int64_t ld,
                              cudaStream_t stream) {
  std::vector<T> host(static_cast<std::size_t>(rows * columns));
  copy_columns(x, ld, host.data(), rows, rows, columns, cudaMemcpyDeviceToHost, stream);
  return host;
}

// All of it in device memory: the host learns sizes.
class SystemOnDevice final : public RefinedSystem {
 public:
  SystemOnDevice(std::int64_t order, std::int64_t columns, const double* A, std::int64_t lda, const Options& options)
      : a_(A), lda_(lda), options_(options), stream_(stream_of(options)) {
    n = order, nrhs = columns;
    slices_ = std::clamp<std::int64_t>(n / 64, 1, 64);
    width_ = std::min(nrhs, most_columns);
    memory_.emplace(carve(Arena{}), stream_);
    carve(memory_->arena());
    norm_a = norm_of_a();
    residual_error = 2 * std::pow(static_cast<double>(4 * n + 200) * 0x1p-53, 3);
  }

  // False where B has a NaN or an infinity.
  template <class TB>
  bool load(const TB* B, std::int64_t ldb) {
    clear(sizes_, 1);
    launch("load_vectors", load_vectors<TB>, vector_shape(n, nrhs), stream_, n, B, ldb, b_, sizes_);
    size_b = sizes_on_host(1)[0];
    return std::all_of(size_b.begin(), size_b.end(), [](double x) { return std::isfinite(x); });
  }
  // Neither products nor what they round off leave the normal numbers.
  bool in_range() const {
    const auto fits = [](double x) { return x == 0 || (x > 0x1p-350 && x < 0x1p350); };
    return fits(norm_a) && std::all_of(size_b.begin(), size_b.end(), fits);
  }
  std::int64_t factor() {
    copy_columns(a_, lda_, factors_, n, n, n, cudaMemcpyDeviceToDevice, stream_);
    check(cudaMemsetAsync(x_, 0, vector_bytes(), stream_), "solution");
    return getrf<double>(n, n, factors_, n, pivots_, fp64());
  }

  Sizes residual() override {
    copy(d_, b_);
    for (std::int64_t c = 0; c < nrhs; c += width_)
      launch_residual({n, std::min(width_, nrhs - c), slices_, a_, lda_, x_ + c * n, partial_, d_ + c * n}, stream_);
    clear(sizes_, 1);
    launch("measure_vectors", measure_vectors_of_dd, vector_shape(n, nrhs), stream_, n, d_, sizes_);
    return sizes_on_host(1)[0];
  }
  Step correct() override {
    launch("scale_vectors", scale_vectors, vector_shape(n, nrhs), stream_, n, d_, sizes_, scaled_);
    getrs<double>(Op::none, n, nrhs, factors_, n, pivots_, scaled_, n, fp64());
    ColumnSize* const later = sizes_ + nrhs;
    clear(later, 2);
    launch("add_correction", add_correction, vector_shape(n, nrhs), stream_,
           Correction{n, scaled_, sizes_, x_, d_, next_, later, later + nrhs});
    std::vector<Sizes> sizes = sizes_on_host(3);
    return {std::move(sizes[1]), std::move(sizes[2])};
  }
  void advance() override { std::swap(x_, next_); }
  void keep() override { copy(best_, x_); }
  const dd* best() const { return best_; }
  void prove(QuadSolveReport& report) {
    copy(x_, best_);
    residual();
    const std::int64_t count = 2 * n * nrhs;  // of both ends each
    const DeviceWorkspace memory(3 * static_cast<std::size_t>(count) * sizeof(double), stream_);
    double *const columns = reinterpret_cast<double*>(memory.data()), *const lows = columns + count,
                  *const highs = lows + count;
    prove_forward_error(
        *this, on_host(best_, n * nrhs, stream_), on_host(d_, n * nrhs, stream_), 0,
        [&](const auto& b, auto& low, auto& high, double& norm) {
          to_device(columns, b, stream_);
          VerifiedReport proof = prove_solution({n, 2 * nrhs, a_, columns, lda_, n, lows, highs, n, &norm}, fp64());
          low = on_host(lows, count, stream_), high = on_host(highs, count, stream_);
          return proof;
        },
        report);
  }

 private:
  std::size_t carve(Arena arena) {
    const auto order = static_cast<std::size_t>(n), vectors = static_cast<std::size_t>(n * nrhs);
    factors_ = arena.take<double>(order * order);
    pivots_ = arena.take<std::int64_t>(order);
    for (dd** v : {&b_, &x_, &d_, &next_, &best_}) *v = arena.take<dd>(vectors);
    scaled_ = arena.take<double>(vectors);
    sizes_ = arena.take<ColumnSize>(3 * static_cast<std::size_t>(nrhs));
    partial_ = arena.take<TripleSum>(static_cast<std::size_t>(n * width_ * slices_));
    sums_ = arena.take<double>(order * (magnitude_slices + 2));
    return arena.used();
  }
  std::size_t vector_bytes() const { return static_cast<std::size_t>(n * nrhs) * sizeof(dd); }
  void copy(dd* to, const dd* from) const {
    check(cudaMemcpyAsync(to, from, vector_bytes(), cudaMemcpyDeviceToDevice, stream_), "vectors");
  }
  void clear(ColumnSize* sizes, std::int64_t times) const {
    check(cudaMemsetAsync(sizes, 0, static_cast<std::size_t>(times * nrhs) * sizeof(ColumnSize), stream_), "sizes");
  }
  // The first `count` lists of sizes.
  std::vector<Sizes> sizes_on_host(std::int64_t count) const {
    const std::vector<ColumnSize> bits = on_host(sizes_, count * nrhs, stream_);
    std::vector<Sizes> sizes(static_cast<std::size_t>(count));
    for (std::size_t e = 0; e < bits.size(); ++e)
      sizes[e / static_cast<std::size_t>(nrhs)].push_back(std::bit_cast<double>(bits[e]));
    return sizes;
  }
  Options fp64() const {
    return {.contract = Contract::fp64(), .stream = options_.stream, .workspace_limit = options_.workspace_limit};
  }
  double norm_of_a() const {
    double* const ones = sums_ + n * magnitude_slices;
    double* const sums = ones + n;
    to_device(ones, std::vector<double>(static_cast<std::size_t>(n), 1.0), stream_);
    multiply_magnitudes(n, a_, lda_, ones, sums_, sums, stream_);
    const std::vector<double> rows = on_host(sums, n, stream_);
    return *std::max_element(rows.begin(), rows.end()) * (1 - static_cast<double>(n + 8) * 0x1p-51);
  }

  const double* a_;
  const std::int64_t lda_;
  const Options& options_;
  const cudaStream_t stream_;
  std::int64_t slices_ = 1, width_ = 1;
  double *factors_ = nullptr, *sums_ = nullptr, *scaled_ = nullptr;
  std::int64_t* pivots_ = nullptr;
  dd *b_ = nullptr, *x_ = nullptr, *d_ = nullptr, *next_ = nullptr, *best_ = nullptr;
  ColumnSize* sizes_ = nullptr;  // of d; of the correction; of what it makes of x
  TripleSum* partial_ = nullptr;
  std::optional<DeviceWorkspace> memory_;
};

// The host's solution, which has factors in dd, with its report.
template <class TB>
QuadSolveReport solve_on_host(const QuadSystem& s, dd* X, const QuadOptions& quad, cudaStream_t stream) {
  const std::vector<double> a = matrix_on_host(static_cast<const double*>(s.A), s.n, s.n, s.lda, stream);
  const std::vector<TB> b = matrix_on_host(static_cast<const TB*>(s.B), s.n, s.nrhs, s.ldb, stream);
  std::vector<dd> x(b.size());
  QuadOptions on_host = quad;
  on_host.stream = nullptr, on_host.engine = {}, on_host.workspace_limit = 0;
  const QuadSolveReport report = vernier::quad_solve(s.n, s.nrhs, a.data(), s.n, b.data(), s.n, x.data(), s.n, on_host);
  if (report.info == 0) copy_columns(x.data(), s.n, X, s.ldx, s.n, s.nrhs, cudaMemcpyHostToDevice, stream);
  return report;
}

}  // namespace

template <class TB>
QuadSolveReport quad_solve(std::int64_t n, std::int64_t nrhs, const double* A, std::int64_t lda, const TB* B,
                           std::int64_t ldb, dd* X, std::int64_t ldx, const QuadOptions& quad) {
  const Clock clock;
  const QuadSystem call{n, nrhs, A, lda, B, ldb, X, ldx};
  check_quad_solve(call);
  check_device<double>(routine, n);
  QuadSolveReport report;
  report.n = n, report.nrhs = nrhs, report.ok = true;
  if (n == 0 || nrhs == 0) return report;
  const FloatingEnvironment environment;
  const Options options{.stream = quad.stream, .workspace_limit = quad.workspace_limit};
  const cudaStream_t stream = stream_of(options);
  check_finite_matrix(routine, "A", A, n, n, lda, stream);
  SystemOnDevice system(n, nrhs, A, lda, options);
  if (!system.load(B, ldb)) check_finite("B", n, nrhs, matrix_on_host(B, n, nrhs, ldb, stream).data(), n);
  report.factors = "fp64", report.tolerance = quad_tolerance(n);
  report.ok = false;
  if (system.in_range() && (report.info = system.factor()) == 0) refine(system, report);
  if (report.ok && quad.verified) system.prove(report);
  if (report.ok && report.verified == quad.verified)
    copy_columns(system.best(), n, X, ldx, n, nrhs, cudaMemcpyDeviceToDevice, stream);
  else
    report = solve_on_host<TB>(call, X, quad, stream);
  report.seconds = clock.seconds();
  return report;
}

template struct Instances<quad_solve<double>, quad_solve<dd>>;

}  // namespace vernier::cuda
