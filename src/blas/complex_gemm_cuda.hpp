// The complex product on a GPU: one real product of doubled rows and doubled k, as on a CPU (complex_gemm.hpp), whose
// bits it has.
#pragma once

#include "residue/gemm_cuda.hpp"

namespace vernier::cuda {

// The arguments have been checked, and no size is zero; alpha may be.
template <class R>
Report complex_gemm(const DeviceComplexProblem<R>& problem, const Options& options);

// C = beta C; 0 if beta = 0.
template <class R>
void complex_scale(std::int64_t m, std::int64_t n, const std::complex<R>* beta, std::complex<R>* c, std::int64_t ldc,
                   const Options& options);

template <class R>
Plan complex_plan(std::int64_t m, std::int64_t n, std::int64_t k, const Options& options);

template <class R>
std::size_t complex_workspace(std::int64_t m, std::int64_t n, std::int64_t k, const Options& options, bool least);

}  // namespace vernier::cuda
