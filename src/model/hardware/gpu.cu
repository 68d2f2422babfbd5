#include "model/hardware/gpu.hpp"

#include <cstring>

#include "base/status.hpp"
#include "cuda/device.hpp"

namespace vernier::model::gpu {
namespace {

class Instruction final : public MatrixEngine {
 public:
  Instruction(DotKernel kernel, const Engine& formats) : kernel_(kernel), formats_(formats), device_(1) {}
  Format a() const override { return formats_.a; }
  Format b() const override { return formats_.b; }
  Format c() const override { return formats_.c; }
  int k() const override { return formats_.k; }

  std::uint64_t dot(const std::uint64_t* a, const std::uint64_t* b, std::uint64_t c) const override {
    const auto bytes = static_cast<std::size_t>(storage_bytes(formats_.a));
    Dot one;
    for (std::size_t i = 0; i < static_cast<std::size_t>(k()); ++i) {
      std::memcpy(reinterpret_cast<char*>(one.a) + i * bytes, &a[i], bytes);
      std::memcpy(reinterpret_cast<char*>(one.b) + i * bytes, &b[i], bytes);
    }
    one.c = c;
    cuda::check(cudaMemcpyAsync(device_.data(), &one, sizeof one, cudaMemcpyHostToDevice, stream_), "cudaMemcpyAsync");
    kernel_(device_.data(), stream_);
    cuda::check(cudaMemcpyAsync(&one, device_.data(), sizeof one, cudaMemcpyDeviceToHost, stream_), "cudaMemcpyAsync");
    stream_.wait();
    return one.d;
  }

 private:
  DotKernel kernel_;
  Engine formats_;
  cuda::DeviceBuffer<Dot> device_;
  cuda::Stream stream_;
};

}  // namespace

std::string missing_instructions() {
  const std::string missing = cuda::missing_device();
  if (!missing.empty()) return missing;
  const cuda::Device& device = cuda::current_device();
  if (device.hopper()) return "";
  return fmt::format("{} has compute capability {}.{}; the instructions are built for 9.0", device.name,
                     device.compute_capability / 10, device.compute_capability % 10);
}

std::unique_ptr<MatrixEngine> open_instruction(std::string_view name, const Engine& formats) {
  return std::make_unique<Instruction>(find_kernel(name), formats);
}

}  // namespace vernier::model::gpu
