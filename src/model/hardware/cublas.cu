// cuBLAS as an engine: one element of C += A B, with A transposed and k contiguous. Which kernel runs is cuBLAS's
// choice.
#include <cublasLt.h>

#include <cstring>
#include <vector>

#include "base/status.hpp"
#include "cuda/cublas.hpp"
#include "cuda/device.hpp"
#include "cuda/shared_library.hpp"
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
class OneElement : public MatrixEngine {
 public:
  explicit OneElement(const Engine& formats)
      : formats_(formats),
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
    multiply();
    std::uint64_t d = 0;
    cuda::check(cudaMemcpy(&d, c_.data(), static_cast<std::size_t>(storage_bytes(formats_.c)), cudaMemcpyDeviceToHost),
                "cudaMemcpy");
    return d;
  }

 protected:
  virtual void multiply() const = 0;

  Engine formats_;
  cuda::DeviceBuffer<char> a_, b_, c_;

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
};

class GemmEx final : public OneElement {
 public:
  GemmEx(const Product& product, const Engine& formats) : OneElement(formats), product_(product) {}

 private:
  void multiply() const override {
    const std::uint64_t one = encode(formats_.c, 1);
    blas_.gemm_ex(Op::transpose, Op::none, size, size, k(), &one, a_.data(), product_.input, k(), b_.data(),
                  product_.input, k(), &one, c_.data(), product_.output, size, product_.compute);
  }

  const Product& product_;
  mutable cuda::Cublas blas_;
};

// cuBLASLt, found at run time.
struct LtFunctions {
  cuda::SharedLibrary library{"libcublasLt", "cuBLASLt"};
  decltype(&cublasLtCreate) create = library.find("cublasLtCreate");
  decltype(&cublasLtDestroy) destroy = library.find("cublasLtDestroy");
  decltype(&cublasLtMatmulDescInit_internal) describe = library.find("cublasLtMatmulDescInit_internal");
  decltype(&cublasLtMatmulDescSetAttribute) set_attribute = library.find("cublasLtMatmulDescSetAttribute");
  decltype(&cublasLtMatrixLayoutInit_internal) lay_out = library.find("cublasLtMatrixLayoutInit_internal");
  decltype(&cublasLtMatmulPreferenceInit_internal) prefer = library.find("cublasLtMatmulPreferenceInit_internal");
  decltype(&cublasLtMatmulPreferenceSetAttribute) set_preference = library.find("cublasLtMatmulPreferenceSetAttribute");
  decltype(&cublasLtMatmulAlgoGetHeuristic) find_algorithm = library.find("cublasLtMatmulAlgoGetHeuristic");
  decltype(&cublasLtMatmul) matmul = library.find("cublasLtMatmul");
  decltype(&cublasLtGetStatusName) status_name = library.find("cublasLtGetStatusName");

  void check(cublasStatus_t status, const char* what) const {
    if (status != CUBLAS_STATUS_SUCCESS) fail(Status::device_error, "{}: {}", what, status_name(status));
  }
};

const LtFunctions& lt() {
  static const LtFunctions loaded;
  return loaded;
}

// e4m3, by the first algorithm that the heuristics name; fast accumulation leaves partial sums inside the matrix units.
class Fp8Product final : public OneElement {
 public:
  Fp8Product(bool fast, const Engine& formats) : OneElement(formats), workspace_(workspace_bytes) {
    const cublasOperation_t transposed = CUBLAS_OP_T;
    const std::int8_t accumulation = fast ? 1 : 0;
    lt().check(lt().describe(&product_, sizeof product_, CUBLAS_COMPUTE_32F, CUDA_R_32F), "cublasLtMatmulDescInit");
    lt().check(lt().set_attribute(&product_, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof transposed), "TRANSA");
    lt().check(lt().set_attribute(&product_, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &accumulation, sizeof accumulation),
               "FAST_ACCUM");
    for (auto* operand : {&operand_, &result_})
      lt().check(lt().lay_out(operand, sizeof *operand, operand == &operand_ ? CUDA_R_8F_E4M3 : CUDA_R_32F,
                              static_cast<std::uint64_t>(operand == &operand_ ? k() : size), size,
                              operand == &operand_ ? k() : size),
                 "cublasLtMatrixLayoutInit");
    lt().check(lt().prefer(&preference_, sizeof preference_), "cublasLtMatmulPreferenceInit");
    lt().check(lt().set_preference(&preference_, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace_bytes,
                                   sizeof workspace_bytes),
               "MAX_WORKSPACE_BYTES");
    lt().check(lt().create(&handle_), "cublasLtCreate");
  }
  ~Fp8Product() override { (void)lt().destroy(handle_); }

 private:
  static constexpr std::size_t workspace_bytes = std::size_t{32} << 20;  // what NVIDIA recommends for Hopper

  void multiply() const override {
    cublasLtMatmulHeuristicResult_t algorithm{};
    int found = 0;
    lt().check(lt().find_algorithm(handle_, &product_, &operand_, &operand_, &result_, &result_, &preference_, 1,
                                   &algorithm, &found),
               "cublasLtMatmulAlgoGetHeuristic");
    if (found == 0) fail(Status::unsupported, "cuBLASLt has no algorithm for these formats");
    const float one = 1;
    lt().check(
        lt().matmul(handle_, &product_, &one, a_.data(), &operand_, b_.data(), &operand_, &one, c_.data(), &result_,
                    c_.data(), &result_, &algorithm.algo, workspace_.data(), workspace_.bytes(), nullptr),
        "cublasLtMatmul");
  }

  cublasLtHandle_t handle_ = nullptr;
  cuda::DeviceBuffer<char> workspace_;
  mutable cublasLtMatmulDescOpaque_t product_{};
  mutable cublasLtMatrixLayoutOpaque_t operand_{}, result_{};
  mutable cublasLtMatmulPreferenceOpaque_t preference_{};
};

bool is_fp8(std::string_view name) { return name.starts_with("e4m3"); }

}  // namespace

std::string missing_cublas(std::string_view name) {
  const std::string device = cuda::missing_device();
  return !device.empty() || !is_fp8(name) ? cuda::Cublas::missing() : lt().library.missing();
}

std::unique_ptr<MatrixEngine> open_cublas(std::string_view name, const Engine& formats) {
  if (is_fp8(name)) return std::make_unique<Fp8Product>(name == "e4m3-fp32-fast", formats);
  for (const Product& product : products)
    if (name == product.name) return std::make_unique<GemmEx>(product, formats);
  return nullptr;
}

}  // namespace vernier::model::gpu
