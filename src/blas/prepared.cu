// Prepared operands on a GPU: how they are made, and products with them. Products that are not regular are handed to
// cuda::gemm, with the operand's copy.
#include <algorithm>
#include <limits>

#include "base/duration.hpp"
#include "base/environment.hpp"
#include "base/instantiate.hpp"
#include "base/status.hpp"
#include "base/workspace.hpp"
#include "blas/prepared_arguments.hpp"
#include "blas/prepared_run.hpp"
#include "cuda/device.hpp"
#include "product/arguments.hpp"
#include "product/operand_blocks.hpp"
#include "residue/convert/winograd_cuda.hpp"
#include "residue/plan/bounds.hpp"
#include "residue/scale/vector_needs.hpp"

namespace vernier::cuda {
namespace {

constexpr const char* routine = "PreparedOperand";

}  // namespace

template <class T>
void decompose(Side side, const DeviceOperand<T>& x, const ConversionForm& form, bool strassen, cudaStream_t stream) {
  with_operand(side, x, [&](const auto& a, const auto& b) {
    strassen ? decompose_winograd_on_device(a, b, form, stream) : decompose_on_device(a, b, form, stream);
  });
}

template <class T>
PreparedData<T>::PreparedData(Side side, Op op, std::int64_t rows, std::int64_t columns, const T* X, std::int64_t ldx,
                              const Options& options)
    : PreparedFacts{side, rows, columns, options.contract} {
  const CaptureTolerance tolerance;
  check_preparation(side, op, rows, columns, X, ldx);
  check_contract(routine, contract);
  require(options.strassen_levels >= -1 && options.strassen_levels <= 1,
          "{}: strassen_levels = {}: expected -1, 0 or 1", routine, options.strassen_levels);
  check_residues_asked(contract, options.engine);
  const auto stream = static_cast<cudaStream_t>(options.stream);
  if (capturing(stream))
    fail(Status::unsupported, "{}: the stream is being captured; expected one that is not", routine);
  const DeviceInt8Engine& found = find_device_int8_engine(options.engine);
  engine = std::string(found.name());
  device = current_device().number;
  const std::int64_t k = side == Side::left ? columns : rows;
  require(k <= longest_device_k, "{}: k = {}: expected at most {}", routine, k, longest_device_k);
  if (rows == 0 || columns == 0) return;
  const bool left = side == Side::left;
  copy = {nullptr, left ? rows : columns, k, op == Op::none ? rows : columns, left != (op == Op::none)};
  choose(found, options.strassen_levels);
  own_copy(op, X, ldx, stream);
  make_planes(stream);
  summarise(stream);
}

// Everything that does not depend on the elements, as the plan of a product does.
template <class T>
void PreparedData<T>::choose(const DeviceInt8Engine& engine, int strassen_levels) {
  const ProductShape square{copy.vectors, copy.vectors, copy.k};
  const DeviceProductPlan plan =
      plan_device_product<T>(square, {.contract = contract,
                                      .gpu = current_gpu(),
                                      .engine = this->engine,
                                      .int8_engine = this->engine,
                                      .limits = limits_of(engine),
                                      .workspace_limit = std::numeric_limits<std::size_t>::max(),
                                      .may_use_sqrt_rule = true,
                                      .strassen_levels = strassen_levels});
  rule = plan.rule;
  by_sqrt_rule = plan.by_sqrt_rule;
  strassen = plan.ordinary.form.strassen;
  k_block = plan.ordinary.k_block;
  moduli = plan.ordinary.moduli;
  form = {.moduli = moduli,
          .words = ordinary_device_pass(plan).words,
          .form = engine.form(),
          .clusters = cuda::takes_later_kernels()};
}

template <class T>
PreparedData<T>::PreparedData(Side side, const Operand<T>& x, const Options& options)
    : PreparedFacts{side, side == Side::left ? x.vectors : x.k, side == Side::left ? x.k : x.vectors, options.contract},
      copy(x) {
  const auto stream = static_cast<cudaStream_t>(options.stream);
  const DeviceInt8Engine& found = find_device_int8_engine(options.engine);
  engine = std::string(found.name());
  device = current_device().number;
  choose(found, options.strassen_levels);
  Arena count;
  carve(count, 0);
  bytes = count.used();
  pooled_.emplace(bytes, stream);
  Arena arena = pooled_->arena();
  carve(arena, 0);
  make_planes(stream);
  summarise(stream);
}

template <class T>
T* PreparedData<T>::carve(Arena& arena, std::size_t copied) {
  const auto vectors = static_cast<std::size_t>(copy.vectors);
  T* data = arena.take<T>(copied);
  statistics = arena.take<VectorStatistics>(vectors);
  scales = arena.take<int>(vectors);
  device_regularity = arena.take<RegularityState>(1);
  planes_ = arena.take<std::uint8_t>(static_cast<std::size_t>(divide_up(copy.k, k_block)) * plane_bytes(copy.vectors));
  return data;
}

// All memory, and X in it.
template <class T>
void PreparedData<T>::own_copy(Op op, const T* X, std::int64_t ldx, cudaStream_t stream) {
  const std::int64_t lines = op == Op::none ? columns : rows, length = copy.ld;
  const std::size_t copied = static_cast<std::size_t>(lines) * static_cast<std::size_t>(length);
  Arena count;
  carve(count, copied);
  bytes = count.used();
  memory_ = DeviceBuffer<std::byte>(bytes);
  Arena arena(memory_.data(), bytes);
  T* data = carve(arena, copied);
  check(copy_lines(data, static_cast<std::size_t>(length) * sizeof(T), X, static_cast<std::size_t>(ldx) * sizeof(T),
                   static_cast<std::size_t>(length) * sizeof(T), static_cast<std::size_t>(lines), stream),
        "copy of the operand");
  copy.data = data;
}

template <class T>
void PreparedData<T>::make_planes(cudaStream_t stream) {
  const bool at_once = !strassen && copy.k <= k_block;
  with_operand<T>(side, {copy, statistics, scales, at_once ? planes_ : nullptr},
                  [&](const auto& a, const auto& b) { measure_on_device<T>(a, b, rule, form, {}, stream); });
  if (at_once) return;
  for (std::int64_t l = 0; l < copy.k; l += k_block) {
    const Operand<T> part = part_of(copy, {0, copy.vectors}, {l, std::min(k_block, copy.k - l)});
    decompose<T>(side, {part, nullptr, scales, planes(l)}, form, strassen, stream);
  }
}

// This operand's part in what makes a product regular: what the kernel that measures both operands would gather.
template <class T>
void PreparedData<T>::summarise(cudaStream_t stream) {
  const int own = side == Side::left ? 0 : 1;
  const ScaleChooser chooser(rule, copy.k);
  for (const VectorStatistics& v : on_host(statistics, copy.vectors, stream)) {
    if (v.nonfinite) regularity.nonfinite = 1;
    if (v.zero()) continue;
    const VectorNeeds need = chooser.needs(v);
    regularity.shortfall[own] =
        std::max(regularity.shortfall[own], RegularityState::most_allowance - chooser.flat_allowance_2(need));
    regularity.roughness[own] = std::max(regularity.roughness[own], need.roughness_2);
    if (!chooser.proved_by_own_span(need)) regularity.some_not_own[own] = 1;
  }
  check(cudaMemcpyAsync(device_regularity, &regularity, sizeof regularity, cudaMemcpyHostToDevice, stream),
        "prepared operand");
  check(cudaStreamSynchronize(stream), "prepared operand");
}

template <class T>
PreparedOperand<T>::PreparedOperand(Side side, Op op, std::int64_t rows, std::int64_t columns, const T* X,
                                    std::int64_t ldx, const Options& options)
    : AnyPreparedOperand(std::make_shared<const PreparedData<T>>(side, op, rows, columns, X, ldx, options)) {}

// ---- products

namespace {

// The arguments are checked but for those of gemm itself.
template <class T>
PreparedReport multiply(const PreparedFactor<T>& a, const PreparedFactor<T>& b, const ProductShape& s, const T* alpha,
                        const T* beta, T* C, std::int64_t ldc, const Options& options) {
  const RoutineMode mode;
  const Clock clock;
  const CaptureTolerance tolerance;
  require(alpha != nullptr, "gemm: alpha is null");
  require(beta != nullptr, "gemm: beta is null");
  check_contract("gemm", options.contract);
  const bool host = options.pointer_mode == PointerMode::host;
  const bool reads = s.m > 0 && s.n > 0 && s.k > 0 && !(host && *alpha == 0);
  PreparedReport report;
  Options own = options;
  own.engine = (a.prepared != nullptr ? a.prepared : b.prepared)->engine;
  // Before C is written: nothing may fail then.
  std::string reason = prepared_reason(a.prepared != nullptr, b.prepared != nullptr, own.engine);
  if (reads) {
    check_operands("gemm", true, a.x.data, b.x.data);
    check_pointer("gemm", "C", true, C);
    const DeviceResidueProblem<T> problem{
        a.x, b.x, {factor_of(alpha, options.pointer_mode), factor_of(beta, options.pointer_mode), C, ldc}};
    clear_outcome(options);  // what the residues at hand serve is regular
    if (!PreparedRun<T>(a, b, find_device_int8_engine(own.engine), problem, own).run(report)) {
      report = {};
      static_cast<Report&>(report) =
          gemm<T>(a.x.k_contiguous ? Op::transpose : Op::none, b.x.k_contiguous ? Op::none : Op::transpose, s.m, s.n,
                  s.k, alpha, a.x.data, a.x.ld, b.x.data, b.x.ld, beta, C, ldc, own);
    }
  } else {
    static_cast<Report&>(report) = gemm<T>(Op::none, Op::none, s.m, s.n, 0, alpha, nullptr,
                                           std::max<std::int64_t>(s.m, 1), nullptr, 1, beta, C, ldc, own);
    report.plan.k = s.k;
  }
  report.plan.reason = std::move(reason);
  report.seconds = clock.seconds();
  return report;
}

template <class T>
void check_here(const char* name, const PreparedOperand<T>& x) {
  const int device = current_device().number;
  require(x.device() == device, "gemm: {} was prepared on device {}; expected device {}, which is current", name,
          x.device(), device);
}

}  // namespace

template <class T>
PreparedReport gemm(const PreparedOperand<T>& A, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, const T* alpha,
                    const T* B, std::int64_t ldb, const T* beta, T* C, std::int64_t ldc, const Options& options) {
  check_left_product(A, opb, m, n, k, ldb, ldc, options);
  check_here("A", A);
  return multiply<T>({&A.data(), A.data().copy}, {nullptr, columns_of(opb, B, n, k, ldb)}, {m, n, k}, alpha, beta, C,
                     ldc, options);
}

template <class T>
PreparedReport gemm(Op opa, const PreparedOperand<T>& B, std::int64_t m, std::int64_t n, std::int64_t k, const T* alpha,
                    const T* A, std::int64_t lda, const T* beta, T* C, std::int64_t ldc, const Options& options) {
  check_right_product(opa, B, m, n, k, lda, ldc, options);
  check_here("B", B);
  return multiply<T>({nullptr, rows_of(opa, A, m, k, lda)}, {&B.data(), B.data().copy}, {m, n, k}, alpha, beta, C, ldc,
                     options);
}

template <class T>
PreparedReport gemm(const PreparedOperand<T>& A, const PreparedOperand<T>& B, std::int64_t m, std::int64_t n,
                    std::int64_t k, const T* alpha, const T* beta, T* C, std::int64_t ldc, const Options& options) {
  check_prepared_product(A, B, m, n, k, ldc, options);
  for (const auto& [name, x] : {std::pair{"A", &A}, {"B", &B}}) check_here(name, *x);
  return multiply<T>({&A.data(), A.data().copy}, {&B.data(), B.data().copy}, {m, n, k}, alpha, beta, C, ldc, options);
}

#define VERNIER_INSTANTIATE(T)                                                                       \
  template void decompose(Side, const DeviceOperand<T>&, const ConversionForm&, bool, cudaStream_t); \
  template struct PreparedData<T>;                                                                   \
  template class PreparedOperand<T>;                                                                 \
  VERNIER_PREPARED_PRODUCTS(T, const T*)
VERNIER_EACH_REAL(VERNIER_INSTANTIATE)

}  // namespace vernier::cuda
