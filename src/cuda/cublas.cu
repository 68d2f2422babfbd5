#include "cuda/cublas.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "base/instantiate.hpp"
#include "base/status.hpp"
#include "cuda/device.hpp"
#include "cuda/shared_library.hpp"
#include "vernier/cuda.hpp"

namespace vernier::cuda {
namespace {

// The functions used, under their own names. The headers may map a name to its current version (cublasCreate_v2), so
// the symbol is spelt out beside the type.
struct Functions {
  SharedLibrary library{"libcublas", "cuBLAS"};
  decltype(&cublasCreate_v2) create = library.find("cublasCreate_v2");
  decltype(&cublasDestroy_v2) destroy = library.find("cublasDestroy_v2");
  decltype(&cublasSetStream_v2) set_stream = library.find("cublasSetStream_v2");
  decltype(&cublasSetPointerMode_v2) set_pointer_mode = library.find("cublasSetPointerMode_v2");
  decltype(&cublasGetStream_v2) get_stream = library.find("cublasGetStream_v2");
  decltype(&cublasGetPointerMode_v2) get_pointer_mode = library.find("cublasGetPointerMode_v2");
  decltype(&cublasGetMathMode) get_math_mode = library.find("cublasGetMathMode");
  decltype(&cublasSetMathMode) set_math_mode = library.find("cublasSetMathMode");
  decltype(&cublasGetProperty) get_property = library.find("cublasGetProperty");
  decltype(&cublasGetStatusName) status_name = library.find("cublasGetStatusName");
  decltype(&cublasSgemm_v2_64) sgemm = library.find("cublasSgemm_v2_64");
  decltype(&cublasDgemm_v2_64) dgemm = library.find("cublasDgemm_v2_64");
  decltype(&cublasCgemm_v2_64) cgemm = library.find("cublasCgemm_v2_64");
  decltype(&cublasZgemm_v2_64) zgemm = library.find("cublasZgemm_v2_64");
  decltype(&cublasStrsm_v2_64) strsm = library.find("cublasStrsm_v2_64");
  decltype(&cublasDtrsm_v2_64) dtrsm = library.find("cublasDtrsm_v2_64");
  decltype(&cublasCtrsm_v2_64) ctrsm = library.find("cublasCtrsm_v2_64");
  decltype(&cublasZtrsm_v2_64) ztrsm = library.find("cublasZtrsm_v2_64");
  decltype(&cublasStrmm_v2_64) strmm = library.find("cublasStrmm_v2_64");
  decltype(&cublasDtrmm_v2_64) dtrmm = library.find("cublasDtrmm_v2_64");
  decltype(&cublasCtrmm_v2_64) ctrmm = library.find("cublasCtrmm_v2_64");
  decltype(&cublasZtrmm_v2_64) ztrmm = library.find("cublasZtrmm_v2_64");
  decltype(&cublasGemmEx_64) gemm_ex = library.find("cublasGemmEx_64");
  decltype(&cublasGemmStridedBatchedEx_64) gemm_batch_ex = library.find("cublasGemmStridedBatchedEx_64");
  decltype(&cublasGemmBatchedEx_64) gemm_addressed_ex = library.find("cublasGemmBatchedEx_64");
};

const Functions& functions() {
  static const Functions loaded;
  return loaded;
}

void cublas_check(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  fail(status == CUBLAS_STATUS_ALLOC_FAILED ? Status::out_of_memory : Status::device_error, "{}: {}", what,
       functions().status_name(status));
}

// The conjugate transpose of real matrices is their transpose to cuBLAS too.
cublasOperation_t operation(Op op) {
  return op == Op::none ? CUBLAS_OP_N : op == Op::transpose ? CUBLAS_OP_T : CUBLAS_OP_C;
}

// Pointers as cuBLAS wants them.
template <class T>
using Native = decltype(of_type<T>(0.0f, 0.0, cuComplex{}, cuDoubleComplex{}));
template <class T>
auto native(const T* p) {
  return reinterpret_cast<const Native<T>*>(p);
}
template <class T>
auto native(T* p) {
  return reinterpret_cast<Native<T>*>(p);
}

cublasSideMode_t native(Side side) { return side == Side::left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT; }
cublasFillMode_t native(Uplo uplo) { return uplo == Uplo::lower ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER; }
cublasDiagType_t native(Diag diag) { return diag == Diag::unit ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT; }

// A thread's innermost LentCublas, and what became of it at the first call of cuBLAS; null: the library's own.
struct Lent {
  void* handle;
  int device = 0;
  std::optional<Cublas> cublas{};
};
thread_local Lent* lent = nullptr;

}  // namespace

std::string Cublas::missing() {
  const std::string device = missing_device();
  return device.empty() ? functions().library.missing() : device;
}

Cublas::Cublas() {
  const std::string what = missing();
  if (!what.empty()) fail(Status::unsupported, "{}", what);
  cublas_check(functions().create(&handle_), "cublasCreate");
}

Cublas::Cublas(cublasHandle_t lent) : handle_(lent) {
  const std::string what = missing();
  if (!what.empty()) fail(Status::unsupported, "{}", what);
  cublas_check(functions().get_stream(handle_, &stream_), "cublasGetStream");
  cublas_check(functions().get_pointer_mode(handle_, &pointer_mode_), "cublasGetPointerMode");
  cublasMath_t math_mode = CUBLAS_DEFAULT_MATH;
  cublas_check(functions().get_math_mode(handle_, &math_mode), "cublasGetMathMode");
  if (math_mode != CUBLAS_DEFAULT_MATH)  // no other keeps all contracts
    cublas_check(functions().set_math_mode(handle_, CUBLAS_DEFAULT_MATH), "cublasSetMathMode");
  lent_ = {stream_, pointer_mode_, math_mode};
}

LentCublas::LentCublas(void* handle) : outer_(lent) {
  lent = handle != nullptr ? new (std::nothrow) Lent{handle} : nullptr;  // no memory: one of the library's own serves
}
LentCublas::~LentCublas() {
  delete lent;
  lent = static_cast<Lent*>(outer_);
}

// Not where the process has several, whose handle it may be.
bool has_lent_cublas() {
  thread_local OneCopy cublas("libcublas");
  return lent != nullptr && (lent->cublas || cublas.is_loaded());
}

Cublas& thread_cublas() {
  // Handles of threads that have ended serve others: to destroy one waits for the device, which another thread's
  // capture does not survive.
  struct Idle {
    std::mutex mutex;
    std::map<int, std::vector<std::unique_ptr<Cublas>>> of_device;  // a handle belongs to one
  };
  static Idle& idle = *new Idle;  // never freed: threads may end after static objects
  struct Mine {
    std::map<int, std::unique_ptr<Cublas>> handles;
    ~Mine() {
      try {
        const std::lock_guard lock(idle.mutex);
        for (auto& [device, handle] : handles) idle.of_device[device].push_back(std::move(handle));
      } catch (const std::bad_alloc&) {  // those that are left are destroyed
      }
    }
  };
  thread_local Mine mine;
  const int device = current_device().number;
  if (has_lent_cublas()) {
    if (!lent->cublas) lent->cublas.emplace(static_cast<cublasHandle_t>(lent->handle)), lent->device = device;
    if (lent->device == device) return *lent->cublas;
  }
  const auto found = mine.handles.find(device);
  if (found != mine.handles.end()) return *found->second;
  const std::lock_guard lock(idle.mutex);
  auto& free = idle.of_device[device];
  if (free.empty()) free.push_back(std::make_unique<Cublas>());
  Cublas& taken = *(mine.handles[device] = std::move(free.back()));
  free.pop_back();
  return taken;
}

Cublas::~Cublas() {
  if (!lent_) (void)functions().destroy(handle_);
  if (lent_ && stream_ != lent_->stream) (void)functions().set_stream(handle_, lent_->stream);
  if (lent_ && pointer_mode_ != lent_->pointer_mode) (void)functions().set_pointer_mode(handle_, lent_->pointer_mode);
  if (lent_ && lent_->math_mode != CUBLAS_DEFAULT_MATH) (void)functions().set_math_mode(handle_, lent_->math_mode);
}

void Cublas::set_stream(cudaStream_t stream) {
  if (stream == stream_) return;
  cublas_check(functions().set_stream(handle_, stream), "cublasSetStream");
  stream_ = stream;
}

void Cublas::set_pointer_mode(cublasPointerMode_t mode) {
  if (mode == pointer_mode_) return;
  cublas_check(functions().set_pointer_mode(handle_, mode), "cublasSetPointerMode");
  pointer_mode_ = mode;
}

std::string Cublas::version() const {
  int major = 0, minor = 0, patch = 0;
  cublas_check(functions().get_property(MAJOR_VERSION, &major), "cublasGetProperty");
  cublas_check(functions().get_property(MINOR_VERSION, &minor), "cublasGetProperty");
  cublas_check(functions().get_property(PATCH_LEVEL, &patch), "cublasGetProperty");
  return fmt::format("{}.{}.{}", major, minor, patch);
}

template <class T>
void Cublas::gemm(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, const T* alpha, const T* A,
                  std::int64_t lda, const T* B, std::int64_t ldb, const T* beta, T* C, std::int64_t ldc) {
  const Functions& f = functions();
  cublas_check(
      of_type<T>(f.sgemm, f.dgemm, f.cgemm, f.zgemm)(handle_, operation(opa), operation(opb), m, n, k, native(alpha),
                                                     native(A), lda, native(B), ldb, native(beta), native(C), ldc),
      "cuBLAS gemm");
}

template <class T>
void Cublas::trsm(Side side, Uplo uplo, Op op, Diag diag, std::int64_t m, std::int64_t n, const T* alpha, const T* A,
                  std::int64_t lda, T* B, std::int64_t ldb) {
  const Functions& f = functions();
  cublas_check(
      of_type<T>(f.strsm, f.dtrsm, f.ctrsm, f.ztrsm)(handle_, native(side), native(uplo), operation(op), native(diag),
                                                     m, n, native(alpha), native(A), lda, native(B), ldb),
      "cuBLAS trsm");
}

template <class T>
void Cublas::trmm(Side side, Uplo uplo, Op op, Diag diag, std::int64_t m, std::int64_t n, const T* alpha, const T* A,
                  std::int64_t lda, const T* B, std::int64_t ldb, T* C, std::int64_t ldc) {
  const Functions& f = functions();
  cublas_check(of_type<T>(f.strmm, f.dtrmm, f.ctrmm, f.ztrmm)(handle_, native(side), native(uplo), operation(op),
                                                              native(diag), m, n, native(alpha), native(A), lda,
                                                              native(B), ldb, native(C), ldc),
               "cuBLAS trmm");
}

#define VERNIER_INSTANTIATE(T)                                                                                       \
  template void Cublas::gemm(Op, Op, std::int64_t, std::int64_t, std::int64_t, const T*, const T*, std::int64_t,     \
                             const T*, std::int64_t, const T*, T*, std::int64_t);                                    \
  template void Cublas::trsm(Side, Uplo, Op, Diag, std::int64_t, std::int64_t, const T*, const T*, std::int64_t, T*, \
                             std::int64_t);                                                                          \
  template void Cublas::trmm(Side, Uplo, Op, Diag, std::int64_t, std::int64_t, const T*, const T*, std::int64_t,     \
                             const T*, std::int64_t, T*, std::int64_t);
VERNIER_EACH_TYPE(VERNIER_INSTANTIATE)

void Cublas::gemm_ex(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, const void* alpha, const void* A,
                     cudaDataType_t a_type, std::int64_t lda, const void* B, cudaDataType_t b_type, std::int64_t ldb,
                     const void* beta, void* C, cudaDataType_t c_type, std::int64_t ldc, cublasComputeType_t compute) {
  cublas_check(functions().gemm_ex(handle_, operation(opa), operation(opb), m, n, k, alpha, A, a_type, lda, B, b_type,
                                   ldb, beta, C, c_type, ldc, compute, CUBLAS_GEMM_DEFAULT),
               "cublasGemmEx");
}

void Cublas::gemm_batch_ex(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, const void* alpha,
                           const void* A, cudaDataType_t a_type, std::int64_t lda, std::int64_t a_step, const void* B,
                           cudaDataType_t b_type, std::int64_t ldb, std::int64_t b_step, const void* beta, void* C,
                           cudaDataType_t c_type, std::int64_t ldc, std::int64_t c_step, std::int64_t count,
                           cublasComputeType_t compute) {
  cublas_check(
      functions().gemm_batch_ex(handle_, operation(opa), operation(opb), m, n, k, alpha, A, a_type, lda, a_step, B,
                                b_type, ldb, b_step, beta, C, c_type, ldc, c_step, count, compute, CUBLAS_GEMM_DEFAULT),
      "cublasGemmStridedBatchedEx");
}

void Cublas::gemm_addressed_ex(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, const void* alpha,
                               const void* const* A, std::int64_t lda, const void* const* B, std::int64_t ldb,
                               const void* beta, void* const* C, std::int64_t ldc, cudaDataType_t type,
                               std::int64_t count, cublasComputeType_t compute) {
  cublas_check(functions().gemm_addressed_ex(handle_, operation(opa), operation(opb), m, n, k, alpha, A, type, lda, B,
                                             type, ldb, beta, C, type, ldc, count, compute, CUBLAS_GEMM_DEFAULT),
               "cublasGemmBatchedEx");
}

}  // namespace vernier::cuda
