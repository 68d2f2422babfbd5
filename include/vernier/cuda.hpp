// Vernier on a GPU: the products of vernier.hpp for matrices in device memory, asynchronous on a stream.
//
//     #include <vernier/cuda.hpp>
//     double one = 1, zero = 0;
//     vernier::cuda::gemm(vernier::Op::none, vernier::Op::none, m, n, k, &one, A, lda, B, ldb, &zero, C, ldc,
//                         {.stream = stream});
//
// Same contracts; under `reproducible` ones and `exact` the same bits as on a CPU. Under others fp64 may take
// scales of 14 moduli (docs/accuracy.md, theorem 2), and complex products moduli of their own.
//
// Hopper (compute capability 9.0) has kernels of its own, engine "sm90_int8", but for VERNIER_GPU_KERNELS=any. Other
// GPUs from 8.0 on multiply by mma.sync, "mma_int8", and have all here; 10.x by cuBLAS, "cublas_int8", where calls that
// no host may wait for are native unless the contract is fp64-normwise.
// Their drivers compile the kernels when they first run, and keep them. In a build without CUDA, or on a
// machine without such a GPU, everything here throws Error(Status::unsupported) and says what is missing.
#pragma once

#include "vernier/vernier.hpp"

namespace vernier::cuda {

enum class PointerMode { host, device };  // where alpha and beta are

// What the data asked of a product about which the device decided: complete_report() reads it.
struct VERNIER_API Outcome {
  std::int32_t words[24] = {};
};

struct VERNIER_API Options {
  Contract contract = {};   // fp64, for float data too: then default_contract<float>() is usual
  std::string engine = {};  // "" chooses; else a name of engines(), or "native" for cuBLAS
  void* stream = nullptr;   // a cudaStream_t; null is the default stream
  // Bytes of device memory that a product may take; 0: 9/16 of the device's, as far as it is free. Larger products go
  // block by block over m, n and k.
  std::size_t workspace_limit = 0;
  // The caller's own, in device memory. Nothing is allocated then, but for native products with factors in device
  // memory where it holds less than 256 columns of C (of a batch by addresses: one C), of which they keep a copy.
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
  PointerMode pointer_mode = PointerMode::host;
  // Never wait for the GPU: it decides what the data need. Products that are captured do so in any case.
  bool asynchronous = false;
  // Where gemm, and neither its batches nor level 3, leaves behind the product on its stream what was decided: in
  // memory that the device reaches, its own or pinned. Null: nowhere.
  Outcome* outcome = nullptr;
  bool count_open = false;  // contract exact: wait for the end, and report how many entries the residues left open
  // Levels of Strassen-Winograd on the residues of ordinary products: 0 or 1, or -1 for what the estimate says. The
  // bits are the same: sums modulo p are exact. One level takes 7/8 of the operations and 7/4 of the workspace.
  int strassen_levels = -1;
};

// C = alpha op(A) op(B) + beta C, as vernier::gemm: A, B and C in device memory, column-major; T is float, double or
// std::complex of these. Returns when the work is queued, with a report of the plan. docs/calls.md has all cases.
//
// By residues gemm queues its kernels and waits until the first has seen A and B, before the products begin; for a
// product of wide exponents or NaN it waits for scales (on Hopper from |A||B| in low precision) and queues more. Where
// large products were served by quarters of C, it may wait for most of the product, or for its end. With
// options.asynchronous, and where the stream is captured, it waits for nothing, and the GPU chooses. The report is then
// that of ordinary data, and options.outcome completes it; contracts that some data cannot keep (`reproducible`,
// `no-fallback`, more bits than the type's) need an outcome. float under contract fp32 goes to error-corrected products
// (split.hpp) where these are faster by estimate: their bits are not those of residues.
//
// Throws Error with C untouched: as vernier::gemm; unsupported also where a product cannot be captured (contract exact;
// engine "cublas_int8" but for fp64-normwise); a workspace too small for residues where native is not
// allowed.
template <class T>
VERNIER_API Report gemm(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, const T* alpha, const T* A,
                        std::int64_t lda, const T* B, std::int64_t ldb, const T* beta, T* C, std::int64_t ldc,
                        const Options& options = Options{.contract = default_contract<T>()});

// The same with alpha and beta by value, whatever options.pointer_mode says.
template <class T>
Report gemm(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, Scalar<T> alpha, const T* A,
            std::int64_t lda, const T* B, std::int64_t ldb, Scalar<T> beta, T* C, std::int64_t ldc,
            Options options = Options{.contract = default_contract<T>()}) {
  options.pointer_mode = PointerMode::host;
  return gemm<T>(opa, opb, m, n, k, &alpha, A, lda, B, ldb, &beta, C, ldc, options);
}

// Completes the report, as gemm returned it, of a product that was decided on the device, once its stream has come that
// far and the outcome is in memory of the host. Throws Error(Status::bound_not_met) where the data were too wide for
// the contract.
VERNIER_API void complete_report(Report& report, const Outcome& outcome);

// As gemm, but throws Error(Status::bound_not_met), with C untouched, where that would call cuBLAS for data that are
// too wide, but for parts of C by one that is lent: for callers with a cuBLAS of their own.
template <class T>
VERNIER_API Report gemm_unless_wide(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, const T* alpha,
                                    const T* A, std::int64_t lda, const T* B, std::int64_t ldb, const T* beta, T* C,
                                    std::int64_t ldc,
                                    const Options& options = Options{.contract = default_contract<T>()});

// In its life routines on this thread take the caller's cuBLAS handle, of the current device and of the cuBLAS that the
// process has loaded, wherever they call cuBLAS: to make one takes 0.1 s. Not where the process has loaded several. No
// other thread may use the handle meanwhile. Its stream, pointer mode and math mode are as they were at the end; a
// workspace that it was given is lost, as by cublasSetStream(), where Options::stream is another. Where several are
// nested, the innermost counts; they end in the reverse order, on the thread that made them.
class VERNIER_API LentCublas {
 public:
  explicit LentCublas(void* handle);  // a cublasHandle_t; null: one of the library's own
  ~LentCublas();
  LentCublas(const LentCublas&) = delete;
  LentCublas& operator=(const LentCublas&) = delete;

 private:
  void* outer_;  // which counts again at the end
};

// The plan that gemm would follow for data of ordinary exponents.
template <class T>
VERNIER_API Plan explain(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k,
                         const Options& options = Options{.contract = default_contract<T>()});

// Bytes of workspace with which gemm runs at full speed, within options.workspace_limit; least: with which it runs.
template <class T>
VERNIER_API std::size_t gemm_workspace(std::int64_t m, std::int64_t n, std::int64_t k, const Options& options,
                                       bool least = false);

VERNIER_API void release_workspace();  // gives the memory kept for the next product back to the device

VERNIER_API std::vector<EngineInfo> engines();  // of the current device, in order of preference
VERNIER_API std::string device_name();          // the current device; throws Error(Status::unsupported) if none

}  // namespace vernier::cuda
