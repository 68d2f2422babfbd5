#include "blas/complex_gemm.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/duration.hpp"
#include "base/environment.hpp"
#include "base/instantiate.hpp"
#include "base/status.hpp"
#include "blas/complex_expansion.hpp"
#include "blas/plan.hpp"
#include "product/arguments.hpp"
#include "product/native/native.hpp"
#include "residue/gemm.hpp"
#include "residue/wide_sample.hpp"

namespace vernier {
namespace {

// The one real product, and three products of parts if there are any.
struct Planned {
  Plan printable;
  ProductPlan doubled;
  std::optional<ComplexResiduePlan> parts;
};

// workspace: bytes of the caller's own, or 0. Without, three products take no more than `copies`, those of the real
// product, and that.
template <class R>
Planned plan_complex(std::int64_t m, std::int64_t n, std::int64_t k, const Options& options, std::size_t workspace,
                     std::size_t copies) {
  Planned plan;
  const ProductShape doubled{2 * m, n, 2 * k};
  if (doubled.empty() || !plan_small_product<R>(doubled, options, plan.printable)) {
    plan.doubled = plan_product<R>(doubled, options, true);
    plan.printable = plan.doubled.printable;
  }
  if (plan.printable.scheme == "residues") {
    const std::size_t limit = options.workspace_limit != 0
                                  ? options.workspace_limit
                                  : default_limit(doubled, sizeof(R), usable_threads(options.threads));
    plan.parts = plan_complex_residues(plan.doubled, {m, n, k}, workspace != 0 ? workspace : limit + copies);
    if (plan.parts) plan.printable = plan.parts->doubled.printable;
  } else if (plan.printable.scheme == "native") {
    plan.printable.engine = native_name();
  }
  relabel(plan.printable, m, n, k);
  return plan;
}

template <class R>
Report real_product(const ComplexProblem<R>& p, const ComplexCopies<R>& copies, const Options& options) {
  const int threads = usable_threads(options.threads);
  const bool factors_are_real = copies.t == nullptr;
  expand(p.opa, p.m, p.k, p.a, p.lda, copies.a, threads);
  if (copies.b != nullptr) part_columns(p.b, p.n, p.k, p.ldb, p.opb == Op::conjugate_transpose, copies.b, threads);
  const Op opa = p.opa == Op::none ? Op::none : Op::transpose, opb = p.opb == Op::none ? Op::none : Op::transpose;
  const R* b = copies.b != nullptr ? copies.b : reinterpret_cast<const R*>(p.b);
  std::complex<R>* c = factors_are_real ? p.c : copies.t;
  Report report = gemm<R>(opa, opb, 2 * p.m, p.n, 2 * p.k, factors_are_real ? p.alpha.real() : R{1}, copies.a,
                          opa == Op::none ? 2 * p.m : 2 * p.k, b, opb == Op::none ? 2 * p.ldb : p.n,
                          factors_are_real ? p.beta.real() : R{0}, reinterpret_cast<R*>(c),
                          2 * (factors_are_real ? p.ldc : p.m), options);
  if (!factors_are_real) update(p, threads, [&](auto i, auto j) { return copies.t[i + j * p.m]; });
  return report;
}

// What a call comes to whose plan, or whose data, say so.
template <class R>
Report native_product(const ComplexProblem<R>& p, const Options& options, Report& report) {
  describe_native(report.plan, native_name());
  native_gemm(p, options.threads, options.progress);
  return std::move(report);  // no copy, which might find no memory: C is written
}

// By the real product of doubled rows and k, in copies of the operands.
template <class R>
Report doubled_product(const ComplexProblem<R>& p, const Options& options, int threads, bool keep_t,
                       std::size_t bytes) {
  const Workspace memory(bytes, options.workspace);
  Arena arena = memory.arena();
  const ComplexCopies<R> copies = carve_copies<R>(arena, p.m, p.n, p.k, p.opb != Op::none, keep_t);
  Options inner = options;
  inner.device = Device::cpu;  // the complex product has its place by now
  inner.threads = threads;
  if (options.workspace != nullptr) {
    inner.workspace = static_cast<std::byte*>(options.workspace) + bytes;
    inner.workspace_bytes = options.workspace_bytes - bytes;
  }
  Report report = real_product(p, copies, inner);
  relabel(report.plan, p.m, p.n, p.k);
  report.plan.workspace += bytes;
  return report;
}

// As planned, by residues, unless the data are too wide.
template <class R>
Report residue_product(const ComplexProblem<R>& p, const Options& options, const Planned& plan, bool keep_t,
                       std::size_t bytes) {
  Report report;
  report.plan = plan.printable;
  bool native = [&] {  // before anything is allocated: would all work with residues be in vain?
    const StageTime time(report.seconds_statistics);
    return native_wins<std::complex<R>>(plan.doubled, {p.rows()}, {p.columns()});
  }();
  if (native) report.plan.workspace = 0;
  if (!native && plan.parts) {
    const ComplexOutcome outcome = complex_residue_gemm(*plan.parts, p, options, report);
    if (outcome == ComplexOutcome::done) return report;
    native = outcome == ComplexOutcome::native;
  }
  if (native) {
    report_wide_sample(report);
    return native_product(p, options, report);
  }
  const double looked = report.seconds_statistics + report.seconds_residues;
  report = doubled_product(p, options, plan.printable.threads, keep_t, bytes);
  report.seconds_statistics += looked;
  return report;
}

}  // namespace

template <class R>
void complex_gemm(const ComplexProblem<R>& p, const Options& options, Report& report) {
  if (p.m > 0 && p.n > 0 && plan_small_product<R>({2 * p.m, p.n, 2 * p.k}, options, report.plan)) {
    relabel(report.plan, p.m, p.n, p.k);
    return native_gemm(p, options.threads, options.progress);
  }
  const Clock clock;
  const bool keep_t = p.alpha.imag() != 0 || p.beta.imag() != 0;
  if (keep_t && options.contract.kind == Contract::Kind::exact) fail_exact_factors();
  const bool own = options.workspace != nullptr;
  Options planned = options;  // the copies take their part of the caller's workspace first
  if (own) planned.workspace = nullptr, planned.workspace_bytes = 0, planned.workspace_limit = 0;
  const std::size_t bytes = copies_bytes<R>(p.m, p.n, p.k, p.opb != Op::none, keep_t);
  const Planned plan = plan_complex<R>(p.m, p.n, p.k, planned, own ? options.workspace_bytes : 0, bytes);
  report.plan = plan.printable;
  if (report.plan.scheme == "native") {  // no copies for that one
    report = native_product(p, options, report);
  } else {
    const std::size_t least = own ? bytes + gemm_workspace<R>(2 * p.m, p.n, 2 * p.k, planned, true) : 0;
    if (own && options.workspace_bytes < least)
      fail(Status::invalid_argument, "workspace: {} bytes are too few for m = {}, n = {}, k = {}; expected at least {}",
           options.workspace_bytes, p.m, p.n, p.k, least);
    report = residue_product(p, options, plan, keep_t, bytes);
  }
  observe_product<R>(plan.doubled, clock.seconds());
}

template <class R>
Plan complex_plan(std::int64_t m, std::int64_t n, std::int64_t k, const Options& options) {
  return plan_complex<R>(m, n, k, options, 0, copies_bytes<R>(m, n, k, true, true)).printable;
}

template <class R>
std::size_t complex_workspace(std::int64_t m, std::int64_t n, std::int64_t k, const Options& options, bool least) {
  if (m == 0 || n == 0 || k == 0) return 0;
  const std::size_t copies = copies_bytes<R>(m, n, k, true, true);
  const std::size_t real = copies + gemm_workspace<R>(2 * m, n, 2 * k, options, least);
  if (least) return real;
  const Planned plan = plan_complex<R>(m, n, k, options, 0, copies);
  return plan.parts ? std::max(real, plan.parts->bytes) : real;
}

VERNIER_REAL_INSTANCES(complex_gemm, complex_plan, complex_workspace)

}  // namespace vernier
