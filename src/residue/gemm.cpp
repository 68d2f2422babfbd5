#include "residue/gemm.hpp"

#include <algorithm>
#include <optional>
#include <type_traits>

#include "base/duration.hpp"
#include "base/environment.hpp"
#include "base/instantiate.hpp"
#include "product/progress.hpp"
#include "residue/block_loops.hpp"
#include "residue/bound/bound_search.hpp"
#include "residue/bound/moduli_guess.hpp"
#include "residue/scale/scale_search.hpp"
#include "residue/scale/scaling.hpp"
#include "residue/wide_sample.hpp"

namespace vernier {
namespace {

// One product on one workspace. Stages run one after another, each spread over the threads.
template <class T>
class ResidueRun {
 public:
  ResidueRun(const ResiduePlan& plan, const ResidueProblem<T>& problem, const Options& options, Report& report,
             Arena arena, std::optional<BoundSample>& sample)
      : plan_(plan),
        problem_(problem),
        report_(report),
        sample_(sample),
        progress_(options.progress),
        backend_(backend_of<T>(*plan.engine)),
        arena_(arena),
        vectors_(carve_vectors(arena_, plan.shape, plan.printable.threads, plan.exact)),
        search_(plan, problem, backend_, vectors_) {
    if (plan.exact) exact_.emplace(plan, problem, backend_, vectors_, report);
  }

  // Is it a speculative product, as far as a few vectors tell?
  void look() {
    const StageTime time(report_.seconds_statistics);
    if constexpr (std::is_same_v<T, double>)
      if (plan_.speculative)
        speculative_ =
            choose_speculation(*plan_.speculative, problem_.a, problem_.b, backend_, plan_.printable.threads);
  }

  // One read of A and of B: statistics and, where all of C is one block, the planes of the ordinary entries with them,
  // but where these would be in vain.
  void measure(bool statistics_alone = false) {
    const Clock clock;
    const Pass pass = speculative_ ? first_pass(plan_, *speculative_) : ordinary_pass(plan_);
    const Blocking& b = pass.blocking;
    const ProductShape& s = plan_.shape;
    one_block_ = s.m <= b.m_block && s.n <= b.n_block && s.k <= b.k_block;
    planes_ready_ = one_block_ && !statistics_alone;
    const PassState<T> state(plan_, problem_, backend_, vectors_, exact(), pass, arena_);
    for (const Side side : both_sides)
      if (const PreparedPlanes* prepared = problem_.prepared[side])
        std::copy_n(prepared->statistics, vectors_[side].count, vectors_[side].statistics);
    if (planes_ready_) {
#pragma omp parallel num_threads(plan_.printable.threads)
      {
        const FloatingEnvironment environment;
        for (const Side side : both_sides)
          if (!b.prepared[side])
            convert_strips(state, operand_block(state, side, {0, vectors_[side].count}, {0, s.k}), true);
      }
    } else {
      search_.measure(exact(), [&](int thread) {
        return s.k <= b.k_block ? reinterpret_cast<T*>(state.scratch(thread)) : nullptr;
      });
      for (const Side side : both_sides)
        if (speculative_)
          for (VectorStatistics& v : vectors_[side].all_statistics()) v = multiplied(v, speculative_->factor[side]);
    }
    search_.summarise(report_);
    if (exact_) exact_->sample(reinterpret_cast<double*>(state.buffers.scratch), b.k_block);
    (planes_ready_ ? report_.seconds_residues : report_.seconds_statistics) += clock.seconds();
  }

  // The scales of a speculative product, if it is one. Else nothing that measure() has found or written is of use.
  bool scale_speculatively() {
    if (!speculative_) return false;
    {
      const StageTime time(report_.seconds_statistics);
      if (!search_.scale(speculative_->rule).any_wide && far_from_the_ends(vectors_.a.all_statistics()) &&
          far_from_the_ends(vectors_.b.all_statistics()))
        return true;
    }
    speculative_.reset();
    measure();
    return false;
  }

  // Scales from the statistics; where these leave entries wide, block by block of k, if k allows.
  Scaling scale() {
    const StageTime time(report_.seconds_statistics);
    if (exact_) return exact_->scale();
    const Scaling scaling = search_.scale();
    return scaling.any_wide && !plan_.bound && search_.has_spans() ? search_.scale_with_spans() : scaling;
  }

  // Is the product of |A| and |B| in vain, by the widest vectors?
  bool native_wins_by_widest() {
    const StageTime time(report_.seconds_statistics);
    return native_wins<T>(plan_, {problem_.a, vectors_.a.statistics}, {problem_.b, vectors_.b.statistics});
  }

  // Scales by norms, of the plan or of few moduli more, if they serve although statistics leave entries wide: a part of
  // the product of |A| and |B| may tell, beside the planes that measure() may have written.
  std::optional<Scaling> scale_by_norms(const BoundTiles* tiles, std::optional<ModuliGuess>& guess) {
    const StageTime time(report_.seconds_bound);
    const ProductShape& s = plan_.shape;
    const std::int64_t skip = bound_skip(s.k);
    if (!one_block_) return {};
    const RoomBeside beside = room_beside_planes({s.m, s.n, bound_k(s.k, skip)}, tiles);
    if (!beside.fits) return {};
    if (!guess) guess = guess_moduli(plan_, problem_.a, problem_.b, sample_);
    if (guess->most == 0) return {};
    const std::optional<Scaling> scaling =
        BoundSearch<T>(plan_, problem_, vectors_, beside.blocking, tiles, beside.arena, sample_, skip)
            .scale_by_norms(guess->most);
    planes_ready_ = planes_ready_ && scaling && !scaling->any_wide;
    return scaling;
  }

  Scaling scale_by_bound(const BoundTiles* tiles) {
    const StageTime time(report_.seconds_bound);
    planes_ready_ = false;
    const BoundBlocking blocking =
        choose_bound_blocking(plan_.shape, plan_.printable.threads, tiles != nullptr, plan_.pass_bytes);
    return BoundSearch<T>(plan_, problem_, vectors_, blocking, tiles, arena_, sample_).scale();
  }

  // Blocks that the first pass leaves open are few, and not told of by progress.
  void run_speculatively() {
    run_pass(first_pass(plan_, *speculative_), WorkShare{});
    planes_ready_ = false;
    report_.undecided = open_entries();
    if (report_.undecided > 0) run_pass(repair_pass(plan_, *speculative_), WorkShare{}.of(1, 1));
    progress_.finish();
  }

  void tell_scales() const {
    for (const Side side : both_sides)
      for (std::int64_t v = 0; problem_.scales[side] != nullptr && v < vectors_[side].count; ++v)
        problem_.scales[side][v] = vectors_[side].proofs[v].ordinary;
  }

  void run(const PassList& passes) {
    for (int i = 0; i < passes.count; ++i) run_pass(passes.pass[i], WorkShare{}.of(Range{i, 1}, passes.count));
    progress_.finish();
  }

 private:
  // Room for a product of |A| and |B| where planes of products are to come, beside those of A and B.
  struct RoomBeside {
    BoundBlocking blocking;
    Arena arena;
    bool fits;
  };
  RoomBeside room_beside_planes(const ProductShape& shape, const BoundTiles* tiles) const {
    Arena arena = arena_;
    const PassBuffers buffers = carve_pass(arena, plan_.ordinary, *plan_.engine);
    const std::size_t room = static_cast<std::size_t>(plan_.ordinary.moduli) * buffers.c.stride;
    const BoundBlocking blocking = choose_bound_blocking(shape, plan_.printable.threads, tiles != nullptr, room, false);
    return {blocking, Arena(reinterpret_cast<std::byte*>(buffers.c.planes), room), blocking.bytes <= room};
  }
  static void set_scales_of(const SideVectors& x, bool ordinary) {
    for (std::int64_t v = 0; v < x.count; ++v) x.scales[v] = ordinary ? x.proofs[v].ordinary : x.proofs[v].wide;
    for (std::int64_t v = x.count; v < round_up(x.count, strip_size); ++v) x.scales[v] = 0;
  }

  std::int64_t open_entries() const {
    const ProductShape& s = plan_.shape;
    const bool* open = vectors_.open;
    std::int64_t entries = 0;
    for (std::int64_t j = 0; j < s.n; j += strip_size)
      for (std::int64_t i = 0; i < s.m; i += strip_size)
        if (*open++)
          entries += std::min<std::int64_t>(strip_size, s.m - i) * std::min<std::int64_t>(strip_size, s.n - j);
    return entries;
  }

  void run_pass(const Pass& pass, const WorkShare& share) {
    const PassState<T> state(plan_, problem_, backend_, vectors_, exact(), pass, arena_);
    const ProductShape& s = plan_.shape;
    for (const Side side : both_sides) set_scales_of(vectors_[side], pass.ordinary);
    if (exact_) exact_->begin_pass(pass.ordinary);
    const Blocking& b = pass.blocking;
    const bool ready = planes_ready_ && pass.ordinary;  // by measure()
    if (problem_.prepared_planes_read != nullptr && pass.ordinary) *problem_.prepared_planes_read = true;
    BlockTask task{.convert = {true, !ready && !b.prepared.b},
                   .specials = report_.nonfinite_rows + report_.nonfinite_columns > 0};
    for (std::int64_t i = 0; i < s.m; i += b.m_block) {
      task.rows = {i, std::min(b.m_block, s.m - i)};
      task.convert.a = !ready && !b.prepared.a;
      for (std::int64_t j = 0; j < s.n; j += b.n_block) {
        task.columns = {j, std::min(b.n_block, s.n - j)};
        if (!state.has_entries(task.rows, task.columns)) continue;
        const WorkShare block = share.of(task.rows, s.m).of(task.columns, s.n);
        const double settling = exact_ ? exact_->settling_share() : 0;
        const WorkShare products = block.of(0, 1 - settling);
        for (std::int64_t l = 0; l < s.k; l += b.k_block) {
          task.ks = {l, std::min(b.k_block, s.k - l)};
          BlockRun<T>(state, task, progress_, products.of(task.ks, s.k)).run(report_);
        }
        if (exact_) exact_->decide_open_entries(state, task.rows, task.columns, progress_, block.of(1 - settling, 1));
        if (s.k <= b.k_block) task.convert.a = false;  // the planes of A serve all blocks of columns
      }
    }
  }

  const ExactStage<T>* exact() const { return exact_ ? &*exact_ : nullptr; }

  const ResiduePlan& plan_;
  const ResidueProblem<T>& problem_;
  Report& report_;
  std::optional<BoundSample>& sample_;  // once something asks for it
  Progress progress_;
  const SchemeBackend<T>& backend_;
  Arena arena_;  // of the passes, behind the vectors' data
  VectorBuffers vectors_;
  ScaleSearch<T> search_;
  std::optional<ExactStage<T>> exact_;
  std::optional<SpeculativeScales> speculative_;  // none: not tried, or left
  bool one_block_ = false;                        // are the planes of all of C in memory at once?
  bool planes_ready_ = false;                     // measure() has written those of the ordinary entries
};

}  // namespace

template <class T>
bool residue_gemm(const ResiduePlan& asked, const ResidueProblem<T>& problem, const Options& options, Report& report) {
  const FloatingEnvironment environment;  // for the tables; each thread has its own for the data
  std::optional<BoundSample> sample;
  std::optional<ModuliGuess> guess;
  std::optional<ResiduePlan> guessed;
  if (asked.seems_wide && !asked.single_precision) {
    const StageTime time(report.seconds_statistics);
    guess = guess_moduli(asked, problem.a, problem.b, sample);
    guessed = plan_by_guess(asked, *guess);
    if (guessed) report.plan = guessed->printable;
  }
  const ResiduePlan& plan = guessed ? *guessed : asked;
  const Workspace workspace(plan.vector_bytes + plan.pass_bytes, options.workspace);
  ResidueRun<T> run(plan, problem, options, report, workspace.arena(), sample);
  run.look();
  run.measure(guessed && !guess->sure);
  if (run.scale_speculatively()) {
    set_moduli(report.plan, SpeculativeProduct::moduli);
    run.run_speculatively();
    return true;
  }
  Scaling scaling = run.scale();
  if (scaling.any_wide && plan.bound) {
    const BoundTiles* tiles = bound_tiles();
    if (!guessed && (!bound_may_win(plan) || run.native_wins_by_widest())) {
      report.fallback = true;
      return false;
    }
    const std::optional<Scaling> by_norms = run.scale_by_norms(tiles, guess);
    scaling = by_norms ? *by_norms : run.scale_by_bound(tiles);
    report.bounded = true;
  }
  const PassList passes = plan_passes(plan, scaling);
  if (!report_passes(plan, scaling, passes, report)) return false;
  run.run(passes);
  run.tell_scales();
  return true;
}

VERNIER_REAL_INSTANCES(residue_gemm)

}  // namespace vernier
