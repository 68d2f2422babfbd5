#include "blas/complex_gemm_cuda.hpp"

#include <algorithm>
#include <optional>

#include "base/instantiate.hpp"
#include "base/status.hpp"
#include "blas/choice.hpp"
#include "blas/complex_gemm.hpp"
#include "cuda/cublas.hpp"
#include "cuda/device.hpp"
#include "product/arguments.hpp"
#include "product/device_memory.hpp"
#include "product/elements.cuh"
#include "product/route.hpp"
#include "product/scale.hpp"
#include "residue/regularity.hpp"
#include "residue/residues.hpp"

namespace vernier::cuda {
namespace {

template <class R>
struct Pair {
  R first, second;
};

// Each column of complex numbers becomes two of pairs: (Re, Im), and i times that, (-Im, Re).
template <class R>
__global__ void expand(Elements size, const Pair<R>* in, std::int64_t ld, bool conjugated, Pair<R>* out) {
  for_each_element(size, [&](std::int64_t i, std::int64_t j) {
    const Pair<R> z = in[i + j * ld];
    const R imaginary = conjugated ? -z.second : z.second;
    Pair<R>* column = out + 2 * j * size.rows;
    column[i] = {z.first, imaginary};
    column[size.rows + i] = {-imaginary, z.first};
  });
}

// Each column of complex numbers becomes two of real ones: its real and its imaginary parts.
template <class R>
__global__ void part(Elements size, const Pair<R>* in, std::int64_t ld, bool conjugated, R* out) {
  for_each_element(size, [&](std::int64_t i, std::int64_t j) {
    const Pair<R> z = in[i + j * ld];
    R* column = out + 2 * j * size.rows;
    column[i] = z.first;
    column[size.rows + i] = conjugated ? -z.second : z.second;
  });
}

template <class R>
const Pair<R>* pairs(const std::complex<R>* z) {
  return reinterpret_cast<const Pair<R>*>(z);
}

template <class R>
void copy_operands(const DeviceComplexProblem<R>& p, const ComplexCopies<R>& copies, cudaStream_t stream) {
  // A row of the real matrix for a transposed A is (Re, -Im), (Im, Re): that of the conjugate by columns.
  const bool by_columns = p.opa == Op::none;
  const Elements a = by_columns ? Elements{p.m, p.k} : Elements{p.k, p.m};
  launch_elements("expand", expand<R>, a, stream, pairs(p.a), p.lda, p.opa == Op::transpose,
                  reinterpret_cast<Pair<R>*>(copies.a));
  if (copies.b != nullptr)
    launch_elements("part", part<R>, {p.n, p.k}, stream, pairs(p.b), p.ldb, p.opb == Op::conjugate_transpose, copies.b);
}

// Open if the product that the device decided was made. word: device memory that nobody needs any more.
Gate gate_of_outcome(const Options& options, void* word, cudaStream_t stream) {
  if (options.outcome == nullptr || !without_host(options)) return {};
  constexpr std::size_t unmet = offsetof(DeviceRoute, unmet);
  check(cudaMemcpyAsync(word, reinterpret_cast<const std::byte*>(options.outcome) + unmet, sizeof(int),
                        cudaMemcpyDefault, stream),
        "outcome");
  return {static_cast<const int*>(word), 0};
}

template <class R>
Report real_product(const DeviceComplexProblem<R>& p, const ComplexCopies<R>& copies, const Options& options) {
  const auto stream = static_cast<cudaStream_t>(options.stream);
  copy_operands(p, copies, stream);
  const bool whole = copies.t == nullptr;  // alpha and beta are real
  const R alpha = whole ? p.alpha->real() : R{1}, beta = whole ? p.beta->real() : R{0};
  const Op opa = p.opa == Op::none ? Op::none : Op::transpose, opb = p.opb == Op::none ? Op::none : Op::transpose;
  const R* b = copies.b != nullptr ? copies.b : reinterpret_cast<const R*>(p.b);
  Options inner = options;
  inner.pointer_mode = PointerMode::host;
  Report report = gemm<R>(opa, opb, 2 * p.m, p.n, 2 * p.k, &alpha, copies.a, opa == Op::none ? 2 * p.m : 2 * p.k, b,
                          opb == Op::none ? 2 * p.ldb : p.n, &beta, reinterpret_cast<R*>(whole ? p.c : copies.t),
                          2 * (whole ? p.ldc : p.m), inner);
  // Without a host the data may have been too wide for a contract that the conventional product does not keep.
  const bool may_be_left = report.plan.scheme == "residues" && native_use<R>(options.contract) == NativeUse::never;
  if (!whole)
    update_on_device({p.m, p.n, may_be_left ? gate_of_outcome(options, copies.a, stream) : Gate{}},
                     factor_of(p.alpha, options.pointer_mode), copies.t, p.m, factor_of(p.beta, options.pointer_mode),
                     p.c, p.ldc, stream);
  return report;
}

// Products by residues that fit whole: two modulo each p in place of four.
template <class R>
std::optional<DeviceComplexPlan> roots_plan(const ProductShape& shape, Op opa, Op opb, bool keep_t,
                                            const Options& options, const DeviceInt8Engine& engine) {
  if (engine.form() != ByteForm::natural || options.contract.kind == Contract::Kind::exact) return std::nullopt;
  return plan_device_complex<R>(shape, opa, opb, keep_t, options.contract, limits_of(engine));
}

bool fits(const DeviceComplexPlan& plan, const Options& options) {
  return plan.bytes <= workspace_limit(plan.bytes, options);
}

void describe(const DeviceComplexPlan& roots, const DeviceInt8Engine& engine, Plan& plan) {
  plan.scheme = "residues";
  plan.engine = std::string(engine.name());
  plan.moduli = roots.moduli;
  plan.log2_modulus_product = log2_product_of_moduli(roots.moduli, ModuliList::with_root);
  plan.m_block = plan.m;
  plan.n_block = plan.n;
  plan.k_block = plan.k;
  plan.workspace = roots.bytes;
  plan.reason += "; two products modulo each p by a root of -1";
}

template <class R>
bool irregular_real_product_loses(const DeviceProductPlan& plan, const Contract& contract) {
  return plan.bound ? plan.most_bound_moduli == 0 : full_rule_loses<R>(plan.shape, contract, plan.gpu);
}

// Where no host waits, data that the roots do not serve go to the conventional product; so products that were lately
// irregular remain real ones, which may still be faster by residues.
template <class R>
bool roots_serve_without_host(const ProductShape& shape, const Options& options) {
  if (native_use<R>(options.contract, !options.engine.empty()) != NativeUse::for_speed) return false;
  const DeviceProductPlan real = plan_of<R>({2 * shape.m, shape.n, 2 * shape.k}, options, true);
  return !remembered(real, Past{static_cast<cudaStream_t>(options.stream), false}).irregular ||
         irregular_real_product_loses<R>(real, options.contract);
}

// False: the data are not for it. None: it was not tried.
template <class R>
std::optional<bool> multiply_by_roots(const DeviceComplexProblem<R>& p, bool keep_t, const Options& options,
                                      Report& report) {
  const auto stream = static_cast<cudaStream_t>(options.stream);
  if (report.plan.scheme != "residues") return std::nullopt;
  if (without_host(options) && !roots_serve_without_host<R>({p.m, p.n, p.k}, options)) return std::nullopt;
  const DeviceInt8Engine& engine = find_device_int8_engine(options.engine);
  const auto roots = roots_plan<R>({p.m, p.n, p.k}, p.opa, p.opb, keep_t, options, engine);
  if (!roots || !fits(*roots, options)) return std::nullopt;
  const DeviceWorkspace memory(roots->bytes, stream, options.workspace);
  Plan described = report.plan;  // all words before C is written: nothing may fail then
  describe(*roots, engine, described);
  if (!complex_residue_gemm(*roots, engine, p, options, memory.data())) return false;
  report.plan = std::move(described);
  return true;
}

}  // namespace

template <class R>
Report complex_gemm(const DeviceComplexProblem<R>& p, const Options& options) {
  const auto stream = static_cast<cudaStream_t>(options.stream);
  const bool host = options.pointer_mode == PointerMode::host;
  const bool own = options.workspace != nullptr;
  Options planned = options;  // the copies take their part of the caller's workspace first
  if (own) planned.workspace = nullptr, planned.workspace_bytes = 0;
  planned.asynchronous = without_host(options);
  Report report;
  report.plan = complex_plan<R>(p.m, p.n, p.k, planned);
  const auto native = [&] {  // no copies for that one
    native_gemm(p, options);
    return std::move(report);  // C is written: nothing may fail any more
  };
  if (report.plan.scheme == "native") return native();
  if (report.plan.scheme == "residues") check_without_host<R>(options);  // before copies are queued
  const bool keep_t = !host || p.alpha->imag() != 0 || p.beta->imag() != 0;
  if (keep_t && options.contract.kind == Contract::Kind::exact) fail_exact_factors("on the host, and ");
  const std::optional<bool> by_roots = multiply_by_roots(p, keep_t, options, report);
  if (by_roots == true) return report;
  Plan real = explain<R>(Op::none, Op::none, 2 * p.m, p.n, 2 * p.k, planned);
  // What the roots' rule does not serve, the real product's square-root rule mostly does not either.
  const bool for_speed = native_use<R>(options.contract, !options.engine.empty()) == NativeUse::for_speed;
  const bool loses =
      by_roots.has_value() && for_speed &&
      irregular_real_product_loses<R>(plan_of<R>({2 * p.m, p.n, 2 * p.k}, planned, true), options.contract);
  if (real.scheme == "native" || loses) {  // only the roots were faster
    if (by_roots.has_value()) LeftFallbacks::check();
    relabel(real, p.m, p.n, p.k);
    report.plan = real;
    describe_native(report.plan);
    report.fallback = !without_host(options);
    return native();
  }
  const std::size_t bytes = copies_bytes<R>(p.m, p.n, p.k, p.opb != Op::none, keep_t);
  require(!own || options.workspace_bytes > bytes,
          "workspace: {} bytes are too few for m = {}, n = {}, k = {}; expected more than {}", options.workspace_bytes,
          p.m, p.n, p.k, bytes);
  const DeviceWorkspace memory(bytes, stream, options.workspace);
  Arena arena = memory.arena();
  const ComplexCopies<R> copies = carve_copies<R>(arena, p.m, p.n, p.k, p.opb != Op::none, keep_t);
  Options inner = options;
  if (own) {
    inner.workspace = memory.data() + bytes;
    inner.workspace_bytes = options.workspace_bytes - bytes;
  }
  report = real_product(p, copies, inner);
  relabel(report.plan, p.m, p.n, p.k);
  report.plan.workspace += bytes;
  return report;
}

template <class R>
void complex_scale(std::int64_t m, std::int64_t n, const std::complex<R>* beta, std::complex<R>* c, std::int64_t ldc,
                   const Options& options) {
  if (options.contract.rounding != Rounding::nearest) {  // part by part; a beta in device memory is taken as real
    if (options.pointer_mode == PointerMode::host && beta->imag() != 0) fail_exact_factors();
    return scale_on_device<R>(2 * m, n, factor_of(reinterpret_cast<const R*>(beta), options.pointer_mode),
                              reinterpret_cast<R*>(c), 2 * ldc, options.contract.rounding,
                              static_cast<cudaStream_t>(options.stream));
  }
  update_on_device<std::complex<R>>({m, n}, {}, nullptr, 0, factor_of(beta, options.pointer_mode), c, ldc,
                                    static_cast<cudaStream_t>(options.stream));
}

template <class R>
Plan complex_plan(std::int64_t m, std::int64_t n, std::int64_t k, const Options& options) {
  Plan plan = explain<R>(Op::none, Op::none, 2 * m, n, 2 * k, options);
  relabel(plan, m, n, k);
  if (plan.scheme == "split" || plan.scheme == "none" || options.engine == "native" || !current_gpu().residues)
    return plan;
  const DeviceInt8Engine& engine = find_device_int8_engine(options.engine);
  const auto roots = roots_plan<R>({m, n, k}, Op::none, Op::none, false, options, engine);
  if (!roots || !fits(*roots, options)) return plan;
  const double native = device_native_seconds({2 * m, n, 2 * k}, sizeof(R) == 4, current_gpu());
  if (plan.scheme == "native" && roots->seconds >= native) return plan;
  plan.reason = fmt::format("estimates: {:.3g} ms by residues, {:.3g} ms natively", roots->seconds * 1e3, native * 1e3);
  describe(*roots, engine, plan);
  return plan;
}

template <class R>
std::size_t complex_workspace(std::int64_t m, std::int64_t n, std::int64_t k, const Options& options, bool least) {
  if (m == 0 || n == 0 || k == 0) return 0;
  const std::size_t bytes = copies_bytes<R>(m, n, k, true, true) + gemm_workspace<R>(2 * m, n, 2 * k, options, least);
  if (least || options.engine == "native") return bytes;
  const auto roots =
      roots_plan<R>({m, n, k}, Op::none, Op::transpose, true, options, find_device_int8_engine(options.engine));
  const bool fit = roots && fits(*roots, Options{.workspace_limit = options.workspace_limit});
  return fit ? std::max(bytes, roots->bytes) : bytes;
}

VERNIER_REAL_INSTANCES(complex_gemm, complex_scale, complex_plan, complex_workspace)

}  // namespace vernier::cuda
