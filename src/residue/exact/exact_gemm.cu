#include "residue/exact/exact_gemm.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/status.hpp"
#include "cuda/device.hpp"
#include "number/ieee754.hpp"
#include "product/device_memory.hpp"
#include "product/operand_blocks.hpp"
#include "residue/convert/convert.hpp"
#include "residue/exact/exact_cuda.hpp"
#include "residue/plan/exact_choice.hpp"
#include "residue/residues.hpp"

namespace vernier::cuda {
namespace {

// As many moduli as make products of about the time in which the host has its answer: they are made in vain where the
// data then take other scales.
int moduli_beside_host(const DeviceProductPlan& plan) {
  constexpr double host_seconds = 0.4e-3;
  const int moduli = plan.ordinary.moduli;
  return static_cast<int>(
      std::min<double>(moduli, host_seconds / (device_residue_seconds(plan.shape, moduli) / moduli)));
}

// One product on one workspace and one stream.
template <class T>
class ExactRun {
 public:
  ExactRun(const DeviceProductPlan& plan, const DeviceInt8Engine& engine, const DeviceResidueProblem<T>& problem,
           Rounding rounding, cudaStream_t stream, Arena arena)
      : plan_(plan),
        engine_(engine),
        problem_(problem),
        rounding_(rounding),
        stream_(stream),
        arena_(arena),
        vectors_(carve_device_vectors(arena_, plan.shape, true)) {}

  // Statistics, the scales of ordinary data, and a sample. Where all of C is one block its planes and its first
  // products follow, to keep the GPU busy while the host thinks.
  DeviceSample measure() {
    const DevicePass pass = ordinary_device_pass(plan_);
    constexpr int any_words = 2;
    measure_on_device<T>({problem_.a, vectors_.a_statistics, vectors_.a_scales},
                         {problem_.b, vectors_.b_statistics, vectors_.b_scales}, plan_.rule,
                         form(pass.blocking.moduli, any_words), {}, stream_);
    count_errors(pass, vectors_.sample);
    sample_on_device(problem_.a, problem_.b, vectors_.a_statistics, vectors_.b_statistics,
                     vectors_.a_lowest_bits.counts, vectors_.b_lowest_bits.counts, vectors_.sample, stream_);
    static thread_local const PinnedMemory memory(sizeof(DeviceSample));
    check(cudaMemcpyAsync(memory.data(), vectors_.sample, sizeof(DeviceSample), cudaMemcpyDeviceToHost, stream_),
          "sample");
    const Event copied;
    copied.record(stream_);
    moduli_done_ = planes_ready_ ? moduli_beside_host(plan_) : 0;
    if (moduli_done_ > 0)
      multiply(pass, carve(pass), all_rows(), all_columns(), plan_.shape.k, {.begin = 0, .count = moduli_done_}, false);
    copied.wait();
    return *static_cast<const DeviceSample*>(memory.data());
  }

  // Scales of these data's own, for the pass at hand, in place of those of measure().
  void set_scales(const DevicePass& pass, const ExactChoice& choice) {
    const ProductShape& s = plan_.shape;
    set_exact_scales_on_device(s.m, vectors_.a_statistics, vectors_.a_lowest_bits.counts, choice.row_budget_16,
                               vectors_.a_scales, stream_);
    set_exact_scales_on_device(s.n, vectors_.b_statistics, vectors_.b_lowest_bits.counts, choice.column_budget_16,
                               vectors_.b_scales, stream_);
    count_errors(pass, nullptr);
    moduli_done_ = 0;
  }

  void run(const DevicePass& pass, bool specials) {
    const DevicePassBuffers buffers = carve(pass);
    const ProductShape& s = plan_.shape;
    const DeviceBlocking& blocks = pass.blocking;
    if (planes_ready_) {
      const Range rest{moduli_done_, blocks.moduli - moduli_done_};
      if (rest.count > 0) multiply(pass, buffers, all_rows(), all_columns(), s.k, rest, false);
      return round(pass, buffers, all_rows(), all_columns(), specials);
    }
    const bool keep_a = s.k <= blocks.k_block;  // the planes of A then serve all blocks of columns
    for (std::int64_t i = 0; i < s.m; i += blocks.m_block) {
      const Range rows{i, std::min(blocks.m_block, s.m - i)};
      for (std::int64_t j = 0; j < s.n; j += blocks.n_block) {
        const Range columns{j, std::min(blocks.n_block, s.n - j)};
        constexpr std::size_t counts_of_a_block = offsetof(DeviceOpenCounts, total_open);
        check(cudaMemsetAsync(vectors_.open_counts, 0, counts_of_a_block, stream_), "open entries");
        for (std::int64_t l = 0; l < s.k; l += blocks.k_block) {
          const Range ks{l, std::min(blocks.k_block, s.k - l)};
          const Range used_rows{rows.begin, keep_a && j > 0 ? 0 : rows.count};
          decompose(pass, buffers, used_rows, columns, ks);
          multiply(pass, buffers, rows, columns, ks.count, {0, blocks.moduli}, l > 0);
        }
        round(pass, buffers, rows, columns, specials);
      }
    }
  }

  DeviceOpenCounts open_counts() const { return on_host(vectors_.open_counts, 1, stream_)[0]; }

 private:
  DevicePassBuffers carve(const DevicePass& pass) const {
    Arena arena = arena_;
    return carve_device_pass(arena, pass.blocking, plan_.limits);
  }

  // Residues at the scales of the moment.
  void decompose(const DevicePass& pass, const DevicePassBuffers& buffers, Range rows, Range columns, Range ks) const {
    decompose_on_device<T>({part_of(problem_.a, rows, ks), nullptr, vectors_.a_scales + rows.begin, buffers.a},
                           {part_of(problem_.b, columns, ks), nullptr, vectors_.b_scales + columns.begin, buffers.b},
                           form(pass.blocking.moduli, pass.words), stream_);
  }

  ConversionForm form(int moduli, int words) const {
    return {moduli, words, engine_.form(), ModuliList::densest, engine_.takes_clusters()};
  }

  // What the scales of the moment leave of the elements; and the planes of the pass, if it takes all of C at once.
  void count_errors(const DevicePass& pass, DeviceSample* sample) {
    check(cudaMemsetAsync(vectors_.cleared, 0, vectors_.cleared_bytes, stream_), "counts");
    planes_ready_ = pass.blocking.whole(plan_.shape) && counts_with_residues(pass.words);
    if (planes_ready_) {
      const DevicePassBuffers buffers = carve(pass);
      decompose_counting_on_device<T>({problem_.a, nullptr, vectors_.a_scales, buffers.a},
                                      {problem_.b, nullptr, vectors_.b_scales, buffers.b}, vectors_.a_lowest_bits,
                                      vectors_.b_lowest_bits, form(pass.blocking.moduli, pass.words), stream_);
    } else {
      count_lowest_bits_on_device(problem_.a, vectors_.a_scales, vectors_.a_lowest_bits, stream_);
      count_lowest_bits_on_device(problem_.b, vectors_.b_scales, vectors_.b_lowest_bits, stream_);
    }
    set_errors_on_device(
        {plan_.shape.m, vectors_.a_statistics, vectors_.a_lowest_bits.counts, vectors_.a_scales, vectors_.a_errors},
        {plan_.shape.n, vectors_.b_statistics, vectors_.b_lowest_bits.counts, vectors_.b_scales, vectors_.b_errors},
        sample, stream_);
  }

  Range all_rows() const { return {0, plan_.shape.m}; }
  Range all_columns() const { return {0, plan_.shape.n}; }

  // Products modulo some of the pass's moduli.
  void multiply(const DevicePass& pass, const DevicePassBuffers& buffers, Range rows, Range columns, std::int64_t k,
                Range moduli, bool accumulate) const {
    const std::int64_t pitch = device_pitch(k);
    engine_.multiply({.rows = buffers.a + moduli.begin * rows.count * pitch,
                      .columns = buffers.b + moduli.begin * columns.count * pitch,
                      .m = rows.count,
                      .n = columns.count,
                      .pitch = pitch,
                      .moduli = static_cast<int>(moduli.count),
                      .first = static_cast<int>(moduli.begin),
                      .factor = residue_system(pass.blocking.moduli).row_factor,
                      .accumulate = accumulate,
                      .out = buffers.c + moduli.begin * product_units(rows.count, columns.count).plane_bytes(),
                      .scratch = buffers.sums,
                      .steps = buffers.steps},
                     stream_);
  }

  void round(const DevicePass& pass, const DevicePassBuffers& buffers, Range rows, Range columns, bool specials) const {
    const Range all{0, plan_.shape.k};
    const DeviceExactBlock<T> block{.moduli = pass.blocking.moduli,
                                    .residues = buffers.c,
                                    .m = rows.count,
                                    .n = columns.count,
                                    .a = part_of(problem_.a, rows, all),
                                    .b = part_of(problem_.b, columns, all),
                                    .row_statistics = vectors_.a_statistics + rows.begin,
                                    .column_statistics = vectors_.b_statistics + columns.begin,
                                    .row_scales = vectors_.a_scales + rows.begin,
                                    .column_scales = vectors_.b_scales + columns.begin,
                                    .row_errors = vectors_.a_errors + rows.begin,
                                    .column_errors = vectors_.b_errors + columns.begin,
                                    .row_lowest_bits = from(vectors_.a_lowest_bits, rows.begin),
                                    .column_lowest_bits = from(vectors_.b_lowest_bits, columns.begin),
                                    .alpha = problem_.alpha,
                                    .beta = problem_.beta,
                                    .rounding = rounding_,
                                    .c = problem_.c + rows.begin + columns.begin * problem_.ldc,
                                    .ldc = problem_.ldc,
                                    .specials = specials,
                                    .open = buffers.open,
                                    .counts = vectors_.open_counts};
    round_on_device(block, stream_);
    refine_open_entries(block, stream_);
    accumulate_on_device(block, stream_);
    if (specials) special_entries_on_device(block, stream_);
  }

  static DeviceLowestBitsLists from(const DeviceLowestBitsLists& lowest_bits, std::int64_t vector) {
    return {lowest_bits.counts + vector, lowest_bits.places + vector * kept_places};
  }

  const DeviceProductPlan& plan_;
  const DeviceInt8Engine& engine_;
  const DeviceResidueProblem<T>& problem_;
  Rounding rounding_;
  cudaStream_t stream_;
  Arena arena_;  // of the passes, behind the vectors' data
  DeviceVectorBuffers vectors_;
  bool planes_ready_ = false;     // the planes are those of the pass at hand
  std::int64_t moduli_done_ = 0;  // whose products are under way
};

// The sample as the choice of moduli reads it.
template <class T>
ExactQuestion question_of(const ProductShape& shape, const DeviceSample& sample) {
  ExactQuestion q;
  q.shape = shape;
  q.device = true;
  q.precision = Ieee754<T>::precision;
  q.rows_exact_log2 = sample.exact_log2_32[0] / 32.0;
  q.columns_exact_log2 = sample.exact_log2_32[1] / 32.0;
  const int sizes[2] = {sample_size(shape.m), sample_size(shape.n)};
  for (const int side : {0, 1})
    for (int v = 0; v < sizes[side]; ++v) {
      ExactVector x = exact_vector(sample.statistics[side][v], sample.lowest_bit[side][v]);
      const unsigned* needed = sample.needed[side][v];
      x.inexact.assign(needed, needed + sampled_exponents);
      count_inexact_above(x.inexact);
      (side == 0 ? q.rows : q.columns).push_back(std::move(x));
    }
  for (int r = 0; r < sizes[0]; ++r)
    for (int c = 0; c < sizes[1]; ++c) {
      const double squares = sample.squares[0][r] * sample.squares[1][c];
      if (squares == 0) continue;
      q.entries.push_back({static_cast<std::size_t>(r), static_cast<std::size_t>(c),
                           std::log2(std::abs(sample.dot[r][c]) / std::sqrt(squares))});
    }
  return q;
}

}  // namespace

template <class T>
void exact_gemm(const DeviceProductPlan& plan, const DeviceInt8Engine& engine, const DeviceResidueProblem<T>& problem,
                const Options& options, Report& report) {
  const auto stream = static_cast<cudaStream_t>(options.stream);
  if (without_host(options))
    fail(Status::unsupported,
         "gemm: contract exact cannot be captured in a graph or be had asynchronously, since the host chooses "
         "its moduli by the data");
  const DeviceWorkspace workspace(plan.vector_bytes + plan.pass_bytes, stream, options.workspace);
  ExactRun<T> run(plan, engine, problem, options.contract.rounding, stream, workspace.arena());

  const DeviceSample sample = run.measure();
  report.nonfinite_rows = sample.nonfinite[0];
  report.nonfinite_columns = sample.nonfinite[1];
  const ExactQuestion question = question_of<T>(plan.shape, sample);
  const ExactChoice ordinary = weigh_exact(question, plan.ordinary.moduli),
                    best = choose_exact_near(question, ordinary);
  DevicePass pass = ordinary_device_pass(plan);
  if (best.seconds < worth_other_scales * ordinary.seconds) {
    pass = own_exact_pass(plan, best);
    run.set_scales(pass, best);
  }
  report.plan.moduli = pass.blocking.moduli;
  report.plan.log2_modulus_product = log2_product_of_moduli(pass.blocking.moduli);
  run.run(pass, report.nonfinite_rows + report.nonfinite_columns > 0);
  if (!options.count_open) return;
  const DeviceOpenCounts open = run.open_counts();
  report.undecided = static_cast<std::int64_t>(open.total_open);
  report.accumulated = static_cast<std::int64_t>(open.total_summed);
}

template void exact_gemm(const DeviceProductPlan&, const DeviceInt8Engine&, const DeviceResidueProblem<double>&,
                         const Options&, Report&);
template void exact_gemm(const DeviceProductPlan&, const DeviceInt8Engine&, const DeviceResidueProblem<float>&,
                         const Options&, Report&);

}  // namespace vernier::cuda
