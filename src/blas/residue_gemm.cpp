#include "blas/residue_gemm.hpp"

#include <omp.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <memory>
#include <optional>

#include "base/environment.hpp"
#include "base/status.hpp"
#include "blas/exact_stage.hpp"
#include "scheme/backend.hpp"
#include "scheme/specials.hpp"
#include "scheme/strip.hpp"

namespace vernier {
namespace {

// Elements of C from which its lines are written past the caches.
constexpr std::int64_t large_c = std::int64_t{1} << 21;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

template <class T>
const SchemeBackend<T>& backend_of(const Int8Engine& engine) {
  const bool plain = engine.name() == "portable" || engine.name() == "avx2";
  return plain ? portable_backend<T>() : best_backend<T>();
}

// One product on one workspace. Stages run one after another, each spread over the threads of one parallel region.
template <class T>
class ResidueRun {
 private:
  // Everything that one pass needs beside the run's own data.
  struct PassState {
    const Pass& pass;
    const Blocking& blocking;
    const ResidueSystem& system;
    DigitTables row_digits, column_digits;
    RecombineTables recombine;
    PassBuffers buffers;

    PassState(const Pass& p, Arena arena, const Int8Engine& engine)
        : pass(p),
          blocking(p.blocking),
          system(residue_system(p.blocking.moduli)),
          row_digits(system, PanelSide::rows, p.narrow, p.limbs),
          column_digits(system, PanelSide::columns, p.narrow, p.limbs),
          recombine(system),
          buffers(carve_pass(arena, p.blocking, engine)) {}
  };

 public:
  ResidueRun(const ProductPlan& plan, const ResidueProblem<T>& problem, const Options& options, Report& report,
             Arena arena)
      : plan_(plan),
        problem_(problem),
        options_(options),
        report_(report),
        backend_(backend_of<T>(*plan.engine)),
        arena_(arena),
        vectors_(carve_vectors(arena_, plan.shape, plan.printable.threads, plan.exact)) {
    if (plan.exact) exact_.emplace(plan, problem, backend_, vectors_, report);
  }

  // One read of A and of B: statistics and, where all of C is one block, the planes of the ordinary entries with them.
  void measure() {
    const double start = now();
    const Pass pass = ordinary_pass(plan_);
    const Blocking& b = pass.blocking;
    const ProductShape& s = plan_.shape;
    const PassState state(pass, arena_, *plan_.engine);
    planes_ready_ = s.m <= b.m_block && s.n <= b.n_block && s.k <= b.k_block;
#pragma omp parallel num_threads(threads())
    {
      const FloatingEnvironment environment;
      measure_strips(problem_.a, state, state.row_digits, panel_layout(s.m, s.k), vectors_.a_statistics,
                     vectors_.a_grains, vectors_.a_exponents, state.buffers.a, state.buffers.a_stride);
      measure_strips(problem_.b, state, state.column_digits, panel_layout(s.n, s.k), vectors_.b_statistics,
                     vectors_.b_grains, vectors_.b_exponents, state.buffers.b, state.buffers.b_stride);
    }
    summarise(problem_.a, vectors_.a_statistics, report_.span_a, report_.nonfinite_rows);
    summarise(problem_.b, vectors_.b_statistics, report_.span_b, report_.nonfinite_columns);
    if (exact_) exact_->sample(reinterpret_cast<double*>(state.buffers.scratch), pass.blocking.k_block);
    (planes_ready_ ? report_.seconds_residues : report_.seconds_statistics) += now() - start;
  }

  // Scales from the statistics; where these leave entries wide, block by block of k, if k allows.
  Scaling scale() {
    const double start = now();
    Scaling scaling = exact_ ? exact_->scale() : scale({}, {});
    if (!exact_ && scaling.any_wide && plan_.shape.k <= longest_spanned_k) {
      measure_spans();
      scaling = scale({vectors_.a_costs, rows()}, {vectors_.b_costs, columns()});
    }
    report_.seconds_statistics += now() - start;
    return scaling;
  }

  void run(const PassList& passes) {
    for (int i = 0; i < passes.count; ++i) {
      progress_begin_ = static_cast<double>(i) / passes.count;
      progress_share_ = 1.0 / passes.count;
      run_pass(passes.pass[i]);
    }
    if (options_.progress) options_.progress(1.0);
  }

 private:
  struct Range {
    std::int64_t begin, count;
  };

  int threads() const { return plan_.printable.threads; }

  void measure_strips(const Operand<T>& x, const PassState& state, const DigitTables& digits, const PanelLayout& layout,
                      VectorStatistics* statistics, Grain* grains, int* exponents, std::int8_t* planes,
                      std::size_t stride) {
    T* buffer = reinterpret_cast<T*>(scratch(state));
    const bool fits = x.k <= state.blocking.k_block;
#pragma omp for schedule(dynamic, 1) nowait
    for (std::int64_t strip = 0; strip < layout.strips; ++strip) {
      const std::int64_t first = strip * strip_size, count = std::min<std::int64_t>(strip_size, x.vectors - first);
      const Operand<T> view = fits ? gather_strip(x, first, 0, x.k, buffer) : x;
      backend_.statistics(view, fits ? 0 : first, count, statistics + first);
      if (exact_)
        exact_->measure(fits ? view : Operand<T>{x.at(first, 0), count, x.k, x.ld, x.k_contiguous}, statistics + first,
                        grains + first);
      if (!planes_ready_) continue;
      for (std::int64_t v = 0; v < strip_size; ++v)
        exponents[first + v] = v < count ? ordinary_scale(plan_.rule, x.k, statistics[first + v]) : 0;
      decompose_strip(view, digits, layout, strip, statistics + first, exponents + first, planes, stride);
    }
  }

  std::byte* scratch(const PassState& state) const {
    return state.buffers.scratch + static_cast<std::size_t>(omp_get_thread_num()) * state.buffers.scratch_stride;
  }

  static void summarise(const Operand<T>& x, const VectorStatistics* statistics, int& span, std::int64_t& nonfinite) {
    for (std::int64_t v = 0; v < x.vectors; ++v) {
      span = std::max(span, statistics[v].span());
      nonfinite += statistics[v].nonfinite ? 1 : 0;
    }
  }

  static void set_exponents(const VectorScales* scales, std::int64_t count, bool ordinary, int* out) {
    for (std::int64_t v = 0; v < count; ++v) out[v] = ordinary ? scales[v].ordinary : scales[v].wide;
    for (std::int64_t v = count; v < round_up(count, strip_size); ++v) out[v] = 0;
  }

  std::size_t rows() const { return static_cast<std::size_t>(plan_.shape.m); }
  std::size_t columns() const { return static_cast<std::size_t>(plan_.shape.n); }

  Scaling scale(BlockCosts a_costs, BlockCosts b_costs) {
    return choose_scales(plan_.rule, plan_.shape.k, {vectors_.a_statistics, rows()}, {vectors_.b_statistics, columns()},
                         {vectors_.a_scales, rows()}, {vectors_.b_scales, columns()}, a_costs, b_costs);
  }

  // ceil(log2(1-norm / 2^exponent)), which is positive
  static void set_norm_bits(const VectorStatistics* statistics, std::int64_t count, std::int64_t padded,
                            std::uint8_t* out) {
    std::fill(out, out + padded, no_cost);
    for (std::int64_t v = 0; v < count; ++v)
      if (!statistics[v].zero())
        out[v] = static_cast<std::uint8_t>(std::bit_width(statistics[v].sum - 1) - quantum_bits);
  }

  void measure_spans() {
    const ProductShape& s = plan_.shape;
    const VectorBuffers& v = vectors_;
    set_norm_bits(v.a_statistics, s.m, v.a_stride, v.a_norm_bits);
    set_norm_bits(v.b_statistics, s.n, v.b_stride, v.b_norm_bits);
    std::fill(v.a_costs, v.a_costs + v.a_stride * threads(), std::uint8_t{0});
    std::fill(v.b_costs, v.b_costs + v.b_stride, std::uint8_t{0});
#pragma omp parallel num_threads(threads())
    {
      const FloatingEnvironment environment;
#pragma omp for schedule(dynamic, 1) nowait
      for (std::int64_t i = 0; i < s.m; i += span_lanes)
        backend_.block_deficits(problem_.a, i, v.a_statistics + i, v.a_deficits + i, v.a_stride);
#pragma omp for schedule(dynamic, 1)
      for (std::int64_t j = 0; j < s.n; j += span_lanes)
        backend_.block_deficits(problem_.b, j, v.b_statistics + j, v.b_deficits + j, v.b_stride);
      const SpanCosts costs{.a_deficits = v.a_deficits,
                            .b_deficits = v.b_deficits,
                            .a_stride = v.a_stride,
                            .b_stride = v.b_stride,
                            .blocks = span_blocks(s.k),
                            .rows = s.m,
                            .row_norm_bits = v.a_norm_bits,
                            .column_norm_bits = v.b_norm_bits,
                            .row_costs = v.a_costs + v.a_stride * omp_get_thread_num(),
                            .column_costs = v.b_costs};
#pragma omp for schedule(dynamic, 1)
      for (std::int64_t j = 0; j < s.n; j += span_lanes) backend_.span_costs(costs, j);
    }
    for (int t = 1; t < threads(); ++t)
      for (std::int64_t i = 0; i < s.m; ++i) v.a_costs[i] = std::max(v.a_costs[i], v.a_costs[v.a_stride * t + i]);
  }

  void run_pass(const Pass& pass) {
    const PassState state(pass, arena_, *plan_.engine);
    const ProductShape& s = plan_.shape;
    set_exponents(vectors_.a_scales, s.m, pass.ordinary, vectors_.a_exponents);
    set_exponents(vectors_.b_scales, s.n, pass.ordinary, vectors_.b_exponents);
    if (exact_) exact_->begin_pass(pass.ordinary);
    const Blocking& b = pass.blocking;
    const bool keep_a = s.k <= b.k_block;  // the planes of A then serve all blocks of columns
    for (std::int64_t i = 0; i < s.m; i += b.m_block) {
      const Range rows{i, std::min(b.m_block, s.m - i)};
      for (std::int64_t j = 0; j < s.n; j += b.n_block) {
        const Range columns{j, std::min(b.n_block, s.n - j)};
        if (!block_has_entries(pass, rows, columns)) continue;
        for (std::int64_t l = 0; l < s.k; l += b.k_block) {
          const Range ks{l, std::min(b.k_block, s.k - l)};
          const bool ready = planes_ready_ && pass.ordinary;  // by measure()
          multiply_block(state, rows, columns, ks, !ready && !(keep_a && a_planes_hold(rows)), !ready);
          report_progress(rows, columns, ks);
        }
        recombine_block(state, rows, columns);
      }
    }
    a_planes_rows_ = -1;
  }

  bool a_planes_hold(Range rows) {
    const bool same = a_planes_rows_ == rows.begin;
    a_planes_rows_ = rows.begin;
    return same;
  }

  // Products of one block of C over one block of k, added to what the residue planes of C hold from earlier ones.
  void multiply_block(const PassState& state, Range rows, Range columns, Range ks, bool decompose_a, bool decompose_b) {
    const PanelLayout a_layout = panel_layout(rows.count, ks.count), b_layout = panel_layout(columns.count, ks.count);
    const std::int64_t blocks = divide_up(a_layout.strips, state.blocking.row_block_strips);
    const double start = now();
    double planes_ready = start;
#pragma omp parallel num_threads(threads())
    {
      const FloatingEnvironment environment;
      plan_.engine->enter_thread();
      if (decompose_a)
        decompose_strips(problem_.a, state, state.row_digits, rows, ks, a_layout, vectors_.a_statistics,
                         vectors_.a_exponents, state.buffers.a, state.buffers.a_stride);
      if (decompose_b)
        decompose_strips(problem_.b, state, state.column_digits, columns, ks, b_layout, vectors_.b_statistics,
                         vectors_.b_exponents, state.buffers.b, state.buffers.b_stride);
#pragma omp barrier
#pragma omp master
      planes_ready = now();
#pragma omp for schedule(dynamic, 1) collapse(2)
      for (int q = 0; q < state.system.count; ++q)
        for (std::int64_t block = 0; block < blocks; ++block)
          multiply_item(state, q, block, a_layout, b_layout, rows, columns, ks);
      plan_.engine->leave_thread();
    }
    report_.seconds_residues += planes_ready - start;
    report_.seconds_products += now() - planes_ready;
  }

  // Work-shared over the strips of one operand; no barrier at the end.
  void decompose_strips(const Operand<T>& x, const PassState& state, const DigitTables& digits, Range range, Range ks,
                        const PanelLayout& layout, const VectorStatistics* statistics, const int* exponents,
                        std::int8_t* planes, std::size_t stride) {
    T* buffer = reinterpret_cast<T*>(scratch(state));
#pragma omp for schedule(dynamic, 1) nowait
    for (std::int64_t strip = 0; strip < layout.strips; ++strip) {
      const std::int64_t first = range.begin + strip * strip_size;
      const Operand<T> view = gather_strip(x, first, ks.begin, ks.count, buffer);
      decompose_strip(view, digits, layout, strip, statistics + first, exponents + first, planes, stride);
    }
  }

  // view: the strip's vectors, the k of the block
  void decompose_strip(const Operand<T>& view, const DigitTables& digits, const PanelLayout& layout, std::int64_t strip,
                       const VectorStatistics* statistics, const int* exponents, std::int8_t* planes,
                       std::size_t stride) {
    const bool nonfinite =
        std::any_of(statistics, statistics + view.vectors, [](const auto& v) { return v.nonfinite; });
    backend_.decompose(view, digits,
                       {.k_count = view.k,
                        .scales = exponents,
                        .planes = planes,
                        .plane_bytes = stride,
                        .layout = layout,
                        .strip = strip,
                        .has_nonfinite = nonfinite});
  }

  // One modulus, one block of strips of A, all strips of B that hold entries of this pass.
  void multiply_item(const PassState& state, int q, std::int64_t block, const PanelLayout& a_layout,
                     const PanelLayout& b_layout, Range rows, Range columns, Range ks) {
    const std::int64_t first = block * state.blocking.row_block_strips;
    const std::int64_t strips = std::min(state.blocking.row_block_strips, a_layout.strips - first);
    const auto plane = static_cast<std::size_t>(q);
    const PassBuffers& buffers = state.buffers;
    const std::int64_t c_strips = a_layout.strips;
    const auto multiply = [&](std::int64_t begin, std::int64_t end) {
      if (begin == end) return;
      for (std::int64_t slice = 0; slice < a_layout.slices(); ++slice)
        plan_.engine->multiply(
            {.columns = buffers.b + plane * buffers.b_stride + b_layout.offset(begin, slice * b_layout.slice_steps),
             .column_strips = end - begin,
             .rows = buffers.a + plane * buffers.a_stride + a_layout.offset(first, slice * a_layout.slice_steps),
             .row_strips = strips,
             .steps = a_layout.steps_of(slice),
             .modulus = moduli[plane],
             .accumulate = ks.begin > 0 || slice > 0,
             .out = buffers.c + plane * buffers.c_stride + (begin * c_strips + first) * block_elements,
             .out_strips = c_strips,
             .scratch = scratch(state)});
    };
    if (state.pass.every_entry) return multiply(0, b_layout.strips);
    const Range block_rows{rows.begin + first * strip_size, strips * strip_size};
    std::int64_t begin = 0;  // of the run of strips with entries
    for (std::int64_t t = 0; t < b_layout.strips; ++t) {
      if (block_has_entries(state.pass, block_rows, {columns.begin + t * strip_size, strip_size})) continue;
      multiply(begin, t);
      begin = t + 1;
    }
    multiply(begin, b_layout.strips);
  }

  // Is any entry of these rows and columns written by the pass?
  bool block_has_entries(const Pass& pass, Range rows, Range columns) const {
    if (pass.every_entry) return true;
    const auto kinds = [](const VectorScales* scales, Range range, std::int64_t limit) {
      unsigned set = 0;
      for (std::int64_t v = range.begin; v < std::min(range.begin + range.count, limit); ++v)
        set |= 1u << scales[v].proofs;
      return set;
    };
    const unsigned a = kinds(vectors_.a_scales, rows, plan_.shape.m),
                   b = kinds(vectors_.b_scales, columns, plan_.shape.n);
    for (unsigned x = 0; x < proof_sets; ++x)
      for (unsigned y = 0; y < proof_sets; ++y)
        if ((a >> x & 1u) != 0 && (b >> y & 1u) != 0 && ((x & y) != 0) == pass.ordinary) return true;
    return false;
  }

  void recombine_block(const PassState& state, Range rows, Range columns) {
    const std::int64_t row_strips = divide_up(rows.count, strip_size),
                       column_strips = divide_up(columns.count, strip_size);
    const double start = now();
#pragma omp parallel num_threads(threads())
    {
      const FloatingEnvironment environment;
#pragma omp for schedule(dynamic, 16)
      for (std::int64_t item = 0; item < row_strips * column_strips; ++item) {
        const std::int64_t t = item / row_strips, v = item % row_strips;
        recombine_tile(state, rows.begin + v * strip_size, columns.begin + t * strip_size,
                       state.buffers.c + (t * row_strips + v) * block_elements);
      }
    }
    report_.seconds_recombine += now() - start;
    if (exact_) settle_block(state, rows, columns);
  }

  void settle_block(const PassState& state, Range rows, Range columns) {
    const double start = now();
    const PassBuffers& buffers = state.buffers;
    exact_->settle(state.recombine, {rows.begin, rows.count, columns.begin, columns.count, buffers.c, buffers.c_stride},
                   buffers.scratch, buffers.scratch_stride, state.blocking.k_block);
    report_.seconds_undecided += now() - start;
  }

  void recombine_tile(const PassState& state, std::int64_t i, std::int64_t j, const std::int8_t* residues) {
    const std::int64_t rows = std::min<std::int64_t>(strip_size, plan_.shape.m - i);
    const std::int64_t columns = std::min<std::int64_t>(strip_size, plan_.shape.n - j);
    if (!block_has_entries(state.pass, {i, rows}, {j, columns})) return;
    if (exact_) return exact_->round(state.recombine, residues, state.buffers.c_stride, i, j);
    alignas(64) T tile[block_elements];
    backend_.recombine(state.recombine, residues, state.buffers.c_stride, vectors_.a_exponents + i,
                       vectors_.b_exponents + j, tile);
    if (report_.nonfinite_rows + report_.nonfinite_columns > 0)
      patch_specials(problem_.a, problem_.b, i, j, vectors_.a_statistics + i, vectors_.b_statistics + j, tile);
    const bool every = state.pass.every_entry;
    backend_.update({.alpha = problem_.alpha,
                     .beta = problem_.beta,
                     .c = problem_.c + i + j * problem_.ldc,
                     .ldc = problem_.ldc,
                     .rows = rows,
                     .columns = columns,
                     .large = plan_.shape.m * plan_.shape.n > large_c,
                     .row_scales = every ? nullptr : vectors_.a_scales + i,
                     .column_scales = every ? nullptr : vectors_.b_scales + j,
                     .ordinary = state.pass.ordinary},
                    tile);
  }

  void report_progress(Range rows, Range columns, Range ks) const {
    if (!options_.progress) return;
    const auto size = [](std::int64_t x) { return static_cast<double>(x); };
    const ProductShape& s = plan_.shape;
    const double block = size(rows.count) * size(columns.count);
    const double before = size(rows.begin) * size(s.n) + size(rows.count) * size(columns.begin);
    const double done = (before + block * size(ks.begin + ks.count) / size(s.k)) / (size(s.m) * size(s.n));
    options_.progress(progress_begin_ + progress_share_ * std::min(done, 1.0));
  }

  const ProductPlan& plan_;
  const ResidueProblem<T>& problem_;
  const Options& options_;
  Report& report_;
  const SchemeBackend<T>& backend_;
  Arena arena_;  // of the passes, behind the vectors' data
  VectorBuffers vectors_;
  std::optional<ExactStage<T>> exact_;
  bool planes_ready_ = false;        // measure() has written the planes of the ordinary entries
  std::int64_t a_planes_rows_ = -1;  // first row of the block of A whose planes are in memory
  double progress_begin_ = 0, progress_share_ = 1;
};

}  // namespace

template <class T>
bool residue_gemm(const ProductPlan& plan, const ResidueProblem<T>& problem, const Options& options, Report& report) {
  const FloatingEnvironment environment;  // for the tables; each thread has its own for the data
  const std::size_t bytes = plan.vector_bytes + plan.pass_bytes;
  const std::unique_ptr<Workspace> workspace = options.workspace != nullptr
                                                   ? std::make_unique<Workspace>(options.workspace, bytes)
                                                   : std::make_unique<Workspace>(bytes);
  std::byte* begin = align_to_page(workspace->data());
  const std::size_t room = bytes - static_cast<std::size_t>(begin - workspace->data());
  ResidueRun<T> run(plan, problem, options, report, Arena(begin, room));
  run.measure();
  const Scaling scaling = run.scale();
  report.wide_rows = scaling.wide_rows;
  report.wide_columns = scaling.wide_columns;
  const PassList passes = plan_passes(plan, scaling);
  if (passes.native) {
    const Contract& contract = plan.printable.contract;
    const bool may_fall_back =
        !contract.reproducible && contract.fallback == Fallback::native && plan.native_keeps_contract;
    if (passes.beyond_scheme && !may_fall_back)
      fail(Status::bound_not_met,
           "the exponents of the data are too wide for contract {}: spans up to {} in a row of op(A) and {} in a "
           "column of op(B); "
           "expected what {} moduli hold",
           contract.text(), report.span_a, report.span_b, max_moduli);
    report.fallback = true;
    return false;
  }
  for (int i = 0; i < passes.count; ++i) {
    const Pass& pass = passes.pass[i];
    if (pass.ordinary || pass.every_entry) report.plan.moduli = pass.blocking.moduli;
    if (!pass.ordinary && !plan.exact) report.wide_moduli = pass.blocking.moduli;
  }
  report.plan.log2_modulus_product = log2_product_of_moduli(report.plan.moduli);
  run.run(passes);
  return true;
}

template bool residue_gemm(const ProductPlan&, const ResidueProblem<double>&, const Options&, Report&);
template bool residue_gemm(const ProductPlan&, const ResidueProblem<float>&, const Options&, Report&);

}  // namespace vernier
