// What the level-3 routines on a GPU share.
#pragma once

#include "base/status.hpp"
#include "blas/level3/routine.hpp"
#include "cuda/device.hpp"
#include "number/complex.hpp"
#include "product/call.hpp"
#include "product/device_memory.hpp"
#include "residue/gemm_cuda.hpp"
#include "vernier/cuda_level3.hpp"

namespace vernier::cuda {

// rows x columns of T in device memory, by columns without padding.
template <class T>
class DeviceScratch {
 public:
  DeviceScratch(std::int64_t rows, std::int64_t columns, cudaStream_t stream)
      : memory_(checked_area<T>(rows, columns) * sizeof(T), stream) {}
  T* data() const { return reinterpret_cast<T*>(memory_.data()); }

 private:
  DeviceWorkspace memory_;
};

inline void check_routine_options(const char* routine, const Options& options) {
  if (options.contract.kind == Contract::Kind::exact)
    fail(Status::unsupported, "{}: contract exact: only gemm and its batches keep it", routine);
  require(options.workspace == nullptr && options.workspace_bytes == 0,
          "{}: workspace: only gemm takes one of the caller's", routine);
}

// Of the products inside a routine: factors are on the host, and one outcome would not tell what became of them.
inline Options inner_options(const Options& options) {
  Options inner = options;
  inner.pointer_mode = PointerMode::host;
  inner.outcome = nullptr;
  return inner;
}

// Throws before anything is queued where a product of these sizes could not be captured, or had asynchronously.
template <class T>
void check_without_host(std::int64_t m, std::int64_t n, std::int64_t k, const Options& options) {
  if (!without_host(options)) return;
  Options inner = inner_options(options);
  inner.asynchronous = true;  // which some GPUs do natively
  if (explain<T>(Op::none, Op::none, m, n, k, inner).scheme == "residues") check_without_host<RealType<T>>(inner);
}

template <class T>
Report gemm_of(const GemmCall<T>& p, const Options& options) {
  return gemm<T>(p.opa, p.opb, p.m, p.n, p.k, &p.alpha, p.a, p.lda, p.b, p.ldb, &p.beta, p.c, p.ldc, options);
}

inline cudaStream_t stream_of(const Options& options) { return static_cast<cudaStream_t>(options.stream); }

}  // namespace vernier::cuda
