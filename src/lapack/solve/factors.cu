#include "lapack/solve/factors_cuda.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <type_traits>

#include "base/instantiate.hpp"
#include "cuda/status.hpp"
#include "lapack/cholesky/cholesky.hpp"
#include "lapack/lu/stored_lu.hpp"
#include "lapack/lu/stored_lu_cuda.hpp"
#include "product/staging_memory.hpp"

namespace vernier::cuda {
namespace {

constexpr std::size_t columns_together = 64;  // of right-hand sides, in device memory

template <class S>
class DeviceFactors final : public LuFactors {
 public:
  // Of a factorisation that is queued.
  DeviceFactors(std::unique_ptr<DeviceLu<S>> lu, const Equilibration& scales, double unit_roundoff, cudaStream_t stream)
      : lu_(std::move(lu)), unit_roundoff_(unit_roundoff), stream_(stream) {
    equilibrated = scales.wanted;
    if (!is_trivial(scales)) row_factors_ = powers_of_two(scales.rows), column_factors_ = powers_of_two(scales.columns);
    triangles_ = std::make_unique<DeviceTriangles<S>>(lu_->a, lu_->rows, stream);
    info = read_info(*lu_, stream);
  }

  double unit_roundoff() const override { return unit_roundoff_; }

  void solve(Op op, const Columns& columns, double* x) const override {
    for (std::size_t first = 0; first < columns.size(); first += columns_together) {
      const auto begin = columns.begin() + static_cast<std::ptrdiff_t>(first);
      const auto count = std::min(columns_together, columns.size() - first);
      solve_some(op, Columns(begin, begin + static_cast<std::ptrdiff_t>(count)), x);
    }
  }

  // The host scales vectors, where there is something to scale, and takes several of them together.
  std::unique_ptr<Corrections> corrections(const LinearSystem& system, const Columns& columns,
                                           const RefinementVectors& vectors) const override {
    if (columns.size() != 1 || !row_factors_.empty()) return LuFactors::corrections(system, columns, vectors);
    return std::make_unique<DeviceCorrections>(
        static_cast<const ResidentSystem&>(system),
        [this, op = system.op](const double* in, double* out, double* work) { queue(op, 1, in, out, work); }, lu_->rows,
        vectors);
  }

 private:
  void queue(Op op, std::int64_t count, const double* in, double* out, double* work) const {
    if (definite)
      solve_with_device_cholesky(*triangles_, count, in, out, work);
    else
      solve_with_device_lu(*lu_, *triangles_, op, count, in, out, work, stream_);
  }

  void solve_some(Op op, const Columns& columns, double* x) const {
    const auto count = static_cast<std::int64_t>(columns.size());
    const auto bytes = 3 * static_cast<std::size_t>(count * lu_->rows) * sizeof(double);
    if (memory_ == nullptr || memory_->bytes() < bytes) memory_ = std::make_unique<DeviceWorkspace>(bytes, stream_);
    auto* device = reinterpret_cast<double*>(memory_->data());
    if (row_factors_.empty()) return solve_copied(op, columns, x, device);
    const StagingMemory staged(static_cast<std::size_t>(count * lu_->n) * sizeof(double));
    auto* host = reinterpret_cast<double*>(staged.data());
    Columns places(columns.size());
    std::iota(places.begin(), places.end(), 0);
    for (const std::int64_t q : places)
      scale(op == Op::none ? row_factors_ : column_factors_, x + columns[static_cast<std::size_t>(q)] * lu_->n,
            host + q * lu_->n);
    solve_copied(op, places, host, device);
    for (const std::int64_t q : places)
      scale(op == Op::none ? column_factors_ : row_factors_, host + q * lu_->n,
            x + columns[static_cast<std::size_t>(q)] * lu_->n);
  }

  // By the scaled factors. Waits.
  void solve_copied(Op op, const Columns& columns, double* x, double* device) const {
    const std::int64_t n = lu_->n, apart = lu_->rows, count = static_cast<std::int64_t>(columns.size());
    const auto column = static_cast<std::size_t>(n) * sizeof(double);
    if (apart > n)
      check(cudaMemsetAsync(device, 0, static_cast<std::size_t>(count * apart) * sizeof(double), stream_),
            "cudaMemsetAsync");
    for (std::int64_t q = 0; q < count; ++q)
      check(cudaMemcpyAsync(device + q * apart, x + columns[static_cast<std::size_t>(q)] * n, column,
                            cudaMemcpyHostToDevice, stream_),
            "cudaMemcpyAsync");
    double* out = device + count * apart;
    queue(op, count, device, out, out + count * apart);
    for (std::int64_t q = 0; q < count; ++q)
      check(cudaMemcpyAsync(x + columns[static_cast<std::size_t>(q)] * n, out + q * apart, column,
                            cudaMemcpyDeviceToHost, stream_),
            "cudaMemcpyAsync");
    check(cudaStreamSynchronize(stream_), "triangular solves on the GPU");
  }

  static void scale(const std::vector<double>& factors, const double* from, double* to) {
    for (std::size_t i = 0; i < factors.size(); ++i) to[i] = from[i] * factors[i];
  }

  std::unique_ptr<DeviceLu<S>> lu_;
  double unit_roundoff_;
  std::vector<double> row_factors_, column_factors_;
  cudaStream_t stream_;
  std::unique_ptr<DeviceTriangles<S>> triangles_;
  mutable std::unique_ptr<DeviceWorkspace> memory_;
};

// Cholesky rounds alike whatever powers of two scale rows and columns alike: one for all keeps to the range.
Equilibration scale_all(const LinearSystem& system) {
  const auto size = static_cast<std::size_t>(system.n);
  const int exponent = normalising_exponent(system.largest);
  return {std::vector<int>(size, std::abs(exponent) < 32 ? 0 : exponent), std::vector<int>(size), false};
}

// The scaled matrix in S: what measuring it has left, or made now.
template <class S, class T>
std::unique_ptr<DeviceLu<S>> take_matrix(DeviceSystem<T>& system, const Equilibration& scales) {
  std::unique_ptr<DeviceLu<S>> lu;
  if constexpr (std::is_same_v<S, float>)
    if (is_trivial(scales)) lu = std::move(system.floats);
  system.floats.reset();
  if (lu == nullptr) {
    lu = std::make_unique<DeviceLu<S>>(system.n, system.n, system.stream());
    convert_scaled(system.scaled(scales.rows, scales.columns), lu->a, lu->rows, system.stream());
  }
  return lu;
}

template <class S, class T>
std::unique_ptr<LuFactors> factorise_in(DeviceSystem<T>& system, const Options& options, bool definite = false) {
  const Equilibration scales = definite ? scale_all(system) : equilibrate(system, 0);
  auto lu = take_matrix<S>(system, scales);
  (definite ? factor_cholesky_on_device<S> : factor_on_device<S>)(*lu, options.contract, system.stream());
  auto factors =
      std::make_unique<DeviceFactors<S>>(std::move(lu), scales, std::numeric_limits<S>::epsilon() / 2, system.stream());
  factors->definite = definite;
  return factors;
}

// With room for growth where the format is narrow: the largest entries at about 2^-headroom, then smaller.
template <class Word, class T>
std::unique_ptr<LuFactors> factorise_stored(DeviceSystem<T>& system) {
  using Stored = StoredWord<Word>;
  system.floats.reset();
  std::unique_ptr<LuFactors> factors;
  for (int headroom = Stored::headroom; headroom <= Stored::last_headroom; headroom += half_headroom_step) {
    factors.reset();  // its memory is what the next ones need
    const Equilibration scales = equilibrate(system, headroom);
    auto lu = std::make_unique<DeviceLu<Word>>(system.n, system.n, system.stream());
    const bool fits = factor_stored_on_device(system.scaled(scales.rows, scales.columns), *lu, system.stream());
    factors = std::make_unique<DeviceFactors<Word>>(std::move(lu), scales, Stored::unit_roundoff, system.stream());
    factors->overflow = !fits;
    if (fits) break;
  }
  return factors;
}

}  // namespace

template <class T>
void solve_with_device_lu(const DeviceLu<T>& lu, const DeviceTriangles<T>& triangles, Op op, std::int64_t count,
                          const double* in, double* out, double* work, cudaStream_t stream) {
  if (op == Op::none) {
    permute(lu.permutation, lu.n, lu.rows, count, in, out, false, stream);
    triangles.solve(false, op, count, out, work);
    triangles.solve(true, op, count, work, out);
  } else {
    triangles.solve(true, op, count, in, out);
    triangles.solve(false, op, count, out, work);
    permute(lu.permutation, lu.n, lu.rows, count, work, out, true, stream);
  }
}

template <class T>
std::unique_ptr<LuFactors> factorise_on_device(DeviceSystem<T>& system, Factors precision, const Options& options) {
  switch (precision) {
    case Factors::bf16:
      return factorise_stored<__nv_bfloat16>(system);
    case Factors::fp16:
      return factorise_stored<__half>(system);
    case Factors::fp32:
      return factorise_in<float>(system, options);
    default:
      return factorise_in<double>(system, options);
  }
}

template <class T>
std::unique_ptr<LuFactors> factorise_definite_on_device(DeviceSystem<T>& system, Factors precision,
                                                        const Options& options) {
  if (precision == Factors::fp64) return factorise_in<double>(system, options, true);
  return factorise_in<float>(system, options, true);
}

template <class T>
void solve_with_device_cholesky(const DeviceTriangles<T>& triangles, std::int64_t count, const double* in, double* out,
                                double* work) {
  triangles.solve(true, Op::transpose, count, in, work);
  triangles.solve(true, Op::none, count, work, out);
}

VERNIER_REAL_INSTANCES(solve_with_device_lu, factorise_on_device, factorise_definite_on_device,
                       solve_with_device_cholesky)

}  // namespace vernier::cuda
