#include "cuda/cublas_lt.hpp"

#include "base/status.hpp"
#include "cuda/shared_library.hpp"

namespace vernier::cuda {
namespace {

constexpr std::size_t workspace_bytes = std::size_t{32} << 20;  // what NVIDIA recommends for Hopper

struct LtFunctions {
  SharedLibrary library{"libcublasLt", "cuBLASLt"};
  decltype(&cublasLtCreate) create = library.find("cublasLtCreate");
  decltype(&cublasLtDestroy) destroy = library.find("cublasLtDestroy");
  decltype(&cublasLtMatmulDescCreate) describe = library.find("cublasLtMatmulDescCreate");
  decltype(&cublasLtMatmulDescDestroy) destroy_description = library.find("cublasLtMatmulDescDestroy");
  decltype(&cublasLtMatmulDescSetAttribute) set_attribute = library.find("cublasLtMatmulDescSetAttribute");
  decltype(&cublasLtMatrixLayoutCreate) lay_out = library.find("cublasLtMatrixLayoutCreate");
  decltype(&cublasLtMatrixLayoutDestroy) destroy_layout = library.find("cublasLtMatrixLayoutDestroy");
  decltype(&cublasLtMatmulPreferenceCreate) prefer = library.find("cublasLtMatmulPreferenceCreate");
  decltype(&cublasLtMatmulPreferenceDestroy) destroy_preference = library.find("cublasLtMatmulPreferenceDestroy");
  decltype(&cublasLtMatmulPreferenceSetAttribute) set_preference = library.find("cublasLtMatmulPreferenceSetAttribute");
  decltype(&cublasLtMatmulAlgoGetHeuristic) find_algorithm = library.find("cublasLtMatmulAlgoGetHeuristic");
  decltype(&cublasLtMatmul) matmul = library.find("cublasLtMatmul");
  decltype(&cublasLtGetStatusName) status_name = library.find("cublasLtGetStatusName");
};

const LtFunctions& lt_functions() {
  static const LtFunctions loaded;
  return loaded;
}

void lt_check(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  fail(status == CUBLAS_STATUS_ALLOC_FAILED ? Status::out_of_memory : Status::device_error, "{}: {}", what,
       lt_functions().status_name(status));
}

// Owners of the descriptions that one call needs.
struct Operation {
  explicit Operation(bool fast) {
    lt_check(lt_functions().describe(&handle, CUBLAS_COMPUTE_32F, CUDA_R_32F), "cublasLtMatmulDescCreate");
    const cublasOperation_t transposed = CUBLAS_OP_T;
    const std::int8_t accumulation = fast ? 1 : 0;
    lt_check(lt_functions().set_attribute(handle, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof transposed),
             "CUBLASLT_MATMUL_DESC_TRANSA");
    lt_check(lt_functions().set_attribute(handle, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &accumulation, sizeof accumulation),
             "CUBLASLT_MATMUL_DESC_FAST_ACCUM");
  }
  ~Operation() { (void)lt_functions().destroy_description(handle); }
  cublasLtMatmulDesc_t handle = nullptr;
};

struct Layout {
  Layout(cudaDataType_t type, std::int64_t rows, std::int64_t columns) {
    lt_check(lt_functions().lay_out(&handle, type, static_cast<std::uint64_t>(rows),
                                    static_cast<std::uint64_t>(columns), rows),
             "cublasLtMatrixLayoutCreate");
  }
  ~Layout() { (void)lt_functions().destroy_layout(handle); }
  cublasLtMatrixLayout_t handle = nullptr;
};

struct Preference {
  Preference() {
    lt_check(lt_functions().prefer(&handle), "cublasLtMatmulPreferenceCreate");
    lt_check(lt_functions().set_preference(handle, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace_bytes,
                                           sizeof workspace_bytes),
             "CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES");
  }
  ~Preference() { (void)lt_functions().destroy_preference(handle); }
  cublasLtMatmulPreference_t handle = nullptr;
};

}  // namespace

std::string CublasLt::missing() {
  const std::string device = missing_device();
  return device.empty() ? lt_functions().library.missing() : device;
}

CublasLt::CublasLt() {
  const std::string what = missing();
  if (!what.empty()) fail(Status::unsupported, "{}", what);
  workspace_ = DeviceBuffer<char>(workspace_bytes);
  lt_check(lt_functions().create(&handle_), "cublasLtCreate");
}

CublasLt::~CublasLt() { (void)lt_functions().destroy(handle_); }

void CublasLt::multiply(std::int64_t m, std::int64_t n, std::int64_t k, const void* A, cudaDataType_t a_type,
                        const void* B, cudaDataType_t b_type, float* C, bool fast_accumulation, cudaStream_t stream) {
  const Operation operation(fast_accumulation);
  const Layout a(a_type, k, m), b(b_type, k, n), c(CUDA_R_32F, m, n);
  const Preference preference;
  cublasLtMatmulHeuristicResult_t algorithm{};
  int found = 0;
  lt_check(lt_functions().find_algorithm(handle_, operation.handle, a.handle, b.handle, c.handle, c.handle,
                                         preference.handle, 1, &algorithm, &found),
           "cublasLtMatmulAlgoGetHeuristic");
  if (found == 0) fail(Status::unsupported, "cuBLASLt has no algorithm for these formats");
  const float one = 1;
  lt_check(lt_functions().matmul(handle_, operation.handle, &one, A, a.handle, B, b.handle, &one, C, c.handle, C,
                                 c.handle, &algorithm.algo, workspace_.data(), workspace_.bytes(), stream),
           "cublasLtMatmul");
}

}  // namespace vernier::cuda
