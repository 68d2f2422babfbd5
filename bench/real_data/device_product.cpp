#include <cuda_runtime_api.h>

#include <stdexcept>

#include "product.hpp"
#include "vernier/cuda.hpp"

namespace vernier::bench {
namespace {

void check(cudaError_t code) {
  if (code != cudaSuccess) throw std::runtime_error(cudaGetErrorString(code));
}

class Memory {
 public:
  explicit Memory(std::size_t elements) { check(cudaMalloc(&data_, elements * sizeof(double))); }
  explicit Memory(const std::vector<double>& x) : Memory(x.size()) {
    check(cudaMemcpy(data_, x.data(), x.size() * sizeof(double), cudaMemcpyHostToDevice));
  }
  ~Memory() { (void)cudaFree(data_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  double* data() const { return static_cast<double*>(data_); }

 private:
  void* data_ = nullptr;
};

class DeviceProduct final : public Product {
 public:
  explicit DeviceProduct(const Factors& f)
      : m_(f.m), n_(f.n), k_(f.k), a_(f.a), b_(f.b), c_(static_cast<std::size_t>(f.m * f.n)) {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));  // of its own: no other product's back-off
    check(cudaDeviceSynchronize());  // copies of little memory may still be under way, and the stream waits for none
    check(cudaEventCreate(&start_));
    check(cudaEventCreate(&end_));
  }
  ~DeviceProduct() override {
    (void)cudaEventDestroy(start_);
    (void)cudaEventDestroy(end_);
    (void)cudaStreamDestroy(stream_);
  }
  DeviceProduct(const DeviceProduct&) = delete;
  DeviceProduct& operator=(const DeviceProduct&) = delete;

  Report multiply(const Contract& contract, const std::string& engine) override {
    const double one = 1, zero = 0;
    check(cudaMemsetAsync(c_.data(), 0xff, static_cast<std::size_t>(m_ * n_) * sizeof(double), stream_));
    check(cudaEventRecord(start_, stream_));
    Report report = cuda::gemm(Op::none, Op::none, m_, n_, k_, &one, a_.data(), m_, b_.data(), k_, &zero, c_.data(), m_,
                               {.contract = contract, .engine = engine, .stream = stream_});
    check(cudaEventRecord(end_, stream_));
    check(cudaEventSynchronize(end_));
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start_, end_));
    report.seconds = static_cast<double>(milliseconds) * 1e-3;
    return report;
  }

  std::vector<double> c() const override {
    std::vector<double> copy(static_cast<std::size_t>(m_ * n_));
    check(cudaMemcpy(copy.data(), c_.data(), copy.size() * sizeof(double), cudaMemcpyDeviceToHost));
    return copy;
  }

 private:
  std::int64_t m_, n_, k_;
  Memory a_, b_, c_;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t start_ = nullptr, end_ = nullptr;
};

}  // namespace

std::unique_ptr<Product> device_product(const Factors& factors) { return std::make_unique<DeviceProduct>(factors); }

}  // namespace vernier::bench
