#include <algorithm>
#include <chrono>
#include <optional>
#include <type_traits>

#include "base/status.hpp"
#include "blas/arguments.hpp"
#include "blas/batched_cuda.hpp"
#include "blas/complex_gemm_cuda.hpp"
#include "blas/device_state.hpp"
#include "blas/exact_gemm_cuda.hpp"
#include "blas/residue_gemm_cuda.hpp"
#include "blas/split_gemm.hpp"
#include "cuda/cublas.hpp"
#include "cuda/device.hpp"
#include "number/complex.hpp"
#include "vernier/cuda.hpp"

namespace vernier::cuda {
namespace {

constexpr std::string_view native_name = "native";

// From this size on the default limit looks at what is free.
constexpr std::size_t large_workspace = std::size_t{4} << 30;

void check_options(const Options& o) {
  check_contract("gemm", o.contract);
  require(o.strassen_levels >= -1 && o.strassen_levels <= 1, "gemm: strassen_levels = {}: expected -1, 0 or 1",
          o.strassen_levels);
  require(o.workspace != nullptr || o.workspace_bytes == 0,
          "gemm: workspace is null, workspace_bytes = {}: expected both or neither", o.workspace_bytes);
}

const DeviceInt8Engine& int8_engine(const Options& options) {
  return find_device_int8_engine(options.engine == native_name ? "" : options.engine);
}

DeviceLimits limits_of(const DeviceInt8Engine& engine) {
  return {.longest_k = engine.longest_k(), .int32_sums = engine.scratch_bytes(1, 1) != 0};
}

template <class T>
std::size_t workspace_limit(const ProductShape& shape, const Options& options, const DeviceLimits& limits) {
  if (options.workspace != nullptr) return options.workspace_bytes;
  if (options.workspace_limit != 0) return options.workspace_limit;
  const std::size_t half = current_device().memory_bytes / 2;
  const std::size_t wanted =
      device_workspace_bytes<T>(shape, options.contract, limits, half, false, options.strassen_levels);
  if (wanted <= large_workspace) return std::max(half, wanted);
  return std::min(half, available_device_memory() / 16 * 15);
}

template <class T>
DeviceProductPlan plan_of(const ProductShape& shape, const Options& options, bool may_be_lean) {
  const DeviceInt8Engine& engine = int8_engine(options);
  const DeviceLimits limits = limits_of(engine);
  return plan_device_product<T>(shape, {.contract = options.contract,
                                        .engine = options.engine,
                                        .int8_engine = std::string(engine.name()),
                                        .limits = limits,
                                        .workspace_limit = workspace_limit<T>(shape, options, limits),
                                        .own_workspace = options.workspace != nullptr,
                                        .may_be_lean = may_be_lean,
                                        .asynchronous = options.asynchronous,
                                        .strassen_levels = options.strassen_levels});
}

// Contract fp32 by products of split matrices, where they are faster than cuBLAS and the workspace holds them. They
// beat residues wherever they beat cuBLAS, and keep the contract for any data.
template <class T>
std::optional<SplitGemmPlan> split_plan_of(const ProductShape& s, const Options& options, std::int64_t products = 1) {
  if (!std::is_same_v<T, float> || options.contract.kind != Contract::Kind::fp32) return {};
  if (options.contract.reproducible || !options.engine.empty() || !current_device().hopper()) return {};
  if (!split_gemm_pays(s.m, s.n, s.k, products)) return {};
  const SplitGemmPlan plan = plan_split_gemm(s.m, s.n, s.k, products);
  const bool fits = plan.workspace <= workspace_limit<T>(s, options, limits_of(int8_engine(options)));
  return fits ? std::optional(plan) : std::nullopt;
}

// The plan of the report, without the workspace that residues would ask for where they are not taken.
template <class T>
DeviceProductPlan plan_beside(const std::optional<SplitGemmPlan>& split, const ProductShape& shape,
                              const Options& options) {
  if (!split) return plan_of<T>(shape, options, true);
  return plan_of<T>(shape, {.contract = options.contract, .engine = std::string(native_name)}, false);
}

void multiply_split(const SplitGemmPlan& plan, const SplitOperands& operands, const DeviceFactor<float>& alpha,
                    const DeviceFactor<float>& beta, float* C, std::int64_t ldc, const Options& options) {
  const auto stream = static_cast<cudaStream_t>(options.stream);
  const DeviceWorkspace workspace = options.workspace != nullptr
                                        ? DeviceWorkspace(options.workspace, options.workspace_bytes)
                                        : DeviceWorkspace(plan.workspace, stream);
  split_gemm(plan, operands, {alpha.value, alpha.in_device_memory}, {beta.value, beta.in_device_memory}, C, ldc,
             workspace.data(), stream);
}

template <class T>
DeviceFactor<T> factor(const T* x, PointerMode mode) {
  return mode == PointerMode::host ? DeviceFactor<T>{.value = *x} : DeviceFactor<T>{.in_device_memory = x};
}

Cublas& cublas_for(const Options& options) {
  Cublas& cublas = thread_cublas();
  cublas.set_stream(static_cast<cudaStream_t>(options.stream));
  cublas.set_pointer_mode(options.pointer_mode == PointerMode::host ? CUBLAS_POINTER_MODE_HOST
                                                                    : CUBLAS_POINTER_MODE_DEVICE);
  return cublas;
}

// C = alpha op(A) op(B) + beta C of real matrices; reads: A and B are.
template <class T>
Report real_gemm(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, const T* alpha, const T* A,
                 std::int64_t lda, const T* B, std::int64_t ldb, const T* beta, T* C, std::int64_t ldc, bool reads,
                 const Options& given) {
  Report report;
  Options options = given;
  options.asynchronous = without_host(given);
  const auto split = reads ? split_plan_of<T>({m, n, k}, options) : std::nullopt;
  DeviceProductPlan plan = plan_beside<T>(split, {m, n, reads ? k : 0}, options);
  report.plan = plan.printable;
  report.plan.k = k;
  const auto stream = static_cast<cudaStream_t>(options.stream);
  const DeviceFactor<T> a = factor(alpha, options.pointer_mode), b = factor(beta, options.pointer_mode);
  if (m == 0 || n == 0) return report;
  if (!reads) {
    scale_on_device<T>(m, n, b, C, ldc, stream);
  } else {
    bool done = false;
    if constexpr (std::is_same_v<T, float>) {
      if (split) {
        describe(*split, report.plan);
        multiply_split(*split, split_operands_of(opa, opb, m, n, k, A, lda, B, ldb), a, b, C, ldc, options);
        done = true;
      }
    }
    if (!done && plan.residues) {
      const DeviceResidueProblem<T> problem{rows_of(opa, A, m, k, lda), columns_of(opb, B, n, k, ldb), a, b, C, ldc};
      if (plan.exact) exact_gemm(plan, int8_engine(options), problem, options, report);
      done = plan.exact || residue_gemm(plan, int8_engine(options), problem, options, report);
      if (!done && plan.lean) {
        plan = plan_of<T>({m, n, k}, options, false);
        report.plan = plan.printable;
        report.fallback = !plan.residues;
        done = plan.residues && residue_gemm(plan, int8_engine(options), problem, options, report);
      }
    }
    if (!done) {
      if (report.fallback) {
        report.plan.scheme = native_name;
        report.plan.engine = "cublas";
        report.plan.moduli = 0;
      }
      cublas_for(options).gemm(opa, opb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
    }
  }
  return report;
}

}  // namespace

template <class T>
Report gemm(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, const T* alpha, const T* A,
            std::int64_t lda, const T* B, std::int64_t ldb, const T* beta, T* C, std::int64_t ldc,
            const Options& options) {
  const auto start = std::chrono::steady_clock::now();
  const CaptureTolerance tolerance;
  check_shape("gemm", opa, opb, m, n, k);
  check_leading_dimensions("gemm", opa, opb, m, n, k, lda, ldb, ldc);
  require(alpha != nullptr, "gemm: alpha is null");
  require(beta != nullptr, "gemm: beta is null");
  const bool reads = k > 0 && m > 0 && n > 0 && (options.pointer_mode == PointerMode::device || *alpha != T{0});
  require(!reads || A != nullptr, "gemm: A is null");
  require(!reads || B != nullptr, "gemm: B is null");
  require(m == 0 || n == 0 || C != nullptr, "gemm: C is null");
  check_options(options);
  if (options.outcome != nullptr)
    check(cudaMemsetAsync(options.outcome, 0, sizeof(Outcome), static_cast<cudaStream_t>(options.stream)), "outcome");

  Report report;
  if constexpr (is_complex<T>) {
    if (reads)
      report = complex_gemm<RealType<T>>({opa, opb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc}, options);
    else
      report.plan = complex_plan<RealType<T>>(m, n, 0, options);
    if (!reads && m > 0 && n > 0) complex_scale(m, n, beta, C, ldc, options);
    report.plan.k = k;
  } else {
    report = real_gemm(opa, opb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc, reads, options);
  }
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

template <class T>
Plan explain(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, const Options& options) {
  check_shape("gemm", opa, opb, m, n, k);
  check_options(options);
  if constexpr (is_complex<T>) {
    return complex_plan<RealType<T>>(m, n, k, options);
  } else {
    const auto split = split_plan_of<T>({m, n, k}, options);
    Plan printable = plan_beside<T>(split, {m, n, k}, options).printable;
    if (split) describe(*split, printable);
    return printable;
  }
}

template <class T>
std::size_t gemm_workspace(std::int64_t m, std::int64_t n, std::int64_t k, const Options& options, bool least) {
  check_shape("gemm", Op::none, Op::none, m, n, k);
  check_options(options);
  if constexpr (is_complex<T>) {
    return complex_workspace<RealType<T>>(m, n, k, options, least);
  } else {
    const ProductShape shape{m, n, k};
    const DeviceLimits limits = limits_of(int8_engine(options));
    const std::size_t limit = workspace_limit<T>(shape,
                                                 Options{.contract = options.contract,
                                                         .workspace_limit = options.workspace_limit,
                                                         .strassen_levels = options.strassen_levels},
                                                 limits);
    const std::size_t bytes =
        device_workspace_bytes<T>(shape, options.contract, limits, limit, least, options.strassen_levels);
    if (least) return bytes;
    const auto split = split_plan_of<T>(
        shape,
        Options{.contract = options.contract, .engine = options.engine, .workspace_limit = options.workspace_limit});
    return split ? std::max(bytes, split->workspace) : bytes;
  }
}

namespace {

template <class T>
constexpr cudaDataType_t cuda_type = std::is_same_v<T, float>                 ? CUDA_R_32F
                                     : std::is_same_v<T, double>              ? CUDA_R_64F
                                     : std::is_same_v<T, std::complex<float>> ? CUDA_C_32F
                                                                              : CUDA_C_64F;

}  // namespace

template <class T>
std::optional<Report> gemm_at_once(const StridedBatch<T>& p, const Options& options) {
  const auto start = std::chrono::steady_clock::now();
  const CaptureTolerance tolerance;
  const bool reads = p.m > 0 && p.n > 0 && p.k > 0 && (options.pointer_mode == PointerMode::device || *p.alpha != T{0});
  if (p.count < 2 || p.stride_c == 0 || !reads || p.A == nullptr || p.B == nullptr || p.C == nullptr) return {};
  check_options(options);
  Report report;
  if constexpr (std::is_same_v<T, float>) {
    if (const auto split = split_plan_of<T>({p.m, p.n, p.k}, options, p.count)) {
      report.plan = plan_beside<T>(split, {p.m, p.n, p.k}, options).printable;
      describe(*split, report.plan);
      multiply_split(*split,
                     split_operands_of(p.opa, p.opb, p.m, p.n, p.k, p.A, p.lda, p.B, p.ldb)
                         .batch(p.count, p.stride_a, p.stride_b, p.stride_c),
                     factor(p.alpha, options.pointer_mode), factor(p.beta, options.pointer_mode), p.C, p.ldc, options);
    }
  }
  if (report.plan.scheme.empty()) {
    report.plan = explain<T>(p.opa, p.opb, p.m, p.n, p.k, options);
    if (report.plan.scheme != native_name) return {};
    cublas_for(options).gemm_batch_ex(p.opa, p.opb, p.m, p.n, p.k, p.alpha, p.A, cuda_type<T>, p.lda, p.stride_a, p.B,
                                      cuda_type<T>, p.ldb, p.stride_b, p.beta, p.C, cuda_type<T>, p.ldc, p.stride_c,
                                      p.count,
                                      std::is_same_v<RealType<T>, float> ? CUBLAS_COMPUTE_32F : CUBLAS_COMPUTE_64F);
  }
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

void release_workspace() { release_device_memory(); }

std::vector<EngineInfo> engines() {
  std::vector<EngineInfo> list;
  for (const DeviceInt8Engine* engine : device_int8_engines()) {
    const std::string missing = engine->missing();
    list.push_back({std::string(engine->name()), std::string(engine->description()), missing.empty(), missing});
  }
  return list;
}

std::string device_name() { return current_device().name; }

// For every type T of gemm.
#define VERNIER_INSTANTIATE(T)                                                                                       \
  template Report gemm(Op, Op, std::int64_t, std::int64_t, std::int64_t, const T*, const T*, std::int64_t, const T*, \
                       std::int64_t, const T*, T*, std::int64_t, const Options&);                                    \
  template Plan explain<T>(Op, Op, std::int64_t, std::int64_t, std::int64_t, const Options&);                        \
  template std::size_t gemm_workspace<T>(std::int64_t, std::int64_t, std::int64_t, const Options&, bool);            \
  template std::optional<Report> gemm_at_once(const StridedBatch<T>&, const Options&);
VERNIER_INSTANTIATE(float)
VERNIER_INSTANTIATE(double)
VERNIER_INSTANTIATE(std::complex<float>)
VERNIER_INSTANTIATE(std::complex<double>)
#undef VERNIER_INSTANTIATE

}  // namespace vernier::cuda
