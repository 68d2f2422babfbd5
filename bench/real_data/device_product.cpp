#include <cuda_runtime_api.h>

#include <stdexcept>

#include "product.hpp"
#include "vernier/cuda.hpp"

namespace vernier::bench {
namespace {

void check(cudaError_t code) {
  if (code != cudaSuccess) throw std::runtime_error(cudaGetErrorString(code));
}

// Of one stream's own order: a campaign has many.
class Memory {
 public:
  Memory(std::size_t elements, cudaStream_t stream) : stream_(stream) {
    check(cudaMallocAsync(&data_, elements * sizeof(double), stream));
  }
  Memory(const std::vector<double>& x, cudaStream_t stream) : Memory(x.size(), stream) {
    check(cudaMemcpyAsync(data_, x.data(), x.size() * sizeof(double), cudaMemcpyHostToDevice, stream));
  }
  ~Memory() { (void)cudaFreeAsync(data_, stream_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  double* data() const { return static_cast<double*>(data_); }

 private:
  void* data_ = nullptr;
  cudaStream_t stream_;
};

class Stream {
 public:
  Stream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~Stream() { (void)cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

// The stream of this thread's products of a campaign.
cudaStream_t shared_stream() {
  thread_local const Stream stream;
  return stream.get();
}

class DeviceProduct final : public Product {
 public:
  DeviceProduct(const Factors& f, bool apart)
      : own_(apart ? std::make_unique<Stream>() : nullptr),
        stream_(apart ? own_->get() : shared_stream()),
        m_(f.m),
        n_(f.n),
        k_(f.k),
        a_(f.a, stream_),
        b_(f.b, stream_),
        c_(static_cast<std::size_t>(f.m * f.n), stream_) {
    check(cudaEventCreate(&start_));
    check(cudaEventCreate(&end_));
  }
  ~DeviceProduct() override {
    (void)cudaEventDestroy(start_);
    (void)cudaEventDestroy(end_);
  }
  DeviceProduct(const DeviceProduct&) = delete;
  DeviceProduct& operator=(const DeviceProduct&) = delete;

  Report multiply(const Contract& contract, const std::string& engine, bool asynchronous) override {
    const double one = 1, zero = 0;
    check(cudaMemsetAsync(c_.data(), 0xff, static_cast<std::size_t>(m_ * n_) * sizeof(double), stream_));
    check(cudaEventRecord(start_, stream_));
    Report report =
        cuda::gemm(Op::none, Op::none, m_, n_, k_, &one, a_.data(), m_, b_.data(), k_, &zero, c_.data(), m_,
                   {.contract = contract, .engine = engine, .stream = stream_, .asynchronous = asynchronous});
    check(cudaEventRecord(end_, stream_));
    check(cudaEventSynchronize(end_));
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start_, end_));
    report.seconds = static_cast<double>(milliseconds) * 1e-3;
    return report;
  }

  std::vector<double> column(std::int64_t j) override {
    std::vector<double> x(static_cast<std::size_t>(m_));
    check(cudaMemcpy(x.data(), c_.data() + j * m_, x.size() * sizeof(double), cudaMemcpyDeviceToHost));
    return x;
  }

 private:
  std::unique_ptr<Stream> own_;
  cudaStream_t stream_;
  std::int64_t m_, n_, k_;
  Memory a_, b_, c_;
  cudaEvent_t start_ = nullptr, end_ = nullptr;
};

}  // namespace

std::unique_ptr<Product> device_product(const Factors& factors, bool apart) {
  return std::make_unique<DeviceProduct>(factors, apart);
}

}  // namespace vernier::bench
