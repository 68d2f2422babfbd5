#include <chrono>
#include <cmath>

#include "base/status.hpp"
#include "blas/arguments.hpp"
#include "blas/native.hpp"
#include "blas/residue_gemm.hpp"

namespace vernier {
namespace {

void check_options(const Options& o) {
  check_contract(o.contract);
  require(o.threads >= 0, "gemm: threads = {}: expected 0 or more", o.threads);
  require(o.workspace != nullptr || o.workspace_bytes == 0,
          "gemm: workspace is null, workspace_bytes = {}: expected both or neither", o.workspace_bytes);
}

void take_native(Plan& p) {
  const std::string name = native_blas();
  p.scheme = "native";
  p.engine = name.substr(0, name.find(' ', name.find(' ') + 1));  // without its configuration
  p.moduli = 0;
}

// The plan for a person: with the name of the BLAS where the native product is taken.
Plan printable(const ProductPlan& plan) {
  Plan p = plan.printable;
  if (p.scheme == "native") take_native(p);
  return p;
}

template <class T>
void scale_only(std::int64_t m, std::int64_t n, T beta, T* c, std::int64_t ldc) {
  if (beta == 1) return;
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < m; ++i) c[i + j * ldc] = beta == 0 ? T{0} : beta * c[i + j * ldc];
}

}  // namespace

template <class T>
Report gemm(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, T alpha, const T* A, std::int64_t lda,
            const T* B, std::int64_t ldb, T beta, T* C, std::int64_t ldc, const Options& options) {
  const auto start = std::chrono::steady_clock::now();
  check_shape(opa, opb, m, n, k);
  check_leading_dimensions(opa, opb, m, n, k, lda, ldb, ldc);
  const bool reads = alpha != 0 && k > 0 && m > 0 && n > 0;
  require(!reads || A != nullptr, "gemm: A is null");
  require(!reads || B != nullptr, "gemm: B is null");
  require(m == 0 || n == 0 || C != nullptr, "gemm: C is null");
  check_options(options);

  Report report;
  const ProductPlan plan = plan_product<T>({m, n, reads ? k : 0}, options);
  report.plan = printable(plan);
  report.plan.k = k;
  if (!reads) {
    scale_only(m, n, beta, C, ldc);
  } else {
    bool done = false;
    if (plan.engine != nullptr) {
      const ResidueProblem<T> problem{rows_of(opa, A, m, k, lda), columns_of(opb, B, n, k, ldb), alpha, beta, C, ldc};
      done = residue_gemm(plan, problem, options, report);
    }
    if (!done) {
      if (report.fallback) take_native(report.plan);
      native_gemm(opa, opb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc, options.threads);
    }
  }
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

template <class T>
Plan explain(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, const Options& options) {
  check_shape(opa, opb, m, n, k);
  check_options(options);
  return printable(plan_product<T>({m, n, k}, options));
}

template <class T>
std::size_t gemm_workspace(std::int64_t m, std::int64_t n, std::int64_t k, const Options& options, bool least) {
  check_shape(Op::none, Op::none, m, n, k);
  check_options(options);
  return workspace_bytes<T>({m, n, k}, options, least);
}

template Report gemm(Op, Op, std::int64_t, std::int64_t, std::int64_t, double, const double*, std::int64_t,
                     const double*, std::int64_t, double, double*, std::int64_t, const Options&);
template Report gemm(Op, Op, std::int64_t, std::int64_t, std::int64_t, float, const float*, std::int64_t, const float*,
                     std::int64_t, float, float*, std::int64_t, const Options&);
template Plan explain<double>(Op, Op, std::int64_t, std::int64_t, std::int64_t, const Options&);
template Plan explain<float>(Op, Op, std::int64_t, std::int64_t, std::int64_t, const Options&);
template std::size_t gemm_workspace<double>(std::int64_t, std::int64_t, std::int64_t, const Options&, bool);
template std::size_t gemm_workspace<float>(std::int64_t, std::int64_t, std::int64_t, const Options&, bool);

}  // namespace vernier
