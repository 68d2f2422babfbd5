#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "base/asked_device.hpp"
#include "base/duration.hpp"
#include "base/environment.hpp"
#include "base/instantiate.hpp"
#include "base/ticks.hpp"
#include "bf16x6/blocking.hpp"
#include "blas/brief_call.hpp"
#include "blas/complex_gemm.hpp"
#include "blas/offload/device.hpp"
#include "blas/offload/offload.hpp"
#include "blas/plan.hpp"
#include "engine/bound/bound_engine.hpp"
#include "product/arguments.hpp"
#include "product/native/native.hpp"
#include "product/native/nonzeros.hpp"
#include "product/plan/observed_choice.hpp"
#include "product/progress.hpp"
#include "product/same_vectors.hpp"
#include "product/update.hpp"
#include "residue/gemm.hpp"
#include "residue/plan/cost.hpp"
#include "residue/wide_sample.hpp"

namespace vernier {
namespace {

// The plan for a person: with the name of the BLAS where the native product is taken.
void name_native(Plan& p) {
  if (p.scheme == "native") describe_native(p, native_name());
}

// False where bf16 parts do not hold the data, or memory does not hold the parts: then all goes as if there were none.
bool multiply_bf16x6(ProductPlan& plan, const GemmProblem<float>& problem, const Options& options, Report& report) {
  const char* reason = "the data are not finite, or too wide for bf16 parts; ";
  try {
    if (bf16x6_gemm(*plan.bf16x6->engine, plan.bf16x6->blocking, problem, options, report)) {
      report.plan = std::move(plan.bf16x6->printable);
      return true;
    }
  } catch (const Error& error) {
    if (error.status() != Status::out_of_memory) throw;
    reason = "there is no memory for bf16 parts; ";
  }
  report.seconds_residues = 0;
  plan.printable.reason = reason + plan.printable.reason;
  return false;
}

template <class T>
void scale_only(std::int64_t m, std::int64_t n, T beta, T* c, std::int64_t ldc, Rounding rounding) {
  if (beta == T{1} || m == 0) return;
  const FloatingEnvironment environment;
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < m; ++i)
      c[i + j * ldc] = beta == T{0} ? T{0} : scaled_entry(beta, c[i + j * ldc], rounding);
}

// Where an operand has few nonzero elements: by these, or as the plan says. Not open where nobody is to choose.
ObservedChoice choose_nonzeros(const ProductPlan& plan, const ResidueProblem<double>& problem) {
  constexpr double worth_a_look = 0x1p30, caution = 0.7;  // their estimates err
  if (plan.native != NativeUse::for_speed || !plan.by_estimate || plan.shape.multiplications() < worth_a_look)
    return {};
  const double seconds = nonzeros_seconds(problem, plan.printable.threads);
  if (std::isinf(seconds)) return {};
  Rival planned{Method::native, INFINITY};  // or by residues
  const double bound = bound_seconds(plan.shape, bound_tiles() != nullptr, plan.printable.threads);
  for (const Rival& rival : plan.rivals.span())  // residues of such data ask for the product of |A| and |B|
    planned.estimate = std::min(planned.estimate, rival.seconds() + (rival.method == Method::residues ? bound : 0));
  return {class_of<double>(plan, sparse_data), planned, {Method::nonzeros, seconds / caution}};
}

bool multiply_by_nonzeros(const ProductPlan& plan, double seconds, const ResidueProblem<double>& problem,
                          const Options& options, Report& report) try {
  Progress progress(options.progress);
  Plan taken = plan.printable;  // nothing fails once C is written to
  describe_native(taken, "nonzeros");
  taken.reason += "; an operand is zero nearly everywhere: by its other elements alone";
  if (!multiply_nonzeros(problem,
                         {.threads = plan.printable.threads,
                          .seconds = seconds,
                          .bytes = workspace_limit(plan.shape, sizeof(double), options),
                          .memory = options.workspace},
                         progress))
    return false;
  report.plan = std::move(taken);
  return true;
} catch (const Error& error) {
  if (error.status() != Status::out_of_memory) throw;
  return false;
}

// Residues of half of the products, or natively, where op(B) is op(A) transposed; by_half: natively half of them too.
template <class T>
ObservedChoice choose_symmetric(const ProductPlan& plan, bool by_half) {
  constexpr double half = 0.6;  // of the products, and the conversion of one operand
  std::array<Rival, method_count> rivals = plan.rivals.all;
  if (by_half) rivals[0].estimate *= half;
  return {class_of<T>(plan, symmetric_data), rivals[0], {Method::residues, half * rivals[1].estimate}};
}

template <class T>
void real_gemm(const GemmCall<T>& call, const Options& options, Report& report) {
  if (plan_small_product<T>(call.shape(), options, report.plan))
    return native_gemm(call, options.threads, options.progress);
  const Clock clock;
  ProductPlan plan = plan_product<T>(call.shape(), options);
  ResidueProblem<T> problem{{call.rows(), call.columns(), {call.alpha, call.beta, call.c, call.ldc}}};
  if constexpr (std::is_same_v<T, float>)
    if (plan.bf16x6 && multiply_bf16x6(plan, problem, options, report))
      return observe_product<T>(plan, clock.seconds());
  ObservedChoice sparse, symmetric;  // what such data take says nothing about others
  if constexpr (std::is_same_v<T, double>) {
    sparse = choose_nonzeros(plan, problem);
    if (sparse.method() == Method::nonzeros && multiply_by_nonzeros(plan, sparse.estimate(), problem, options, report))
      return sparse.done();
    plan.by_estimate &= !sparse.is_open();
  }
  bool done = false;
  if (plan.engine == nullptr) {
    report.plan = std::move(plan.printable);
    name_native(report.plan);
  } else {
    report.plan = plan.printable;
    std::string of_symmetric;  // the reason; nothing fails once C is written to
    const bool too_wide = [&] {
      const StageTime time(report.seconds_statistics);
      const SampleFindings found = look_at_sample<T>(plan, {problem.a}, {problem.b});
      plan.seems_wide = found.wide;
      problem.symmetric =
          !options.contract.reproducible && !plan.exact && same_vectors(problem.a, problem.b, plan.printable.threads);
      if (!problem.symmetric) return found.native_wins;
      if (plan.by_estimate && !found.native_wins) symmetric = choose_symmetric<T>(plan, call.beta == T{0});
      plan.by_estimate = false;
      of_symmetric = plan.printable.reason + "; op(B) is op(A) transposed: half of the products";
      return found.native_wins;
    }();
    if (too_wide) {
      report_wide_sample(report);
      report.plan.workspace = 0;
    } else if (!symmetric.residues()) {
      report.plan.reason += "; op(B) is op(A) transposed: the native product takes less by times seen in this process";
      describe_native(report.plan, native_name());
      report.plan.workspace = 0;
    } else {
      done = residue_gemm(plan, problem, options, report);
      if (done && problem.symmetric) report.plan.reason.swap(of_symmetric);
    }
  }
  if (!done) {
    if (report.fallback) {
      report.plan.reason += normwise_advice<T>(plan.shape, options.contract, plan.engine->name(), report.plan.threads);
      describe_native(report.plan, native_name());
    }
    (problem.symmetric && call.beta == T{0} ? native_gram<T> : native_gemm<T>)(call, options.threads, options.progress);
  }
  observe_product<T>(plan, clock.seconds());
  sparse.done();
  symmetric.done();
}

template <class T>
void multiply(const GemmCall<T>& call, const Options& options, Report& report) {
  if constexpr (is_complex<T>)
    complex_gemm<RealType<T>>(call, options, report);
  else
    real_gemm(call, options, report);
}

// On a GPU or on the CPU.
template <class T>
void placed_gemm(const GemmCall<T>& call, const Options& options, const Clock& clock, Report& report) {
  Placement place = place_product<T>(call.shape(), call.beta != T{0}, options);
  if (place.on_gpu) {
    report = offloaded_gemm<T>(call, options, cuda_target<T>(options));
  } else {
    const std::string asked = why_not_on_a_gpu(options);
    multiply(call, options, report);
    if (!asked.empty()) report.plan.reason += asked;
    report.seconds = clock.seconds();
  }
  place.took(report.seconds);
}

template <class T>
Report made_at_once(const GemmCall<T>& call, const Options& options, BriefCall<T>& like) {
  const std::uint64_t start = ticks();
  Report report;
  like.describe(call.shape(), options.contract, report.plan);
  native_gemm(call, options.threads, options.progress);
  report.seconds = static_cast<double>(ticks_since(start)) * seconds_per_tick();
  return report;
}

// Any call.
template <class T>
[[gnu::noinline]] Report check_and_make(const GemmCall<T>& call, const Options& options, BriefCall<T>& like) {
  const Clock clock;
  check_call("gemm", call);
  const bool reads = call.alpha != T{0} && !call.shape().empty();
  if (call.a == nullptr || call.b == nullptr || call.c == nullptr) {
    check_operands("gemm", reads, call.a, call.b);
    check_pointer("gemm", "C", call.m > 0 && call.n > 0, call.c);
  }
  check_options("gemm", options);
  Report report;
  if (!reads) {
    report.plan = explain<T>(call.opa, call.opb, call.m, call.n, 0, options);
    report.plan.k = call.k;
    if constexpr (is_complex<T>)
      if (options.contract.rounding != Rounding::nearest && call.beta.imag() != 0) fail_exact_factors();
    scale_only(call.m, call.n, call.beta, call.c, call.ldc, options.contract.rounding);
    Progress(options.progress).finish();
  } else if (is_small_product(call.shape()) || asked_device(options) == Device::cpu) {  // nobody asks where it goes
    like.begin_planning(call, options);
    multiply(call, options, report);
    report.seconds = clock.seconds();
    like.keep(call, options, report);
  } else {
    placed_gemm(call, options, clock, report);
    return report;
  }
  report.seconds = clock.seconds();
  return report;
}

}  // namespace

bool gemm_by_bf16x6(const GemmCall<float>& call, const Options& options) {
  ProductPlan plan = plan_product<float>(call.shape(), options);
  if (!plan.bf16x6) return false;
  Report report;
  return multiply_bf16x6(plan, {call.rows(), call.columns(), call.alpha, call.beta, call.c, call.ldc}, options, report);
}

bool gemm_within(const GemmCall<double>& call, int moduli, double share, const Sides<int*>& scales,
                 const Options& options) {
  const int budget = norm_budget_within(moduli, call.k, share);
  Options by_norms = options;
  by_norms.contract = Contract::normwise();
  by_norms.contract.reproducible = true;  // by residues
  by_norms.contract.bits_asked = budget / 32 - 1;
  ProductPlan plan = plan_product<double>(call.shape(), by_norms);
  if (plan.engine == nullptr) return false;
  plan.rule.twice_norm_bits_16 = budget;
  plan.rule.precision = 1024;  // scales follow from norms alone, those of integers too
  set_ordinary_moduli(plan, moduli);
  ResidueProblem<double> problem{{call.rows(), call.columns(), {call.alpha, call.beta, call.c, call.ldc}}};
  problem.scales = scales;
  Report report;
  return residue_gemm(plan, problem, options, report);
}

template <class T>
[[gnu::hot, gnu::flatten]] Report gemm(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, Scalar<T> alpha,
                                       const T* A, std::int64_t lda, const T* B, std::int64_t ldb, Scalar<T> beta, T* C,
                                       std::int64_t ldc, const Options& options) {
  const RoutineMode mode;
  const GemmCall<T> call{opa, opb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc};
  BriefCall<T>& like = BriefCall<T>::place(call.shape());
  return like.serves(call, options) ? made_at_once(call, options, like) : check_and_make(call, options, like);
}

template <class T>
Plan explain(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, const Options& options) {
  check_shape("gemm", opa, opb, m, n, k);
  check_options("gemm", options);
  if (std::optional<Plan> on_gpu = explain_offload<T>({m, n, k}, options)) return std::move(*on_gpu);
  if constexpr (is_complex<T>) {
    return complex_plan<RealType<T>>(m, n, k, options);
  } else {
    ProductPlan plan = plan_product<T>({m, n, k}, options);
    if (plan.bf16x6) return std::move(plan.bf16x6->printable);
    name_native(plan.printable);
    return std::move(plan.printable);
  }
}

template <class T>
std::size_t gemm_workspace(std::int64_t m, std::int64_t n, std::int64_t k, const Options& options, bool least) {
  check_shape("gemm", Op::none, Op::none, m, n, k);
  check_options("gemm", options);
  if constexpr (is_complex<T>)
    return complex_workspace<RealType<T>>(m, n, k, options, least);
  else
    return workspace_bytes<T>({m, n, k}, options, least);
}

// For every type T of gemm.
#define VERNIER_INSTANTIATE(T)                                                                                \
  template Report gemm(Op, Op, std::int64_t, std::int64_t, std::int64_t, T, const T*, std::int64_t, const T*, \
                       std::int64_t, T, T*, std::int64_t, const Options&);                                    \
  template struct Instances<explain<T>, gemm_workspace<T>>;
VERNIER_EACH_TYPE(VERNIER_INSTANTIATE)

}  // namespace vernier
