// cuBLAS as an engine: one element of C += A B, with A transposed and k contiguous. Which kernel runs is cuBLAS's
// choice.
#include <cstring>
#include <vector>

#include "cuda/cublas.hpp"
#include "cuda/device.hpp"
#include "model/hardware/gpu.hpp"

namespace vernier::model::gpu {
namespace {

constexpr std::int64_t size = 256;  // of C

struct Product {
  const char* name;
  cudaDataType_t input, output;
  cublasComputeType_t compute;
};

constexpr Product products[] = {
    {"fp16-fp32", CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F},
    {"fp16-fp16", CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_16F},
    {"bf16-fp32", CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F},
    {"tf32-fp32", CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32},
    {"fp64", CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F},
    {"int8", CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I},
};

// Operands that are zero but for row 0 of A, column 0 of B and element (0, 0) of C.
class GemmEx final : public MatrixEngine {
 public:
  GemmEx(const Product& product, const Engine& formats)
      : product_(product),
        formats_(formats),
        a_(bytes_of(formats.a, formats.k)),
        b_(bytes_of(formats.b, formats.k)),
        c_(bytes_of(formats.c, size)) {
    for (const auto* operand : {&a_, &b_}) cuda::check(cudaMemset(operand->data(), 0, operand->bytes()), "cudaMemset");
  }
  Format a() const override { return formats_.a; }
  Format b() const override { return formats_.b; }
  Format c() const override { return formats_.c; }
  int k() const override { return formats_.k; }

  std::uint64_t dot(const std::uint64_t* a, const std::uint64_t* b, std::uint64_t c) const override {
    send(a_.data(), a, formats_.a, k());
    send(b_.data(), b, formats_.b, k());
    cuda::check(cudaMemset(c_.data(), 0, c_.bytes()), "cudaMemset");
    send(c_.data(), &c, formats_.c, 1);
    const std::uint64_t one = encode(formats_.c, 1);
    blas_.gemm_ex(Op::transpose, Op::none, size, size, k(), &one, a_.data(), product_.input, k(), b_.data(),
                  product_.input, k(), &one, c_.data(), product_.output, size, product_.compute);
    std::uint64_t d = 0;
    cuda::check(cudaMemcpy(&d, c_.data(), static_cast<std::size_t>(storage_bytes(formats_.c)), cudaMemcpyDeviceToHost),
                "cudaMemcpy");
    return d;
  }

 private:
  static std::size_t bytes_of(Format format, std::int64_t length) {
    return static_cast<std::size_t>(size * length * storage_bytes(format));
  }
  static void send(char* to, const std::uint64_t* words, Format format, int count) {
    const auto bytes = static_cast<std::size_t>(storage_bytes(format));
    std::vector<char> packed(static_cast<std::size_t>(count) * bytes);
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) std::memcpy(&packed[i * bytes], &words[i], bytes);
    cuda::copy_to_device(to, packed.data(), packed.size());
  }

  const Product& product_;
  Engine formats_;
  cuda::DeviceBuffer<char> a_, b_, c_;
  mutable cuda::Cublas blas_;
};

}  // namespace

std::string missing_cublas() { return cuda::Cublas::missing(); }

std::unique_ptr<MatrixEngine> open_cublas(std::string_view name, const Engine& formats) {
  for (const Product& product : products)
    if (name == product.name) return std::make_unique<GemmEx>(product, formats);
  return nullptr;
}

}  // namespace vernier::model::gpu
