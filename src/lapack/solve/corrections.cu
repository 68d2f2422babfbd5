#include "lapack/solve/factors_cuda.hpp"

#include <utility>

#include "cuda/status.hpp"
#include "lapack/solve/vectors.hpp"

namespace vernier::cuda {

DeviceCorrections::DeviceCorrections(const ResidentSystem& system, Solve solve, std::int64_t size,
                                     const RefinementVectors& host)
    : system_(system),
      solve_(std::move(solve)),
      host_(host),
      bytes_(static_cast<std::size_t>(system.n) * sizeof(double)),
      memory_(static_cast<std::size_t>(5 * size + residual_work(system.n)) * sizeof(double), system.stream()) {
  double* next = reinterpret_cast<double*>(memory_.data());
  for (double** vector : {&b_, &x_, &r_, &d_, &work_}) *vector = std::exchange(next, next + size);
  work_of_residual_ = next;
  if (size > system.n)
    check(cudaMemsetAsync(b_, 0, static_cast<std::size_t>(5 * size) * sizeof(double), system.stream()),
          "cudaMemsetAsync");
}

void DeviceCorrections::first(const Columns& columns) {
  offset_ = columns.front() * system_.n;
  check(cudaMemcpyAsync(b_, host_.b + offset_, bytes_, cudaMemcpyHostToDevice, system_.stream()), "cudaMemcpyAsync");
  solve_(b_, x_, work_);
  take_residual();
}

void DeviceCorrections::expect_another(const Columns&) {
  solve_(r_, d_, work_);
  begun_ = true;
}

void DeviceCorrections::add(const Columns&, const std::vector<double>& lengths) {
  if (!std::exchange(begun_, false)) solve_(r_, d_, work_);
  add_scaled(system_.n, lengths.front(), d_, x_, system_.stream());
  take_residual();
}

void DeviceCorrections::take_residual() {
  system_.queue_residual(x_, b_, r_, work_of_residual_);
  for (const auto& [to, from] : {std::pair(host_.x, x_), std::pair(host_.r, r_)})
    check(cudaMemcpyAsync(to + offset_, from, bytes_, cudaMemcpyDeviceToHost, system_.stream()), "cudaMemcpyAsync");
  done_.record(system_.stream());
}

}  // namespace vernier::cuda
