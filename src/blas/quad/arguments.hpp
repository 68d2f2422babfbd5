// The arguments of quad_gemm, checked before any work, and the report they begin: the same for CPUs and GPUs.
#pragma once

#include "blas/quad/contract.hpp"
#include "product/call.hpp"

namespace vernier {

template <class TC>
using QuadCallArguments = GemmCall<TC, double, const void*>;

template <class TC>
bool reads_operands(const QuadCallArguments<TC>& p) {
  return p.alpha != 0 && p.k > 0 && p.m > 0 && p.n > 0;
}

// Throws where they are not those of a product.
template <class TC>
QuadReport checked_quad_call(const QuadCallArguments<TC>& p, const QuadOptions& options) {
  constexpr const char* routine = "quad_gemm";
  check_call(routine, p);
  check_operands(routine, reads_operands(p), p.a, p.b);
  check_pointer(routine, "C", p.m > 0 && p.n > 0, p.c);
  require(options.threads >= 0, "{}: threads = {}: expected 0 or more", routine, options.threads);
  goal_of<TC>(options.contract);
  check_exact<TC>(options.contract, p.alpha, p.beta);
  QuadReport report;
  report.type = type_name<TC>();
  report.contract = contract_text<TC>(options.contract);
  report.m = p.m, report.n = p.n, report.k = p.k;
  return report;
}

// C as its parts: how many an entry has, and where they begin.
template <class TC>
inline constexpr std::int64_t parts_of_entry = is_complex_entry<TC> ? 2 : 1;
template <class TC>
PartOf<TC>* parts_of(TC* c) {
  return reinterpret_cast<PartOf<TC>*>(c);
}

}  // namespace vernier
