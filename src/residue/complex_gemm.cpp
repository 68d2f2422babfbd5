#include <omp.h>

#include <algorithm>
#include <complex>

#include "base/environment.hpp"
#include "base/instantiate.hpp"
#include "base/workspace.hpp"
#include "product/progress.hpp"
#include "product/stage_clock.hpp"
#include "product/update.hpp"
#include "residue/block_loops.hpp"
#include "residue/gemm.hpp"
#include "residue/wide_sample.hpp"
#include "vernier/level3.hpp"

namespace vernier {

template <class R>
struct ComplexSide {
  Operand<std::complex<R>> x;
  bool conjugated;
  const DigitTables& digits;
  SideVectors vectors;
  PlaneMemory memory;  // of the block at hand
};

// Elements between the vectors of a gathered strip, so that they do not fall into the same cache sets.
inline constexpr std::int64_t vector_padding = 8;

template <class R>
void split_parts(const std::complex<R>* z, std::int64_t count, bool conjugated, R* real, R* imaginary) {
  const R sign = conjugated ? R{-1} : R{1};
  for (std::int64_t i = 0; i < count; ++i) {
    real[i] = z[i].real();
    imaginary[i] = sign * z[i].imag();
  }
}

// Up to 32 vectors as 2k real numbers each: real parts, then imaginary parts. buffer: 32 (2k + vector_padding)
// elements.
template <class R>
Operand<R> gather_parts(const Operand<std::complex<R>>& x, bool conjugated, std::int64_t first, R* buffer) {
  const std::int64_t k = x.k, count = std::min<std::int64_t>(strip_size, x.vectors - first);
  if (x.k_contiguous) {
    const std::int64_t ld = 2 * k + vector_padding;
    for (std::int64_t v = 0; v < count; ++v)
      split_parts(x.at(first + v, 0), k, conjugated, buffer + v * ld, buffer + v * ld + k);
    return {buffer, count, 2 * k, ld, true};
  }
  constexpr std::int64_t ahead = 12;  // each k may lie in another page: the hardware does not see it coming
  constexpr auto line = static_cast<std::int64_t>(64 / sizeof(std::complex<R>));
  for (std::int64_t l = 0; l < k; ++l) {
    if (l + ahead < k)
      for (std::int64_t i = 0; i < count; i += line) __builtin_prefetch(x.at(first + i, l + ahead));
    R *real = buffer + l * strip_size, *imaginary = buffer + (k + l) * strip_size;
    split_parts(x.at(first, l), count, conjugated, real, imaginary);
    std::fill(real + count, real + strip_size, R{0});
    std::fill(imaginary + count, imaginary + strip_size, R{0});
  }
  return {buffer, count, 2 * k, strip_size, false};
}

namespace {

enum class StripWork { measure, convert, both };

// Elements of C from which its lines are written past the caches.
constexpr std::int64_t large_complex_c = std::int64_t{1} << 20;

constexpr int parts = 3;

struct Buffers {
  Sides<SideVectors> vectors;
  std::byte* scratch = nullptr;  // a strip of each thread
  std::size_t scratch_stride = 0;
  PassBuffers pass;
};

// All but the planes.
Buffers carve_own(Arena& arena, const ComplexResiduePlan& plan) {
  const ProductShape& s = plan.shape;
  const auto threads = static_cast<std::size_t>(plan.doubled.printable.threads);
  Buffers buffers;
  buffers.vectors.a.count = s.m, buffers.vectors.b.count = s.n;
  for (SideVectors* x : {&buffers.vectors.a, &buffers.vectors.b}) {
    const auto count = static_cast<std::size_t>(round_up(x->count, strip_size));
    x->statistics = arena.take<VectorStatistics>(count);
    x->proofs = arena.take<VectorProof>(count);
    x->scales = arena.take<int>(count);
  }
  const auto element = static_cast<std::int64_t>(sizeof(double));
  const std::int64_t strip = element * strip_size * (2 * s.k + vector_padding);
  buffers.scratch_stride = static_cast<std::size_t>(round_up(strip, static_cast<std::int64_t>(Arena::alignment)));
  buffers.scratch = arena.take<std::byte>(threads * buffers.scratch_stride);
  return buffers;
}

Buffers carve(Arena& arena, const ComplexResiduePlan& plan) {
  Buffers buffers = carve_own(arena, plan);
  buffers.pass = carve_pass(arena, plan.blocking, *plan.doubled.engine);
  return buffers;
}

template <class R>
class ComplexRun {
 public:
  ComplexRun(const ComplexResiduePlan& plan, const ComplexProblem<R>& problem, const Options& options, Report& report,
             Arena arena)
      : plan_(plan),
        p_(problem),
        progress_(options.progress),
        report_(report),
        engine_(*plan.doubled.engine),
        backend_(backend_of<R>(engine_)),
        count_(plan.doubled.ordinary.moduli),
        recombine_(recombine_tables(count_)),
        buffers_(carve(arena, plan)),
        sides_{side_of(Side::left, problem.rows(), problem.opa), side_of(Side::right, problem.columns(), problem.opb)} {
  }

  // Statistics of all vectors, and with them the planes of the first block.
  void measure() {
    const Range rows = block_of_rows(0), columns = block_of_columns(0);
#pragma omp parallel num_threads(threads())
    {
      const FloatingEnvironment environment;
      StageClock clock;
      const std::pair<const ComplexSide<R>&, Range> first_block[] = {{sides_.a, rows}, {sides_.b, columns}};
      for (const auto& [side, vectors] : first_block) strips(side, vectors, StripWork::both);
      for (const auto& [side, vectors] : first_block)
        strips(side, {vectors.count, side.x.vectors - vectors.count}, StripWork::measure);
#pragma omp barrier
      clock.lap(report_.seconds_residues);
    }
  }

  // Do the scales of ordinary entries serve all of C?
  bool regular() {
    const auto& [a, b] = buffers_.vectors;
    for (const auto& vectors : {a.all_statistics(), b.all_statistics()})
      if (std::ranges::any_of(vectors, &VectorStatistics::nonfinite)) return false;
    return !choose_scales(plan_.doubled.rule, plan_.doubled.shape.k, a.all_statistics(), b.all_statistics(),
                          a.all_proofs(), b.all_proofs())
                .any_wide;
  }

  // Of irregular data.
  bool native_wins_by_widest() const {
    const auto& [a, b] = sides_;
    return native_wins<std::complex<R>>(plan_.doubled, {a.x, a.vectors.statistics}, {b.x, b.vectors.statistics});
  }

  void run() {
    const ProductShape& s = plan_.shape;
    for (std::int64_t i = 0; i < s.m; i += plan_.blocking.m_block)
      for (std::int64_t j = 0; j < s.n; j += plan_.blocking.n_block) {
        const bool new_columns = j > 0 || (i > 0 && plan_.blocking.n_block < s.n);
        const Range rows = block_of_rows(i), columns = block_of_columns(j);
        run_block(rows, columns, {i > 0 && j == 0, new_columns}, WorkShare{}.of(rows, s.m).of(columns, s.n));
      }
    progress_.finish();
    const auto& [a, b] = buffers_.vectors;
    for (const VectorStatistics& v : a.all_statistics()) report_.span_a = std::max(report_.span_a, v.span());
    for (const VectorStatistics& v : b.all_statistics()) report_.span_b = std::max(report_.span_b, v.span());
  }

 private:
  int threads() const { return plan_.doubled.printable.threads; }
  ComplexSide<R> side_of(Side side, const Operand<std::complex<R>>& x, Op op) const {
    const Pass pass = ordinary_pass(plan_.doubled);
    return {x, op == Op::conjugate_transpose,
            digit_tables(count_, side == Side::left ? PanelSide::rows : PanelSide::columns, pass.narrow, pass.limbs),
            buffers_.vectors[side], buffers_.pass[side]};
  }
  Range block_of_rows(std::int64_t i) const { return {i, std::min(plan_.blocking.m_block, plan_.shape.m - i)}; }
  Range block_of_columns(std::int64_t j) const { return {j, std::min(plan_.blocking.n_block, plan_.shape.n - j)}; }
  std::size_t part_bytes(std::size_t plane_bytes) const { return static_cast<std::size_t>(count_) * plane_bytes; }

  // Work-shared over the strips of some vectors; no barrier at the end. Measured are statistics and ordinary scales.
  void strips(const ComplexSide<R>& side, Range vectors, StripWork work) const {
    const std::int64_t k = side.x.k;
    R* buffer = reinterpret_cast<R*>(buffers_.scratch +
                                     buffers_.scratch_stride * static_cast<std::size_t>(omp_get_thread_num()));
    const PanelLayout layout = panel_layout(vectors.count, k);
#pragma omp for schedule(dynamic, 1) nowait
    for (std::int64_t index = 0; index < layout.strips; ++index) {
      const std::int64_t first = vectors.begin + index * strip_size;
      const Operand<R> strip = gather_parts(side.x, side.conjugated, first, buffer);
      VectorStatistics* statistics = side.vectors.statistics + first;
      int* scales = side.vectors.scales + first;
      if (work != StripWork::convert) {
        backend_.statistics(strip, 0, strip.vectors, statistics);
        for (std::int64_t v = 0; v < strip_size; ++v)
          scales[v] = v < strip.vectors ? ordinary_scale(plan_.doubled.rule, strip.k, statistics[v]) : 0;
      }
      if (work == StripWork::measure) continue;
      const auto half = [&](std::int64_t l) {
        return Operand<R>{strip.at(0, l), strip.vectors, k, strip.ld, strip.k_contiguous};
      };
      backend_.decompose_complex({half(0), half(k)}, side.digits,
                                 {.scales = scales,
                                  .planes = side.memory.planes,
                                  .plane_bytes = side.memory.stride,
                                  .layout = layout,
                                  .strip = index,
                                  .has_nonfinite = std::any_of(statistics, statistics + strip.vectors,
                                                               [](const VectorStatistics& v) { return v.nonfinite; }),
                                  .cached = plan_.blocking.cached},
                                 part_bytes(side.memory.stride));
    }
  }

  void run_block(Range rows, Range columns, const Sides<bool>& convert, const WorkShare& share) {
    const WorkShare products = share.of(convert.a || convert.b ? 0.1 : 0, 0.9), recombination = share.of(0.9, 1);
    const PanelLayout a = panel_layout(rows.count, plan_.shape.k), b = panel_layout(columns.count, plan_.shape.k);
    const PassBuffers& pass = buffers_.pass;
    // Plane by plane: of real parts modulo all p, of imaginary parts, of sums.
    const BlockPlanes planes{.engine = engine_,
                             .buffers = pass,
                             .planes = {{pass.a.planes, pass.a.stride, a, 0}, {pass.b.planes, pass.b.stride, b, 0}},
                             .row_strips = a.strips,
                             .column_strips = b.strips,
                             .count = parts * count_,
                             .moduli_count = count_};
#pragma omp parallel num_threads(threads())
    {
      const FloatingEnvironment environment;
      StageClock clock;
      engine_.enter_thread();
      if (convert.a) strips(sides_.a, rows, StripWork::convert);
      if (convert.b) strips(sides_.b, columns, StripWork::convert);
#pragma omp barrier
      clock.lap(report_.seconds_residues);
      progress_.at(products.begin, engine_);
      share_products(planes, plan_.blocking.item, progress_, products,
                     [&](const ProductItem& item) { planes.multiply(item); });
      clock.lap(report_.seconds_products);
      progress_.at(recombination.begin, engine_);
      share_tiles(planes, rows, columns, backend_, progress_, recombination,
                  [this](std::int64_t i, std::int64_t j, const std::int8_t* x) { recombine_tile(i, j, x); });
      clock.lap(report_.seconds_recombine);
      engine_.leave_thread();
    }
  }

  void recombine_tile(std::int64_t i, std::int64_t j, const std::int8_t* products) const {
    const std::size_t stride = buffers_.pass.c.stride;
    alignas(64) R x[block_elements], y[block_elements];
    backend_.recombine_complex(recombine_, {products, stride, part_bytes(stride)}, sides_.a.vectors.scales + i,
                               sides_.b.vectors.scales + j, x, y);
    update(i, j, x, y);
  }

  // Real factors take C as real numbers, 32 rows of which are 16 complex ones.
  void update(std::int64_t i, std::int64_t j, const R* x, const R* y) const {
    constexpr std::int64_t half = strip_size / 2;
    const std::int64_t rows = std::min<std::int64_t>(strip_size, plan_.shape.m - i);
    const std::int64_t columns = std::min<std::int64_t>(strip_size, plan_.shape.n - j);
    std::complex<R>* c = p_.c + i + j * p_.ldc;
    if (p_.alpha.imag() != 0 || p_.beta.imag() != 0) {
      for (std::int64_t v = 0; v < columns; ++v)
        for (std::int64_t u = 0; u < rows; ++u) {
          const std::complex<R> t(x[v * strip_size + u], y[v * strip_size + u]);
          c[u + v * p_.ldc] = updated(p_.alpha, t, p_.beta, c[u + v * p_.ldc]);
        }
      return;
    }
    for (std::int64_t first = 0; first < rows; first += half) {
      alignas(64) R tile[block_elements];
      for (std::int64_t v = 0; v < columns; ++v)
        for (std::int64_t u = 0; u < half; ++u) {
          tile[v * strip_size + 2 * u] = x[v * strip_size + first + u];
          tile[v * strip_size + 2 * u + 1] = y[v * strip_size + first + u];
        }
      backend_.update({.to = {p_.alpha.real(), p_.beta.real(), reinterpret_cast<R*>(c + first), 2 * p_.ldc},
                       .rows = 2 * std::min(half, rows - first),
                       .columns = columns,
                       .large = plan_.shape.m * plan_.shape.n > large_complex_c},
                      tile);
    }
  }

  const ComplexResiduePlan& plan_;
  const ComplexProblem<R>& p_;
  Progress progress_;
  Report& report_;
  const Int8Engine& engine_;
  const SchemeBackend<R>& backend_;
  const int count_;  // moduli
  const RecombineTables& recombine_;
  const Buffers buffers_;
  const Sides<ComplexSide<R>> sides_;
};

}  // namespace

std::optional<ComplexResiduePlan> plan_complex_residues(const ResiduePlan& doubled, const ProductShape& shape,
                                                        std::size_t limit) {
  if (doubled.engine == nullptr || doubled.exact || shape.k > doubled.engine->longest_k()) return std::nullopt;
  ComplexResiduePlan plan{.doubled = doubled, .shape = shape, .blocking = {}};
  Arena own;
  carve_own(own, plan);
  if (own.used() > limit) return std::nullopt;
  plan.blocking = choose_blocking(shape, parts * doubled.ordinary.moduli, doubled.printable.threads, *doubled.engine,
                                  limit - own.used());
  if (plan.blocking.k_block < shape.k) return std::nullopt;
  Arena all;
  carve(all, plan);
  plan.bytes = all.used();
  if (plan.bytes > limit) return std::nullopt;
  Plan& p = plan.doubled.printable;
  p.m_block = std::min(plan.blocking.m_block, shape.m);
  p.n_block = std::min(plan.blocking.n_block, shape.n);
  p.k_block = shape.k;
  p.workspace = plan.bytes;
  p.reason += "; three real products modulo each p";
  return plan;
}

template <class R>
ComplexOutcome complex_residue_gemm(const ComplexResiduePlan& plan, const ComplexProblem<R>& problem,
                                    const Options& options, Report& report) {
  const FloatingEnvironment environment;  // for the tables; each thread has its own for the data
  const Workspace workspace(plan.bytes, options.workspace);
  ComplexRun<R> run(plan, problem, options, report, workspace.arena());
  run.measure();
  if (!run.regular()) return run.native_wins_by_widest() ? ComplexOutcome::native : ComplexOutcome::irregular;
  run.run();
  return ComplexOutcome::done;
}

VERNIER_REAL_INSTANCES(complex_residue_gemm)

}  // namespace vernier
