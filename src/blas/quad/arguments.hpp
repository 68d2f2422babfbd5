// The arguments of quad_gemm, checked before any work, and the report they begin: the same for CPUs and GPUs.
#pragma once

#include "blas/quad/contract.hpp"
#include "product/arguments.hpp"
#include "product/output.hpp"

namespace vernier {

template <class TA, class TB, class TC>
struct QuadArguments {
  Op opa, opb;
  ProductShape shape;
  const TA* A;
  std::int64_t lda;
  const TB* B;
  std::int64_t ldb;
  Output<TC, double> to;

  bool reads() const { return to.alpha != 0 && shape.k > 0 && shape.m > 0 && shape.n > 0; }  // A and B

  // Throws where they are not those of a product.
  QuadReport check(const QuadOptions& options) const {
    constexpr const char* routine = "quad_gemm";
    check_sizes(routine, opa, opb, shape, lda, ldb, to.ldc);
    check_operands(routine, reads(), A, B);
    check_pointer(routine, "C", shape.m > 0 && shape.n > 0, to.c);
    require(options.threads >= 0, "{}: threads = {}: expected 0 or more", routine, options.threads);
    goal_of<TC>(options.contract);
    check_exact<TC>(options.contract, to.alpha, to.beta);
    QuadReport report;
    report.type = type_name<TC>();
    report.contract = contract_text<TC>(options.contract);
    report.m = shape.m, report.n = shape.n, report.k = shape.k;
    return report;
  }

  // C as its parts.
  PartOf<TC>* parts_of_c() const { return reinterpret_cast<PartOf<TC>*>(to.c); }
  static constexpr int parts = is_complex_entry<TC> ? 2 : 1;
};

}  // namespace vernier
