#include <algorithm>
#include <optional>
#include <type_traits>

#include "base/duration.hpp"
#include "base/environment.hpp"
#include "base/instantiate.hpp"
#include "base/status.hpp"
#include "blas/choice.hpp"
#include "blas/complex_gemm_cuda.hpp"
#include "blas/level3/routines.hpp"
#include "blas/quarters.hpp"
#include "cuda/cublas.hpp"
#include "cuda/device.hpp"
#include "number/complex.hpp"
#include "product/arguments.hpp"
#include "product/scale.hpp"
#include "residue/gemm_cuda.hpp"
#include "residue/plan/cost.hpp"
#include "residue/regularity.hpp"
#include "split/gemm.hpp"
#include "split/schemes.hpp"
#include "vernier/cuda.hpp"

namespace vernier::cuda {
namespace {

void check_options(const Options& o) {
  check_contract("gemm", o.contract);
  require(o.strassen_levels >= -1 && o.strassen_levels <= 1, "gemm: strassen_levels = {}: expected -1, 0 or 1",
          o.strassen_levels);
  require(o.workspace != nullptr || o.workspace_bytes == 0,
          "gemm: workspace is null, workspace_bytes = {}: expected both or neither", o.workspace_bytes);
}

void multiply_split(const SplitGemmPlan& plan, const SplitOperands& operands,
                    const DeviceResidueProblem<float>& problem, const Options& options, Outcome* outcome) {
  const auto stream = static_cast<cudaStream_t>(options.stream);
  const DeviceWorkspace workspace(plan.workspace, stream, options.workspace);
  const auto scalar = [](const DeviceFactor<float>& x) { return SplitScalar{x.value, x.in_device_memory}; };
  split_gemm(plan, operands, {scalar(problem.to.alpha), scalar(problem.to.beta)}, problem.to.c, problem.to.ldc,
             workspace.data(), stream, without_host(options) ? 0 : split_gemm_patience);
  if (outcome != nullptr)
    check(cudaMemcpyAsync(outcome->words + split_outcome_word, split_gemm_verdict(plan, workspace.data()),
                          sizeof(std::uint32_t), cudaMemcpyDefault, stream),
          "outcome");
}

Cublas& cublas_for(const Options& options) {
  Cublas& cublas = thread_cublas();
  cublas.set_stream(static_cast<cudaStream_t>(options.stream));
  cublas.set_pointer_mode(options.pointer_mode == PointerMode::host ? CUBLAS_POINTER_MODE_HOST
                                                                    : CUBLAS_POINTER_MODE_DEVICE);
  return cublas;
}

// Products by cuBLAS whose factors are in device memory keep C of a part at a time, since alpha may be 0: so many of
// these columns, all of 256 MiB or of the workspace, but at least `least`. 0: the factors are on the host.
template <class T>
std::int64_t kept_columns(std::int64_t rows, std::int64_t columns, std::int64_t least, const Options& options) {
  constexpr std::size_t most = std::size_t{1} << 28;
  if (options.pointer_mode == PointerMode::host || rows == 0 || columns == 0) return 0;
  const std::size_t limit = options.workspace != nullptr ? options.workspace_bytes : options.workspace_limit;
  const std::size_t bytes = limit > 0 ? std::min(most, limit - std::min(limit, Arena::alignment)) : most;
  return std::clamp(static_cast<std::int64_t>(bytes / sizeof(T)) / rows, std::min(least, columns), columns);
}

constexpr std::int64_t least_kept_columns = 256;  // of a matrix: cuBLAS is as fast on so many

// Where it is kept. Its memory and cuBLAS fail before the first product.
template <class T>
struct RoomForC {
  std::int64_t columns;
  std::optional<DeviceWorkspace> memory;

  RoomForC(std::int64_t rows, std::int64_t all_columns, std::int64_t least, const Options& options)
      : columns(kept_columns<T>(rows, all_columns, least, options)) {
    if (columns == 0) return;
    cublas_for(options);
    const std::size_t bytes = static_cast<std::size_t>(rows * columns) * sizeof(T) + Arena::alignment;
    memory.emplace(bytes, static_cast<cudaStream_t>(options.stream),
                   bytes <= options.workspace_bytes ? options.workspace : nullptr);
  }
};

// By cuBLAS, of products whose C is x: multiply(beta). It reads C where beta is -0.
template <class T, class Multiply>
void multiply_natively(const FactoredC<T>& x, const RoomForC<T>& room, const Options& options,
                       const Multiply& multiply) {
  const T zero{};
  if (options.pointer_mode == PointerMode::host) return multiply(*x.beta == zero ? &zero : x.beta);
  if (!room.memory) return multiply(x.beta);
  const auto stream = static_cast<cudaStream_t>(options.stream);
  T* const kept = reinterpret_cast<T*>(Arena::first_page(room.memory->data()));
  keep_where_alpha_is_zero(x, kept, false, stream);
  multiply(x.beta);
  keep_where_alpha_is_zero(x, kept, true, stream);
}

template <class T>
void multiply_columns(const DeviceGemmCall<T>& call, const RoomForC<T>& room, const Options& options) {
  const std::int64_t columns = room.columns > 0 ? room.columns : call.n;
  for (std::int64_t j = 0; j < call.n; j += columns) {
    DeviceGemmCall<T> part = call;
    part.n = std::min(columns, call.n - j);
    part.b += call.opb == Op::none ? j * call.ldb : j;
    part.c += j * call.ldc;
    multiply_natively<T>({part.m, part.n, part.ldc, part.c, part.alpha, part.beta}, room, options, [&](const T* beta) {
      part.beta = beta;
      cublas_for(options).gemm(part);
    });
  }
}

// C = alpha op(A) op(B) + beta C of real matrices by residues, or natively where data or workspace do not let them.
// part: 0, or which quarter of C it is (blas/quarters.hpp).
template <class T>
void planned_gemm(const DeviceGemmCall<T>& call, const Options& given, int part, Report& report) {
  const ProductShape shape = call.shape();
  const DeviceResidueProblem<T> problem = problem_of(call, given.pointer_mode);
  Options options = given;
  options.asynchronous = without_host(given);
  const auto stream = static_cast<cudaStream_t>(options.stream);
  const auto planned = [&](bool may_use_sqrt_rule) {
    DeviceProductPlan plan = plan_of<T>(shape, options, may_use_sqrt_rule);
    plan.part = part;
    if (!plan.residues || plan.exact || options.strassen_levels > 0 || !may_be_symmetric(problem, options.contract) ||
        !(same_place(problem.a, problem.b) || remembered(plan, Past{stream, !options.asynchronous}).symmetric > 0))
      return plan;
    Options plain = options;  // half of all tiles are fewer than seven products of eight
    plain.strassen_levels = 0;
    if (plan.ordinary.form.strassen) plan = plan_of<T>(shape, plain, may_use_sqrt_rule);
    plan.part = part, plan.symmetric = true;
    plan.printable.reason += "; op(B) is taken for op(A) transposed: half of the products where it is";
    return plan;
  };
  DeviceProductPlan plan = planned(true);
  report.plan = plan.printable;
  bool done = false;
  const bool pauses = plan.residues && !plan.exact && plan.native == NativeUse::for_speed;
  if (pauses && (options.asynchronous ? pauses_without_host(stream, plan) : !should_try(stream, plan))) {
    report.fallback = true;
    report.plan.reason += "; of late data of this shape were too wide, so that only some are looked at";
  } else if (plan.residues) {
    if (plan.exact) exact_gemm(plan, int8_engine(options), problem, options, report);
    done = plan.exact || residue_gemm(plan, int8_engine(options), problem, options, report);
    if (!done && !report.fallback && (plan.by_sqrt_rule || plan.bound)) {
      plan = planned(false);
      report.plan = plan.printable;
      report.fallback = !plan.residues;
      report.bounded = false;
      done = plan.residues && residue_gemm(plan, int8_engine(options), problem, options, report);
    }
    const auto learnt = [&] {
      const ProductMemory memory = remembered(plan, Past{stream, true});
      return memory.learnt() || (memory.symmetric > 0 && !plan.symmetric);
    };
    if (pauses && !options.asynchronous) tried(stream, plan, !done && !learnt());
    if (report.fallback && plan.bound && !plan.symmetric && has_quarters(call, options) && !learnt())
      want_quarters(stream, plan);
  }
  if (done) return;
  if (report.fallback) {
    if (part == 0 && !(is_halved_natively(plan) && has_lent_cublas())) LeftFallbacks::check();  // quarters may be done
    describe_native(report.plan);
    report.plan.reason += device_normwise_advice<T>(shape, options.contract, current_gpu());
    if constexpr (std::is_same_v<T, double>) {
      if (part > 0 || is_halved_natively(plan)) {
        report.native_k = multiply_part_natively(call, plan, given);
        return;
      }
    }
  }
  native_gemm(call, given);
}

// C = alpha op(A) op(B) + beta C of real matrices; reads: A and B are.
template <class T>
void real_gemm(const DeviceGemmCall<T>& call, bool reads, const Options& options, Report& report) {
  if (!reads) {
    report.plan = plan_of<T>({call.m, call.n, 0}, options, true).printable;
    report.plan.k = call.k;
    if (call.m > 0 && call.n > 0)
      scale_on_device<T>(call.m, call.n, problem_of(call, options.pointer_mode).to.beta, call.c, call.ldc,
                         options.contract.rounding, static_cast<cudaStream_t>(options.stream));
    return;
  }
  const ProductShape shape = call.shape();
  if constexpr (std::is_same_v<T, float>) {
    if (const auto split = split_plan_of<T>(shape, options)) {
      report.plan = describe_choice<T>(split, shape, options);  // nothing may fail once the product is queued
      return multiply_split(*split, split_operands_of(call), problem_of(call, options.pointer_mode), options,
                            options.outcome);
    }
  }
  if (surely_native<T>(shape, options, report.plan)) return native_gemm(call, options);
  gemm_or_quarters(call, options, 0, report, planned_gemm<T>);
}

}  // namespace

template <class T>
void native_gemm(const DeviceGemmCall<T>& call, const Options& options) {
  multiply_columns(call, RoomForC<T>(call.m, call.n, least_kept_columns, options), options);
}

template <class T>
Report gemm(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, const T* alpha, const T* A,
            std::int64_t lda, const T* B, std::int64_t ldb, const T* beta, T* C, std::int64_t ldc,
            const Options& options) {
  const RoutineMode mode;
  const Clock clock;
  const CaptureTolerance tolerance;  // cuBLAS may load a kernel
  const DeviceGemmCall<T> call{opa, opb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc};
  check_call("gemm", call);
  require(alpha != nullptr, "gemm: alpha is null");
  require(beta != nullptr, "gemm: beta is null");
  const bool reads = reads_operands(call, options);
  check_operands("gemm", reads, A, B);
  require(m == 0 || n == 0 || C != nullptr, "gemm: C is null");
  check_options(options);
  clear_outcome(options);

  Report report;
  if constexpr (is_complex<T>) {
    if (reads)
      report = complex_gemm<RealType<T>>(call, options);
    else
      report.plan = complex_plan<RealType<T>>(m, n, 0, options);
    if (!reads && m > 0 && n > 0) complex_scale(m, n, beta, C, ldc, options);
    report.plan.k = k;
  } else {
    real_gemm(call, reads, options, report);
  }
  report.seconds = clock.seconds();
  return report;
}

template <class T>
Report gemm_unless_wide(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, const T* alpha, const T* A,
                        std::int64_t lda, const T* B, std::int64_t ldb, const T* beta, T* C, std::int64_t ldc,
                        const Options& options) {
  const LeftFallbacks left;
  return gemm<T>(opa, opb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc, options);
}

template <class T>
Plan explain(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, const Options& options) {
  check_shape("gemm", opa, opb, m, n, k);
  check_options(options);
  if constexpr (is_complex<T>) {
    return complex_plan<RealType<T>>(m, n, k, options);
  } else {
    return describe_choice<T>(split_plan_of<T>({m, n, k}, options), {m, n, k}, options);
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
    Options free = options;  // of the caller's workspace
    free.workspace = nullptr, free.workspace_bytes = 0;
    DeviceRequest request = request_of(free, true);
    request.int8_engine = std::string(int8_engine(options).name());
    request.limits = limits_of(int8_engine(options));
    request.workspace_limit = residue_workspace_limit<T>(shape, free, request.limits);
    const std::size_t bytes = device_workspace_bytes<T>(shape, options.contract, request.limits,
                                                        request.workspace_limit, least, options.strassen_levels);
    if (least) return bytes;
    const auto split = split_plan_of<T>(
        shape,
        Options{.contract = options.contract, .engine = options.engine, .workspace_limit = options.workspace_limit});
    return std::max({bytes, device_full_workspace_bytes<T>(shape, request), split ? split->workspace : 0});
  }
}

namespace {

template <class T>
constexpr cublasComputeType_t compute_type =
    std::is_same_v<RealType<T>, float> ? CUBLAS_COMPUTE_32F : CUBLAS_COMPUTE_64F;

template <class T>
constexpr cudaDataType_t cuda_type = std::is_same_v<T, float>                 ? CUDA_R_32F
                                     : std::is_same_v<T, double>              ? CUDA_R_64F
                                     : std::is_same_v<T, std::complex<float>> ? CUDA_C_32F
                                                                              : CUDA_C_64F;

// Queues the batch and describes it; false, and nothing is done, where the products go one by one.
template <class T>
bool queue_at_once(const StridedBatch<T>& batch, const Options& options, Plan& plan) {
  const DeviceGemmCall<T>& p = batch.first;
  const ProductShape shape = p.shape();
  if constexpr (std::is_same_v<T, float>) {
    if (const auto split = split_plan_of<T>(shape, options, batch.count)) {
      plan = describe_choice<T>(split, shape, options);
      multiply_split(*split, split_operands_of(p).batch(batch.count, batch.stride_a, batch.stride_b, batch.stride_c),
                     problem_of(p, options.pointer_mode), options, nullptr);
      return true;
    }
  }
  const auto queue = [&] {
    const RoomForC<T> room(p.m, p.n * batch.count, least_kept_columns, options);
    const std::int64_t each = room.columns > 0 ? room.columns / p.n : batch.count;
    for (std::int64_t first = 0; first < batch.count; first += std::max<std::int64_t>(each, 1)) {
      DeviceGemmCall<T> part = p;
      part.a += first * batch.stride_a, part.b += first * batch.stride_b, part.c += first * batch.stride_c;
      if (each == 0) {  // of a matrix of many columns a part
        multiply_columns(part, room, options);
        continue;
      }
      const std::int64_t count = std::min(each, batch.count - first);
      multiply_natively<T>(
          {p.m, p.n, p.ldc, part.c, p.alpha, p.beta, count, batch.stride_c}, room, options, [&](const T* beta) {
            cublas_for(options).gemm_batch_ex(p.opa, p.opb, p.m, p.n, p.k, p.alpha, part.a, cuda_type<T>, p.lda,
                                              batch.stride_a, part.b, cuda_type<T>, p.ldb, batch.stride_b, beta, part.c,
                                              cuda_type<T>, p.ldc, batch.stride_c, count, compute_type<T>);
          });
    }
  };
  if constexpr (!is_complex<T>) {
    if (surely_native<T>(shape, options, plan)) {
      queue();
      return true;
    }
  }
  plan = explain<T>(p.opa, p.opb, p.m, p.n, p.k, options);
  if (plan.scheme != native_name) return false;
  queue();
  return true;
}

}  // namespace

template <class T>
bool gemm_at_once(const StridedBatch<T>& batch, const Options& options, Report& report) {
  const Clock clock;
  const CaptureTolerance tolerance;
  const DeviceGemmCall<T>& p = batch.first;
  if (!reads_operands(p, options) || batch.count < 2 || batch.stride_c == 0 || p.a == nullptr || p.b == nullptr ||
      p.c == nullptr)
    return false;
  check_options(options);
  if (!queue_at_once(batch, options, report.plan)) return false;
  report.seconds = clock.seconds();
  return true;
}

template <class T>
bool gemm_addressed_natively(const AddressedBatch<T>& batch, const Options& options, Report& report) {
  if constexpr (is_complex<T>) {
    return false;
  } else {
    const Clock clock;
    const CaptureTolerance tolerance;
    const auto& p = batch.call;
    if (p.k == 0 || (options.pointer_mode == PointerMode::host && *p.alpha == T{0})) return false;
    check_options(options);
    const ProductShape shape = p.shape();
    if (addresses_are_worth_a_wait<T>(shape, options, batch.count) || !surely_native<T>(shape, options, report.plan))
      return false;
    const RoomForC<T> room(p.m * p.n, batch.count, 1, options);
    const std::int64_t each = room.columns > 0 ? room.columns : batch.count;
    for (std::int64_t first = 0; first < batch.count; first += each) {
      const std::int64_t count = std::min(each, batch.count - first);
      multiply_natively<T>(
          {p.m, p.n, p.ldc, nullptr, p.alpha, p.beta, count, 0, p.c + first}, room, options, [&](const T* beta) {
            cublas_for(options).gemm_addressed_ex(
                p.opa, p.opb, p.m, p.n, p.k, p.alpha, reinterpret_cast<const void* const*>(p.a + first), p.lda,
                reinterpret_cast<const void* const*>(p.b + first), p.ldb, beta,
                reinterpret_cast<void* const*>(p.c + first), p.ldc, cuda_type<T>, count, compute_type<T>);
          });
    }
    report.seconds = clock.seconds();
    return true;
  }
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

VERNIER_FOR_ALL(VERNIER_CUDA_GEMM, VERNIER_INSTANTIATION)
VERNIER_TYPE_INSTANCES(gemm_at_once, gemm_addressed_natively, native_gemm)

}  // namespace vernier::cuda
