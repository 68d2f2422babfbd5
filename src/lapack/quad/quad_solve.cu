// Linear systems in dd on a GPU: fp64 factors and residuals there, vectors are looked at by the host.
#include <algorithm>
#include <cmath>
#include <optional>

#include "base/clock.hpp"
#include "base/environment.hpp"
#include "lapack/calls.hpp"
#include "lapack/quad/quad_refinement.hpp"
#include "lapack/quad/quad_residual.cuh"
#include "lapack/verified/interval_products.hpp"
#include "lapack/verified/magnitudes.hpp"
#include "product/operand_blocks.hpp"
#include "vernier/cuda_lapack.hpp"

namespace vernier::cuda {
namespace {

constexpr const char* routine = "quad_solve";
constexpr std::int64_t most_columns = 64;  // of X at a time

double leading(double x) { return x; }
double leading(const dd& x) { return x.hi + x.lo; }

template <class T>
std::vector<T> matrix_on_host(const T* x, std::int64_t rows, std::int64_t columns, std::int64_t ld,
                              cudaStream_t stream) {
  std::vector<T> host(static_cast<std::size_t>(rows * columns));
  const auto bytes = [](std::int64_t count) { return static_cast<std::size_t>(count) * sizeof(T); };
  check(cudaMemcpy2DAsync(host.data(), bytes(rows), x, bytes(ld), bytes(rows), static_cast<std::size_t>(columns),
                          cudaMemcpyDeviceToHost, stream),
        "copy to the host");
  check(cudaStreamSynchronize(stream), "copy to the host");
  return host;
}

// A in device memory, B in host memory.
class SystemOnDevice final : public RefinedSystem {
 public:
  SystemOnDevice(std::int64_t order, std::int64_t columns, const double* A, std::int64_t lda, std::vector<dd> b,
                 const Options& options)
      : a_(A), lda_(lda), b_(std::move(b)), options_(options), stream_(stream_of(options)) {
    n = order, nrhs = columns;
    slices_ = std::clamp<std::int64_t>(n / 64, 1, 64);
    width_ = std::min(nrhs, most_columns);
    memory_.emplace(carve(Arena{}), stream_);
    carve(memory_->arena());
    norm_a = norm_of_a();
    for (std::int64_t c = 0; c < nrhs; ++c) {
      double most = 0;
      for (std::int64_t i = 0; i < n; ++i) most = std::max(most, std::fabs(leading(at(b_, i, c))));
      size_b.push_back(most);
    }
    residual_error = 2 * std::pow(static_cast<double>(4 * n + 200) * 0x1p-53, 3);
  }

  // Neither products nor what they round off leave the normal numbers.
  bool in_range() const {
    const auto fits = [](double x) { return x == 0 || (x > 0x1p-350 && x < 0x1p350); };
    return fits(norm_a) && std::all_of(size_b.begin(), size_b.end(), fits);
  }
  std::int64_t factor() {
    check(cudaMemcpy2DAsync(factors_, row_bytes(n), a_, row_bytes(lda_), row_bytes(n), static_cast<std::size_t>(n),
                            cudaMemcpyDeviceToDevice, stream_),
          "copy");
    return getrf<double>(n, n, factors_, n, pivots_, fp64());
  }

  std::vector<dd> residual(const std::vector<dd>& x) const override {
    std::vector<dd> all;
    for (std::int64_t c = 0; c < nrhs; c += width_) {
      const std::int64_t some = std::min(width_, nrhs - c);
      to_device(x_, part(x, c, some), stream_);
      to_device(r_, part(b_, c, some), stream_);
      launch_residual({n, some, slices_, a_, lda_, x_, partial_, r_}, stream_);
      const std::vector<dd> r = on_host(r_, n * some, stream_);
      all.insert(all.end(), r.begin(), r.end());
    }
    return all;
  }
  void solve(std::vector<dd>& r) const override {
    ScaledColumns scaled(n, nrhs, r);
    auto* const x = reinterpret_cast<double*>(x_);
    for (std::int64_t c = 0; c < nrhs; c += width_) {
      const std::int64_t some = std::min(width_, nrhs - c);
      to_device(x, part(scaled.x, c, some), stream_);
      getrs<double>(Op::none, n, some, factors_, n, pivots_, x, n, fp64());
      const std::vector<double> solved = on_host(x, n * some, stream_);
      std::copy(solved.begin(), solved.end(), scaled.x.begin() + c * n);
    }
    r = scaled.unscaled(n);
  }

 private:
  std::size_t carve(Arena arena) {
    const auto order = static_cast<std::size_t>(n), vectors = static_cast<std::size_t>(n * width_);
    factors_ = arena.take<double>(order * order);
    pivots_ = arena.take<std::int64_t>(order);
    x_ = arena.take<dd>(vectors), r_ = arena.take<dd>(vectors);
    partial_ = arena.take<TripleSum>(vectors * static_cast<std::size_t>(slices_));
    sums_ = arena.take<double>(order * magnitude_slices);
    return arena.used();
  }
  static std::size_t row_bytes(std::int64_t count) { return static_cast<std::size_t>(count) * sizeof(double); }
  Options fp64() const {
    return {.contract = Contract::fp64(), .stream = options_.stream, .workspace_limit = options_.workspace_limit};
  }
  const dd& at(const std::vector<dd>& x, std::int64_t i, std::int64_t c) const {
    return x[static_cast<std::size_t>(i + c * n)];
  }
  template <class T>
  std::vector<T> part(const std::vector<T>& x, std::int64_t first, std::int64_t count) const {
    return {x.begin() + first * n, x.begin() + (first + count) * n};
  }
  double norm_of_a() const {
    auto* const ones = reinterpret_cast<double*>(x_);
    auto* const sums = reinterpret_cast<double*>(r_);
    to_device(ones, std::vector<double>(static_cast<std::size_t>(n), 1.0), stream_);
    multiply_magnitudes(n, a_, lda_, ones, sums_, sums, stream_);
    const std::vector<double> rows = on_host(sums, n, stream_);
    return *std::max_element(rows.begin(), rows.end()) * (1 - static_cast<double>(n + 8) * 0x1p-51);
  }

  const double* a_;
  const std::int64_t lda_;
  const std::vector<dd> b_;
  const Options& options_;
  const cudaStream_t stream_;
  std::int64_t slices_ = 1, width_ = 1;
  double *factors_ = nullptr, *sums_ = nullptr;
  std::int64_t* pivots_ = nullptr;
  dd *x_ = nullptr, *r_ = nullptr;
  TripleSum* partial_ = nullptr;
  std::optional<DeviceWorkspace> memory_;
};

template <class TB>
void check_call(std::int64_t n, std::int64_t nrhs, const double* A, std::int64_t lda, const TB* B, std::int64_t ldb,
                const dd* X, std::int64_t ldx) {
  check_dimension(routine, "n", n);
  check_dimension(routine, "nrhs", nrhs);
  check_area(routine, n, std::max(n, nrhs));
  check_leading(routine, "lda", lda, n);
  check_leading(routine, "ldb", ldb, n);
  check_leading(routine, "ldx", ldx, n);
  check_pointer(routine, "A", n > 0, A);
  check_pointer(routine, "B", n > 0 && nrhs > 0, B);
  check_pointer(routine, "X", n > 0 && nrhs > 0, X);
  check_device<double>(routine, n);
}

}  // namespace

template <class TB>
QuadSolveReport quad_solve(std::int64_t n, std::int64_t nrhs, const double* A, std::int64_t lda, const TB* B,
                           std::int64_t ldb, dd* X, std::int64_t ldx, const QuadOptions& quad) {
  const Clock clock;
  check_call(n, nrhs, A, lda, B, ldb, X, ldx);
  QuadSolveReport report;
  report.n = n, report.nrhs = nrhs, report.ok = true;
  if (n == 0 || nrhs == 0) return report;
  const FloatingEnvironment environment;
  const Options options{.stream = quad.stream, .workspace_limit = quad.workspace_limit};
  const cudaStream_t stream = stream_of(options);
  check_finite_matrix(routine, "A", A, n, n, lda, stream);
  const std::vector<TB> right = matrix_on_host(B, n, nrhs, ldb, stream);
  for (std::size_t e = 0; e < right.size(); ++e)
    check_finite_entry(routine, "B", leading(right[e]), static_cast<std::int64_t>(e) % n,
                       static_cast<std::int64_t>(e) / n);
  SystemOnDevice system(n, nrhs, A, lda, {right.begin(), right.end()}, options);
  report.factors = "fp64", report.tolerance = quad_tolerance(n);
  std::vector<dd> x;
  report.ok = false;
  if (system.in_range() && (report.info = system.factor()) == 0) x = refine(system, report);
  if (!report.ok) {  // the host has factors in dd
    const std::vector<double> a = matrix_on_host(A, n, n, lda, stream);
    x.assign(right.size(), {});
    QuadOptions on_host = quad;
    on_host.stream = nullptr, on_host.engine = {}, on_host.workspace_limit = 0;
    report = vernier::quad_solve(n, nrhs, a.data(), n, right.data(), n, x.data(), n, on_host);
  }
  if (report.info == 0) {
    const auto bytes = [](std::int64_t count) { return static_cast<std::size_t>(count) * sizeof(dd); };
    check(cudaMemcpy2DAsync(X, bytes(ldx), x.data(), bytes(n), bytes(n), static_cast<std::size_t>(nrhs),
                            cudaMemcpyHostToDevice, stream),
          "copy to the device");
    check(cudaStreamSynchronize(stream), routine);
  }
  report.seconds = clock.seconds();
  return report;
}

template QuadSolveReport quad_solve(std::int64_t, std::int64_t, const double*, std::int64_t, const double*,
                                    std::int64_t, dd*, std::int64_t, const QuadOptions&);
template QuadSolveReport quad_solve(std::int64_t, std::int64_t, const double*, std::int64_t, const dd*, std::int64_t,
                                    dd*, std::int64_t, const QuadOptions&);

}  // namespace vernier::cuda
