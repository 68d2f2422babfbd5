// Prepared operands: how they are made, and products with them, which are those of gemm by residues with planes that
// are there.
#include "base/instantiate.hpp"
#include "blas/plan.hpp"
#include "blas/prepared_operand.hpp"

#include <omp.h>

#include <algorithm>

#include "blas/prepared_arguments.hpp"
#include "product/arguments.hpp"
#include "product/native/native.hpp"
#include "product/strip.hpp"
#include "residue/gemm.hpp"
#include "residue/plan/bounds.hpp"

namespace vernier {
namespace {

constexpr const char* routine = "PreparedOperand";

}  // namespace

template <class T>
PreparedData<T>::PreparedData(Side side, Op op, std::int64_t rows, std::int64_t columns, const T* X, std::int64_t ldx,
                              const Options& options)
    : PreparedFacts{side, rows, columns, options.contract} {
  check_preparation(side, op, rows, columns, X, ldx);
  check_options(routine, options);
  const std::string requested = requested_engine(options.engine);
  check_residues_asked(contract, requested);
  const Int8Engine& found = find_int8_engine(options.engine);
  engine = requested.starts_with("model:") ? requested : std::string(found.name());
  if (rows == 0 || columns == 0) return;
  own_copy(op, X, ldx);
  make_planes(found, usable_threads(options.threads));
}

// All memory, and X in it.
template <class T>
void PreparedData<T>::own_copy(Op op, const T* X, std::int64_t ldx) {
  const bool left = side == Side::left;
  const std::int64_t vectors = left ? rows : columns, k = left ? columns : rows;
  const std::int64_t lines = op == Op::none ? columns : rows, length = op == Op::none ? rows : columns;
  const auto padded = static_cast<std::size_t>(round_up(vectors, strip_size));
  planes.vectors = vectors;
  planes.moduli = moduli = ordinary_moduli<T>(contract, k);
  planes.k_block = largest_k_block(k, find_int8_engine(engine));
  planes.stride = plane_stride(static_cast<std::int64_t>(padded) * planes.k_block);
  const auto blocks = static_cast<std::size_t>(divide_up(k, planes.k_block));
  const auto carve = [&](Arena& arena) {
    copy_begin_ = arena.take<T>(size_product({rows, columns}));
    statistics_ = arena.take<VectorStatistics>(padded);
    exponents_ = arena.take<int>(padded);
    planes_begin_ = arena.take<std::int8_t>(blocks * static_cast<std::size_t>(planes.moduli) * planes.stride);
  };
  Arena count;
  carve(count);
  bytes = count.used();
  memory_.emplace(bytes);
  Arena arena = memory_->arena();
  carve(arena);
  planes.statistics = statistics_;
  planes.exponents = exponents_;
  planes.planes = planes_begin_;
  for (std::int64_t j = 0; j < lines; ++j) std::copy_n(X + j * ldx, length, copy_begin_ + j * length);
  copy = {copy_begin_, vectors, k, length, left != (op == Op::none)};
}

template <class T>
void PreparedData<T>::make_planes(const Int8Engine& engine, int threads) {
  const SchemeBackend<T>& backend = backend_of<T>(engine);
  ResiduePlan plan;
  plan.rule = scaling_rule<T>(contract, copy.k);
  plan.ordinary.moduli = planes.moduli;
  const Pass pass = ordinary_pass(plan);
  const DigitTables tables(residue_system(planes.moduli), side == Side::left ? PanelSide::rows : PanelSide::columns,
                           pass.narrow, pass.limbs);
  const auto gathered = static_cast<std::size_t>(strip_size * planes.k_block);
  const Workspace scratch(gathered * sizeof(T) * static_cast<std::size_t>(threads));
#pragma omp parallel num_threads(threads)
  {
    const FloatingEnvironment environment;
    T* buffer = reinterpret_cast<T*>(scratch.data()) + gathered * static_cast<std::size_t>(omp_get_thread_num());
#pragma omp for schedule(dynamic, 1)
    for (std::int64_t first = 0; first < copy.vectors; first += strip_size) {
      const std::int64_t count = std::min<std::int64_t>(strip_size, copy.vectors - first);
      VectorStatistics* statistics = statistics_ + first;
      const bool once = copy.k <= planes.k_block;
      const Operand<T> whole =
          once ? backend.measured_strip(copy, first, 0, copy.k, buffer, statistics) : strip_of(copy, first, 0, copy.k);
      if (!once) backend.statistics(whole, 0, count, statistics);
      bool nonfinite = false;
      for (std::int64_t v = 0; v < strip_size; ++v) {
        exponents_[first + v] = v < count ? ordinary_scale(plan.rule, copy.k, statistics[v]) : 0;
        nonfinite = nonfinite || (v < count && statistics[v].nonfinite);
      }
      for (std::int64_t l = 0; l < copy.k; l += planes.k_block) {
        const Range ks{l, std::min(planes.k_block, copy.k - l)};
        const PlaneView view = planes.of({0, copy.vectors}, ks);
        backend.decompose(once ? whole : gather_strip(copy, first, ks.begin, ks.count, buffer), tables,
                          {.scales = exponents_ + first,
                           .planes = planes_begin_ + (view.planes - planes_begin_),
                           .plane_bytes = planes.stride,
                           .layout = view.layout,
                           .strip = first / strip_size,
                           .has_nonfinite = nonfinite});
      }
    }
  }
}

// ---- products

namespace {

// The first `vectors` of what is prepared, or the caller's.
template <class T>
Operand<T> first_of(const PreparedData<T>* prepared, std::int64_t vectors, const Operand<T>& own) {
  if (prepared == nullptr) return own;
  Operand<T> copy = prepared->copy;
  copy.vectors = vectors;
  return copy;
}

template <class T>
void multiply(const PreparedFactors<T>& f, const ProductShape& s, T alpha, T beta, T* C, std::int64_t ldc,
              const Options& options, PreparedReport& report) {
  const Sides<bool> ready{f.prepared.a != nullptr, f.prepared.b != nullptr};
  const PreparedData<T>& any = ready.a ? *f.prepared.a : *f.prepared.b;
  Options own = options;
  own.engine = any.engine;
  ResiduePlan plan = with_prepared(plan_product<T>(s, own), {ready.a, ready.b, any.planes.k_block});
  plan.printable.reason = prepared_reason(ready.a, ready.b, any.engine);
  report.plan = plan.printable;
  bool planes_read = false;
  ResidueProblem<T> problem{
      {first_of(f.prepared.a, s.m, f.own.a), first_of(f.prepared.b, s.n, f.own.b), {alpha, beta, C, ldc}}};
  for (const Side side : both_sides)
    if (ready[side]) problem.prepared[side] = &f.prepared[side]->planes;
  problem.prepared_planes_read = &planes_read;
  if (!residue_gemm(plan, problem, own, report)) {
    describe_native(report.plan, native_name());
    return native_gemm<T>(
        {problem.a.k_contiguous ? Op::transpose : Op::none, problem.b.k_contiguous ? Op::none : Op::transpose, s.m, s.n,
         s.k, alpha, problem.a.data, problem.a.ld, problem.b.data, problem.b.ld, beta, C, ldc},
        options.threads, options.progress);
  }
  const PreparedSides& read = plan.ordinary.prepared;
  report.prepared_a = planes_read && read.a, report.prepared_b = planes_read && read.b;
}

}  // namespace

template <class T>
PreparedReport prepared_product(const PreparedFactors<T>& f, const ProductShape& s, T alpha, T beta, T* C,
                                std::int64_t ldc, const Options& options) {
  const GemmCall<T> call{.m = s.m, .n = s.n, .k = s.k, .alpha = alpha, .beta = beta, .c = C, .ldc = ldc};
  const auto there = [&](Side side) { return f.prepared[side] != nullptr || f.own[side].data != nullptr; };
  return product_or_update(call, {there(Side::left), there(Side::right)}, options,
                           [&](PreparedReport& report) { multiply(f, s, alpha, beta, C, ldc, options, report); });
}

template <class T>
PreparedReport gemm(const PreparedOperand<T>& A, Op opb, std::int64_t m, std::int64_t n, std::int64_t k,
                    Scalar<T> alpha, const T* B, std::int64_t ldb, Scalar<T> beta, T* C, std::int64_t ldc,
                    const Options& options) {
  check_left_product(A, opb, m, n, k, ldb, ldc, options);
  return prepared_product<T>({{&A.data()}, {{}, columns_of(opb, B, n, k, ldb)}}, {m, n, k}, alpha, beta, C, ldc,
                             options);
}

template <class T>
PreparedReport gemm(Op opa, const PreparedOperand<T>& B, std::int64_t m, std::int64_t n, std::int64_t k,
                    Scalar<T> alpha, const T* A, std::int64_t lda, Scalar<T> beta, T* C, std::int64_t ldc,
                    const Options& options) {
  check_right_product(opa, B, m, n, k, lda, ldc, options);
  return prepared_product<T>({{nullptr, &B.data()}, {rows_of(opa, A, m, k, lda)}}, {m, n, k}, alpha, beta, C, ldc,
                             options);
}

template <class T>
PreparedReport gemm(const PreparedOperand<T>& A, const PreparedOperand<T>& B, std::int64_t m, std::int64_t n,
                    std::int64_t k, Scalar<T> alpha, Scalar<T> beta, T* C, std::int64_t ldc, const Options& options) {
  check_prepared_product(A, B, m, n, k, ldc, options);
  return prepared_product<T>({{&A.data(), &B.data()}, {}}, {m, n, k}, alpha, beta, C, ldc, options);
}

#define VERNIER_INSTANTIATE(T)                    \
  template struct PreparedData<T>;                \
  template class PreparedOperand<T>;              \
  template struct Instances<prepared_product<T>>; \
  VERNIER_PREPARED_PRODUCTS(T, T)
VERNIER_EACH_REAL(VERNIER_INSTANTIATE)

}  // namespace vernier
