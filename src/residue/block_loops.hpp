// The stages of a block of C on a CPU, shared among the threads of a parallel region: conversion, and the loops of
// products and of recombination that real and complex products share.
#pragma once

#include <omp.h>
#include <algorithm>
#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/environment.hpp"
#include "product/operand.hpp"
#include "product/progress.hpp"
#include "product/specials.hpp"
#include "product/stage_clock.hpp"
#include "product/strip.hpp"
#include "residue/backend.hpp"
#include "residue/convert/filled_steps.hpp"
#include "residue/exact/exact_stage.hpp"
#include "residue/gemm.hpp"
#include "residue/plan/blocking.hpp"
#include "residue/product_items.hpp"
#include "residue/recombine/recombine.hpp"
#include "residue/residues.hpp"
#include "residue/scale/scaling.hpp"

namespace vernier {

// What the stages of one pass over C share.
template <class T>
struct PassState {
  const ResiduePlan& plan;
  const ResidueProblem<T>& problem;
  const SchemeBackend<T>& backend;
  const VectorBuffers& vectors;
  const ExactStage<T>* exact;  // null unless C is rounded correctly
  const Pass& pass;
  const Blocking& blocking;
  const ResidueSystem& system;
  Sides<const DigitTables*> digits;
  const RecombineTables& recombine;
  PassBuffers buffers;

  PassState(const ResiduePlan& plan, const ResidueProblem<T>& problem, const SchemeBackend<T>& backend,
            const VectorBuffers& vectors, const ExactStage<T>* exact, const Pass& pass, Arena arena)
      : plan(plan),
        problem(problem),
        backend(backend),
        vectors(vectors),
        exact(exact),
        pass(pass),
        blocking(pass.blocking),
        system(residue_system(blocking.moduli)),
        digits{tables_of(PanelSide::rows), tables_of(PanelSide::columns)},
        recombine(recombine_tables(blocking.moduli)),
        buffers(carve_pass(arena, blocking, *plan.engine)) {}

  const DigitTables* tables_of(PanelSide side) const {
    return &digit_tables(blocking.moduli, side, pass.narrow, pass.limbs);
  }
  std::byte* scratch(int thread) const {
    return buffers.scratch + static_cast<std::size_t>(thread) * buffers.scratch_stride;
  }

  // Is any entry of these rows and columns made by the pass?
  bool has_entries(Range rows, Range columns) const {
    if (problem.symmetric && columns.begin >= rows.begin + rows.count) return false;
    if (pass.every_entry) return true;
    if (pass.open_only) return has_open(rows, columns);
    const unsigned a = kinds(vectors.a.proofs, rows, plan.shape.m), b = kinds(vectors.b.proofs, columns, plan.shape.n);
    for (unsigned x = 0; x < proof_sets; ++x)
      for (unsigned y = 0; y < proof_sets; ++y)
        if ((a >> x & 1u) != 0 && (b >> y & 1u) != 0 && ((x & y) != 0) == pass.ordinary) return true;
    return false;
  }

 private:
  bool has_open(Range rows, Range columns) const {
    const std::int64_t row_strips = divide_up(plan.shape.m, strip_size);
    const std::int64_t row_end = std::min(divide_up(rows.begin + rows.count, strip_size), row_strips);
    const std::int64_t column_end = divide_up(std::min(columns.begin + columns.count, plan.shape.n), strip_size);
    for (std::int64_t t = columns.begin / strip_size; t < column_end; ++t)
      for (std::int64_t v = rows.begin / strip_size; v < row_end; ++v)
        if (vectors.open[t * row_strips + v]) return true;
    return false;
  }

  // Which sets of proofs occur.
  static unsigned kinds(const VectorProof* scales, Range range, std::int64_t limit) {
    unsigned set = 0;
    for (std::int64_t v = range.begin; v < std::min(range.begin + range.count, limit); ++v)
      set |= 1u << scales[v].proofs;
    return set;
  }
};

// ---- operands of a block -> residues, strip by strip

// One operand of one block: which vectors and which k, and where everything about them lies.
template <class T>
struct OperandBlock {
  Operand<T> x;
  Range vectors, ks;
  const DigitTables* digits;
  const SideVectors& all;  // vectors of x
  PlaneMemory memory;
  int factor = no_factor;  // of a speculative product

  PanelLayout layout() const { return panel_layout(vectors.count, ks.count); }
};

template <class T>
OperandBlock<T> operand_block(const PassState<T>& s, Side side, Range vectors, Range ks) {
  return {s.problem.operand(side),
          vectors,
          ks,
          s.digits[side],
          s.vectors[side],
          s.buffers[side],
          s.pass.speculative ? s.pass.speculative->factor[side] : no_factor};
}

// Work-shared over the strips; no barrier at the end. measure: statistics and ordinary scales of the vectors come from
// the same read of the data, which the block holds whole; else they are there.
template <class T>
void convert_strips(const PassState<T>& state, const OperandBlock<T>& block, bool measure) {
  T* buffer = reinterpret_cast<T*>(state.scratch(omp_get_thread_num()));
  const PanelLayout layout = block.layout();
  const ScalingRule& rule = state.pass.speculative ? state.pass.speculative->rule : state.plan.rule;
  const auto convert = [&](std::int64_t index, const T* next) {
    const std::int64_t first = block.vectors.begin + index * strip_size;
    VectorStatistics* statistics = block.all.statistics + first;
    int* exponents = block.all.scales + first;
    const Operand<T> strip =
        measure ? state.backend.measured_strip(block.x, first, block.ks.begin, block.ks.count, buffer, statistics)
                : gather_strip(block.x, first, block.ks.begin, block.ks.count, buffer);
    if (measure) {
      if (state.exact != nullptr) state.exact->measure(strip, statistics, block.all.lowest_bits + first);
      if (block.factor != no_factor)
        for (std::int64_t v = 0; v < strip.vectors; ++v) statistics[v] = multiplied(statistics[v], block.factor);
      for (std::int64_t v = 0; v < strip_size; ++v)
        exponents[v] = v < strip.vectors ? ordinary_scale(rule, strip.k, statistics[v]) : 0;
    }
    const FilledSteps filled = block.memory.filled[index] = filled_steps(strip, exponents);
    const bool nonfinite = std::ranges::any_of(statistics, statistics + strip.vectors, &VectorStatistics::nonfinite);
    state.backend.decompose(strip, *block.digits,
                            {.scales = exponents,
                             .factor = block.factor / static_cast<double>(no_factor),
                             .planes = block.memory.planes,
                             .plane_bytes = block.memory.stride,
                             .layout = layout,
                             .strip = index,
                             .filled = filled,
                             .has_nonfinite = nonfinite,
                             .cached = state.blocking.cached,
                             .next = reinterpret_cast<const std::byte*>(next),
                             .next_stride = block.x.ld * static_cast<std::int64_t>(sizeof(T))});
  };
  // A thread holds one strip back until it knows which it takes next, where that can be fetched: vectors along memory,
  // in strips that leave room in the second-level cache, and so many that nobody waits for those who hold two.
  constexpr std::int64_t longest_fetched = std::int64_t{1} << 20;  // bytes
  const bool holds = block.x.k_contiguous && layout.strips >= 8 * omp_get_num_threads() &&
                     strip_size * block.ks.count * static_cast<std::int64_t>(sizeof(T)) <= longest_fetched;
  std::int64_t held = -1;
#pragma omp for schedule(dynamic, 1) nowait
  for (std::int64_t index = 0; index < layout.strips; ++index) {
    const std::int64_t now = holds ? std::exchange(held, index) : index;
    const bool fetches = holds && (index + 1) * strip_size <= block.vectors.count;
    if (now >= 0)
      convert(now, fetches ? block.x.at(block.vectors.begin + index * strip_size, block.ks.begin) : nullptr);
  }
  if (held >= 0) convert(held, nullptr);
}

// ---- products and recombination

// Planes of both operands of the block, and of its products; plane q is modulo modulus q % moduli_count.
struct BlockPlanes {
  const Int8Engine& engine;
  const PassBuffers& buffers;
  Sides<PlaneView> planes;
  std::int64_t row_strips, column_strips;
  int count, moduli_count;
  bool accumulate = false;

  // In the first plane of products.
  std::int8_t* products(std::int64_t column_strip, std::int64_t row_strip) const {
    return buffers.c.planes + (column_strip * row_strips + row_strip) * block_elements;
  }

  StripCounts strips() const { return {row_strips, column_strips}; }

  void multiply(const ProductItem& item) const { multiply(item, item.first_column, item.first_column + item.columns); }

  // By strips [begin, end) of columns, which are among those of the item.
  void multiply(const ProductItem& item, std::int64_t begin, std::int64_t end) const {
    if (begin == end) return;
    const auto q = static_cast<std::size_t>(item.plane);
    const auto thread = static_cast<std::size_t>(omp_get_thread_num());
    for (std::int64_t slice = 0; slice < planes.a.layout.slices(); ++slice)
      engine.multiply({.columns = planes.b.at(q, begin, slice),
                       .column_strips = end - begin,
                       .rows = planes.a.at(q, item.first, slice),
                       .row_strips = item.strips,
                       .steps = planes.a.layout.steps_of(slice),
                       .filled_columns = planes.b.filled_from(begin),
                       .filled_rows = planes.a.filled_from(item.first),
                       .first_step = slice * planes.a.layout.slice_steps,
                       .modulus = moduli[q % static_cast<std::size_t>(moduli_count)],
                       .accumulate = accumulate || slice > 0,
                       .out = products(begin, item.first) + q * buffers.c.stride,
                       .out_strips = row_strips,
                       .scratch = buffers.scratch + buffers.scratch_stride * thread});
  }
};

// multiply(item) for all planes; a barrier at the end.
template <class Multiply>
void share_products(const BlockPlanes& planes, StripCounts most, Progress& progress, const WorkShare& share,
                    const Multiply& multiply) {
  const ProductItems items(planes.count, planes.strips(), most, omp_get_num_threads());
#pragma omp for schedule(dynamic, 1)
  for (std::int64_t i = 0; i < items.count(); ++i) {
    const ProductItem item = items.at(i);
    multiply(item);
    if (progress.wanted()) progress.at(share.at(item.done), planes.engine);
  }
}

// recombine(i, j, products) for all tiles of the block, which begin at row i and column j; a barrier at the end.
template <class Backend, class Recombine>
void share_tiles(const BlockPlanes& planes, Range rows, Range columns, const Backend& backend, Progress& progress,
                 const WorkShare& share, const Recombine& recombine) {
  const std::int64_t tiles = planes.row_strips * planes.column_strips;
#pragma omp for schedule(dynamic, 16) nowait
  for (std::int64_t index = 0; index < tiles; ++index) {
    const std::int64_t t = index / planes.row_strips, v = index % planes.row_strips;
    if (progress.wanted()) progress.at(share.at(index, tiles), planes.engine);
    recombine(rows.begin + v * strip_size, columns.begin + t * strip_size, planes.products(t, v));
  }
  backend.publish();
#pragma omp barrier
}

// ---- the stages of one block of C over one block of k: conversion of A and B, products, recombination

// Elements of C from which its lines are written past the caches.
inline constexpr std::int64_t large_c = std::int64_t{1} << 21;

struct BlockTask {
  Range rows, columns, ks;
  Sides<bool> convert{true, true};  // else their planes are in memory
  bool specials = false;            // A or B holds a NaN or an infinity

  // Products over later blocks of k are added to what the residue planes of C hold.
  bool accumulate() const { return ks.begin > 0; }
  bool completes(std::int64_t k) const { return ks.begin + ks.count == k; }
};

template <class T>
class BlockRun {
 public:
  // share: of the whole work that progress tells of.
  BlockRun(const PassState<T>& state, const BlockTask& task, Progress& progress, const WorkShare& share)
      : state_(state),
        task_(task),
        progress_(progress),
        products_share_(
            share.of(task.convert.a || task.convert.b ? 0.1 : 0, task.completes(state.plan.shape.k) ? 0.9 : 1)),
        recombine_share_(share.of(0.9, 1)),
        operands_{operand_block(state, Side::left, task.rows, task.ks),
                  operand_block(state, Side::right, task.columns, task.ks)},
        planes_{.engine = *state.plan.engine,
                .buffers = state.buffers,
                .planes = {planes_of(Side::left), planes_of(Side::right)},
                .row_strips = operands_.a.layout().strips,
                .column_strips = operands_.b.layout().strips,
                .count = state.system.count,
                .moduli_count = state.system.count,
                .accumulate = task.accumulate()} {}

  // What the stages take is added to the report.
  void run(Report& report) const {
#pragma omp parallel num_threads(state_.plan.printable.threads)
    {
      const FloatingEnvironment environment;
      run_shared(report);
    }
  }

 private:
  // Everything below is shared among the threads of a parallel region.
  void run_shared(Report& report) const {
    StageClock clock;
    state_.plan.engine->enter_thread();
    for (const Side side : both_sides)
      if (task_.convert[side]) convert_strips(state_, operands_[side], false);
#pragma omp barrier
    clock.lap(report.seconds_residues);
    tell(products_share_.begin);
    share_products(planes_, state_.blocking.item, progress_, products_share_,
                   [this](const ProductItem& item) { multiply_item(item); });
    clock.lap(report.seconds_products);
    tell(products_share_.at(1));
    if (task_.completes(state_.plan.shape.k)) {
      share_tiles(
          planes_, task_.rows, task_.columns, state_.backend, progress_, recombine_share_,
          [this](std::int64_t i, std::int64_t j, const std::int8_t* residues) { recombine_tile(i, j, residues); });
      clock.lap(report.seconds_recombine);
    }
    state_.plan.engine->leave_thread();
  }

  void tell(double fraction) const { progress_.at(fraction, *state_.plan.engine); }

  PlaneView planes_of(Side side) const {
    const OperandBlock<T>& block = operands_[side];
    if (state_.blocking.prepared[side]) return state_.problem.prepared[side]->of(block.vectors, block.ks);
    return {block.memory.planes, block.memory.stride, block.layout(), 0, block.memory.filled};
  }

  // Its strips of B that hold entries of this pass.
  void multiply_item(const ProductItem& item) const {
    if (state_.pass.every_entry && !state_.problem.symmetric) return planes_.multiply(item);
    const Range rows{task_.rows.begin + item.first * strip_size, item.strips * strip_size};
    std::int64_t begin = item.first_column;  // of the run of strips with entries
    const std::int64_t end = item.first_column + item.columns;
    for (std::int64_t t = begin; t < end; ++t) {
      if (state_.has_entries(rows, {task_.columns.begin + t * strip_size, strip_size})) continue;
      planes_.multiply(item, begin, t);
      begin = t + 1;
    }
    planes_.multiply(item, begin, end);
  }

  void recombine_tile(std::int64_t i, std::int64_t j, const std::int8_t* residues) const {
    const ProductShape& s = state_.plan.shape;
    const ResidueProblem<T>& problem = state_.problem;
    const VectorBuffers& v = state_.vectors;
    const std::int64_t rows = std::min<std::int64_t>(strip_size, s.m - i);
    const std::int64_t columns = std::min<std::int64_t>(strip_size, s.n - j);
    if (!state_.has_entries({i, rows}, {j, columns})) return;
    if (state_.exact != nullptr) return state_.exact->round(state_.recombine, residues, state_.buffers.c.stride, i, j);
    alignas(64) T tile[block_elements];
    if (!make_tile(residues, i, j, tile)) return;
    if (problem.symmetric && i == j && state_.pass.every_entry)  // scales of rows are not those of columns
      for (std::int64_t x = 0; x < strip_size; ++x)
        for (std::int64_t y = 0; y < x; ++y) tile[x * strip_size + y] = tile[y * strip_size + x];
    if (task_.specials) patch_specials(problem.a, problem.b, i, j, v.a.statistics + i, v.b.statistics + j, tile);
    const bool every = state_.pass.every_entry;
    TileUpdate<T> update{.to = problem.to.at(i, j),
                         .rows = rows,
                         .columns = columns,
                         .large = s.m * s.n > large_c,
                         .row_proofs = every ? nullptr : v.a.proofs + i,
                         .column_proofs = every ? nullptr : v.b.proofs + j,
                         .ordinary = state_.pass.ordinary};
    state_.backend.update(update, tile);
    if (!problem.symmetric || i == j) return;
    alignas(64) T mirrored[block_elements];
    for (std::int64_t x = 0; x < strip_size; ++x)
      for (std::int64_t y = 0; y < strip_size; ++y) mirrored[x * strip_size + y] = tile[y * strip_size + x];
    update.to = problem.to.at(j, i);
    std::swap(update.rows, update.columns);
    std::swap(update.row_proofs, update.column_proofs);
    state_.backend.update(update, mirrored);
  }

  // T of a block; false, with a mark, where a speculative product leaves it open.
  bool make_tile(const std::int8_t* residues, std::int64_t i, std::int64_t j, T* tile) const {
    const VectorBuffers& v = state_.vectors;
    const std::size_t stride = state_.buffers.c.stride;
    const int *row_scales = v.a.scales + i, *column_scales = v.b.scales + j;
    if constexpr (std::is_same_v<T, double>)
      if (const std::optional<SpeculativeScales>& speculative = state_.pass.speculative) {
        const bool certain =
            state_.backend.recombine_speculative(state_.recombine, residues, stride, row_scales, column_scales,
                                                 {speculative->divisor(), speculative->certain}, tile);
        const std::int64_t strips = divide_up(state_.plan.shape.m, strip_size);
        if (state_.problem.symmetric) v.open[i / strip_size * strips + j / strip_size] = false;  // mirrored
        v.open[j / strip_size * strips + i / strip_size] = !certain;
        return certain;
      }
    state_.backend.recombine(state_.recombine, residues, stride, row_scales, column_scales, tile);
    return true;
  }

  const PassState<T>& state_;
  const BlockTask& task_;
  Progress& progress_;
  const WorkShare products_share_, recombine_share_;  // the conversion has the rest
  const Sides<OperandBlock<T>> operands_;
  const BlockPlanes planes_;
};

}  // namespace vernier
