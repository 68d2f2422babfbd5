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
// Hopper (compute capability 9.0) has kernels of its own, engine "sm90_int8". Other GPUs from 8.0 on multiply with
// cuBLAS's int8 products, engine "cublas_int8", and have all of this header but contract exact, Strassen-Winograd,
// error-corrected products, and calls that no host may wait for, which are native there unless the contract is
// fp64-normwise. Their drivers compile the kernels when they first run, and keep them. In a build without CUDA, or on a
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
  void* workspace = nullptr;  // the caller's own, in device memory; nothing is allocated then, but see below
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
// std::complex of these. Returns when the work is queued, with a report of the plan.
//
// How far it is asynchronous: by residues, gemm queues all kernels, then waits until the first of them has looked at A
// and B, which is before the products begin; the GPU is kept busy meanwhile. It knows then whether exponents are so
// wide that rows or columns need moduli of their own, or whether there is a NaN or an infinity. If so, it waits
// for the stream until the GPU knows what they take, and queues that. The report's spans stay 0 unless that happened.
//
// A look that finds exponents too wide, so that cuBLAS takes the product after all, costs a fifth to a third of it.
// Under contracts that may go native and promise no bits the next 4, 16 and then 64 products of that shape and contract
// on that stream are therefore cuBLAS's without a look, until one finds otherwise; the report says so.
//
// With options.asynchronous, and where the stream is being captured, gemm waits for nothing. It queues what any data
// may need behind the product that ordinary data take: products with more moduli, and a conventional one of the
// library's own, in fp64. The device chooses, and what it does not choose returns at once, 5 kernels under fp64, 21 and
// more under contracts that may not go native. Residues have the bits that they have otherwise; conventional products
// those of a kernel that is not cuBLAS's. The report is that of ordinary data, and says so; options.outcome completes
// it. A contract that no kernel may keep for some data (`reproducible`, `no-fallback`, more bits than the type's) must
// be given an outcome: C is then left as it was, and complete_report() throws.
//
// Contract exact waits for the sample of the product that its number of moduli is chosen by, and queues the rest.
//
// float under contract fp32 goes to error-corrected products of fp16 and bf16 (split.hpp) on Hopper, if no engine is
// named, they are faster than cuBLAS by estimate, C has more than 2^18 entries or is one of a batch, and the workspace
// holds them: fit for capture, and the GPU chooses the scheme by the data. Behind a product of 0.06 ms at most by
// estimate the host waits up to that long for the GPU to say that nothing else is needed; not with
// options.asynchronous, and hardly ever on a stream that is busy. The bits are not those of residues; `reproducible`
// contracts keep to those. Data that even bf16 cannot hold (some element below 2^-60 of the largest of its row or
// column, and in some vector a quarter below 2^-40 of it or zero), or that have a NaN or an infinity anywhere, are
// multiplied by a conventional kernel, which is slower than cuBLAS: engine "native" is for such data. The report names
// what may be taken; complete_report() puts what was at the head of plan.reason, and where that is "conventional" makes
// the report one of a fallback.
//
// Stream capture: possible for native products (but for a thread's first on a device, which makes a cuBLAS handle) and
// for all others but those of contract exact, and those of engine "cublas_int8" but for fp64-normwise:
// Error(Status::unsupported) then. A replay decides anew by the data that it finds. Without a workspace of the
// caller's the graph gets memory nodes. alpha and beta are captured by value unless they are in device memory.
//
// A workspace too small for residues leaves the product to cuBLAS, where that keeps the contract and the contract lets
// it (fallback); else it is an error. One that is too small for what wide data ask for is used block by block; block
// spans (for k up to 16384) may then allocate a little more.
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
