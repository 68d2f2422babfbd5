// The complex product as one real product of doubled rows and doubled k.
#pragma once

#include "product/call.hpp"

namespace vernier {

template <class R>
Report complex_gemm(const ComplexProblem<R>& problem, const Options& options);

template <class R>
Plan complex_plan(std::int64_t m, std::int64_t n, std::int64_t k, const Options& options);

template <class R>
std::size_t complex_workspace(std::int64_t m, std::int64_t n, std::int64_t k, const Options& options, bool least);

}  // namespace vernier
