// The stages of one block of C over one block of k.
#include <algorithm>
#include <optional>
#include <type_traits>

#include "base/environment.hpp"
#include "product/specials.hpp"
#include "product/stage_clock.hpp"
#include "residue/block_loops.hpp"
#include "residue/convert/strip_conversion.hpp"
#include "vernier/level3.hpp"

namespace vernier {
namespace {

// Elements of C from which its lines are written past the caches.
constexpr std::int64_t large_c = std::int64_t{1} << 21;

template <class T>
class Block {
 public:
  Block(const PassState<T>& state, const BlockTask& task, Progress& progress, const WorkShare& share)
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

  // Everything below is shared among the threads of a parallel region.
  void run(StageSeconds& seconds) const {
    StageClock clock;
    state_.plan.engine->enter_thread();
    for (const Side side : both_sides)
      if (task_.convert[side]) convert_strips(state_, operands_[side], false);
#pragma omp barrier
    clock.lap(seconds.residues);
    tell(products_share_.begin);
    share_products(planes_, state_.blocking.item, progress_, products_share_,
                   [this](const ProductItem& item) { multiply_item(item); });
    clock.lap(seconds.products);
    tell(products_share_.at(1));
    if (task_.completes(state_.plan.shape.k)) {
      share_tiles(
          planes_, task_.rows, task_.columns, state_.backend, progress_, recombine_share_,
          [this](std::int64_t i, std::int64_t j, const std::int8_t* residues) { recombine_tile(i, j, residues); });
      clock.lap(seconds.recombine);
    }
    state_.plan.engine->leave_thread();
  }

 private:
  void tell(double fraction) const { progress_.at(fraction, *state_.plan.engine); }

  PlaneView planes_of(Side side) const {
    const OperandBlock<T>& block = operands_[side];
    if (state_.blocking.prepared[side]) return state_.problem.prepared[side]->of(block.vectors, block.ks);
    return {block.planes, block.plane_bytes, block.layout(), 0};
  }

  // Its strips of B that hold entries of this pass.
  void multiply_item(const ProductItem& item) const {
    if (state_.pass.every_entry) return planes_.multiply(item);
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
    if (task_.specials) patch_specials(problem.a, problem.b, i, j, v.a.statistics + i, v.b.statistics + j, tile);
    const bool every = state_.pass.every_entry;
    state_.backend.update({.to = problem.to.at(i, j),
                           .rows = rows,
                           .columns = columns,
                           .large = s.m * s.n > large_c,
                           .row_proofs = every ? nullptr : v.a.proofs + i,
                           .column_proofs = every ? nullptr : v.b.proofs + j,
                           .ordinary = state_.pass.ordinary},
                          tile);
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
        v.open[j / strip_size * divide_up(state_.plan.shape.m, strip_size) + i / strip_size] = !certain;
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

}  // namespace

template <class T>
void run_block(const PassState<T>& state, const BlockTask& task, StageSeconds& seconds, Progress& progress,
               const WorkShare& share) {
  const Block<T> block(state, task, progress, share);
#pragma omp parallel num_threads(state.plan.printable.threads)
  {
    const FloatingEnvironment environment;
    block.run(seconds);
  }
}

template void run_block(const PassState<double>&, const BlockTask&, StageSeconds&, Progress&, const WorkShare&);
template void run_block(const PassState<float>&, const BlockTask&, StageSeconds&, Progress&, const WorkShare&);

}  // namespace vernier
