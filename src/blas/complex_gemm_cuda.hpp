// The complex product on a GPU: one real product of doubled rows and doubled k, as on a CPU (complex_gemm.hpp), whose
// bits it has.
#pragma once

#include "engine/device_int8_engine.hpp"
#include "plan/device_plan.hpp"
#include "vernier/cuda.hpp"

namespace vernier::cuda {

template <class R>
struct DeviceComplexProblem {
  using Element = std::complex<R>;
  Op opa, opb;
  std::int64_t m, n, k;
  const Element* alpha;
  const Element* a;
  std::int64_t lda;
  const Element* b;
  std::int64_t ldb;
  const Element* beta;
  Element* c;
  std::int64_t ldc;
};

// The arguments have been checked, and no size is zero; alpha may be.
template <class R>
Report complex_gemm(const DeviceComplexProblem<R>& problem, const Options& options);

// C = beta C; 0 if beta = 0.
template <class R>
void complex_scale(std::int64_t m, std::int64_t n, const std::complex<R>* beta, std::complex<R>* c, std::int64_t ldc,
                   const Options& options);

// The whole product by moduli with a root of -1, on a workspace of plan.bytes. False, with C untouched, if the data are
// not all ordinary and finite.
template <class R>
bool complex_residue_gemm(const DeviceComplexPlan& plan, const DeviceInt8Engine& engine,
                          const DeviceComplexProblem<R>& problem, const Options& options, std::byte* workspace);

template <class R>
Plan complex_plan(std::int64_t m, std::int64_t n, std::int64_t k, const Options& options);

template <class R>
std::size_t complex_workspace(std::int64_t m, std::int64_t n, std::int64_t k, const Options& options, bool least);

}  // namespace vernier::cuda
