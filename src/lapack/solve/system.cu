#include "lapack/solve/system_cuda.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "base/instantiate.hpp"
#include "base/status.hpp"
#include "cuda/device.hpp"
#include "cuda/status.hpp"

namespace vernier::cuda {
namespace {

void upload(const double* from, double* to, std::int64_t count, cudaStream_t stream) {
  check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(count) * sizeof(double), cudaMemcpyHostToDevice, stream),
        "cudaMemcpyAsync");
}

void download(const double* from, double* to, std::int64_t count, cudaStream_t stream) {
  check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(count) * sizeof(double), cudaMemcpyDeviceToHost, stream),
        "cudaMemcpyAsync");
  check(cudaStreamSynchronize(stream), "system on the GPU");
}

}  // namespace

template <class T>
DeviceSystem<T>::DeviceSystem(Op operation, const DeviceMatrix<T>& a, const SystemReading& reading, cudaStream_t stream)
    : ResidentSystem(stream), filled_from_(reading.filled_from), a_(a.data), lda_(a.ld) {
  op = operation;
  n = a.n;
  if (reading.floats) floats = std::make_unique<DeviceLu<float>>(n, n, stream);
  take_figures(reading.meanwhile);
  if constexpr (std::is_same_v<T, double>) {
    if (largest == 0) return;
    const int e = std::ilogb(largest);
    if (e >= least_system_exponent && e <= most_system_exponent) return;
    copy_ = std::make_unique<DeviceWorkspace>(static_cast<std::size_t>(n * n) * sizeof(T), stream);
    scale_matrix(matrix(), -e, reinterpret_cast<T*>(copy_->data()), stream);
    exponent = e;
    a_ = reinterpret_cast<T*>(copy_->data());
    lda_ = n;
    take_figures([] {});
  }
}

template <class T>
double* DeviceSystem<T>::vectors(std::int64_t count) const {
  const auto bytes = static_cast<std::size_t>(count * n) * sizeof(double);
  if (vectors_ == nullptr || vectors_->bytes() < bytes) vectors_ = std::make_unique<DeviceWorkspace>(bytes, stream_);
  return reinterpret_cast<double*>(vectors_->data());
}

template <class T>
void DeviceSystem<T>::take_figures(const std::function<void()>& meanwhile) {
  const std::int64_t parts = (n + figure_tile - 1) / figure_tile, part_size = parts * n;
  const DeviceWorkspace memory(static_cast<std::size_t>(4 * part_size + 4 * n) * sizeof(double), stream_);
  auto* base = reinterpret_cast<double*>(memory.data());
  const TileFigures tiles{base, base + part_size, base + 2 * part_size, base + 3 * part_size};
  double* all = base + 4 * part_size;
  take_tile_figures(matrix(), tiles, floats ? floats->a : RowMajor<float>{}, floats ? floats->rows : n, stream_);
  join_figures(tiles, n, parts, all, stream_);
  const StagingMemory staged(static_cast<std::size_t>(4 * n) * sizeof(double));
  auto* host = reinterpret_cast<double*>(staged.data());
  meanwhile();
  download(all, host, 4 * n, stream_);
  row_largest.assign(host, host + n);
  column_largest.assign(host + 2 * n, host + 3 * n);
  const double* row_sum = host + n;
  largest = largest_magnitude(n, host);
  const double most = largest_magnitude(n, row_sum);
  norm = op == Op::none ? most : largest_magnitude(n, row_sum + 2 * n);
  if (!std::isfinite(most)) refuse_nonfinite(row_sum + 2 * n);
}

// The sums have told that there is a NaN or an infinity, or that they overflowed.
template <class T>
void DeviceSystem<T>::refuse_nonfinite(const double* column_sums) const {
  std::vector<T> column(static_cast<std::size_t>(n));
  for (std::int64_t j = 0; j < n; ++j) {
    if (std::isfinite(column_sums[j])) continue;
    check(cudaMemcpy(column.data(), a_ + j * lda_, column.size() * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
    const auto found = std::find_if(column.begin(), column.end(), [](T x) { return !std::isfinite(x); });
    if (found == column.end()) continue;
    std::int64_t row = found - column.begin(), place = j;
    if (filled_from_ && (*filled_from_ == Uplo::upper) != (row <= place)) std::swap(row, place);
    fail(Status::invalid_argument, "solve: A({}, {}) is {}: expected a finite number", row + 1, place + 1,
         std::isnan(*found) ? "a NaN" : "an infinity");
  }
}

template <class T>
void DeviceSystem<T>::residuals(const Columns& columns, const double* x, const double* b, double* r) const {
  double* d = vectors(3 + (residual_work(n) + n - 1) / n);
  for (const std::int64_t c : columns) {
    upload(x + c * n, d, n, stream_);
    upload(b + c * n, d + n, n, stream_);
    queue_residual(d, d + n, d + 2 * n, d + 3 * n);
    download(d + 2 * n, r + c * n, n, stream_);
  }
}

template <class T>
void DeviceSystem<T>::queue_residual(const double* x, const double* b, double* r, double* work) const {
  residual<T>(matrix(), op != Op::none, x, b, r, work, stream_);
}

template <class T>
void DeviceSystem<T>::add_magnitudes(const double* x, double* y) const {
  double* d = vectors(3 + (residual_work(n) + n - 1) / n);
  upload(x, d, n, stream_);
  magnitudes<T>(matrix(), op != Op::none, d, d + n, d + 3 * n, stream_);
  std::vector<double> more(static_cast<std::size_t>(n));
  download(d + n, more.data(), n, stream_);
  for (std::int64_t i = 0; i < n; ++i) y[i] += more[static_cast<std::size_t>(i)];
}

template <class T>
std::vector<double> DeviceSystem<T>::largest_of_scaled_columns(const std::vector<int>& exponents) const {
  double* d = vectors(2);
  upload(powers_of_two(exponents).data(), d, n, stream_);
  scaled_column_largest<T>(matrix(), d, d + n, stream_);
  std::vector<double> all(static_cast<std::size_t>(n));
  download(d + n, all.data(), n, stream_);
  return all;
}

template <class T>
ScaledMatrix<T> DeviceSystem<T>::scaled(const std::vector<int>& row_exponents,
                                        const std::vector<int>& column_exponents) const {
  double* d = vectors(2);
  const std::vector<double> rows = powers_of_two(row_exponents), columns = powers_of_two(column_exponents);
  upload(rows.data(), d, n, stream_);
  upload(columns.data(), d + n, n, stream_);
  check(cudaStreamSynchronize(stream_), "scales of a system");  // the host's vectors are read until here
  return {matrix(), d, d + n};
}

#define VERNIER_INSTANTIATE(T) template class DeviceSystem<T>;
VERNIER_EACH_REAL(VERNIER_INSTANTIATE)

}  // namespace vernier::cuda
