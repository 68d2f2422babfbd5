#include "blas/exact_gemm_cuda.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/status.hpp"
#include "blas/device_blocks.hpp"
#include "blas/device_state.hpp"
#include "cuda/device.hpp"
#include "number/ieee754.hpp"
#include "plan/exact_choice.hpp"
#include "scheme/device_convert.hpp"
#include "scheme/device_exact.hpp"
#include "scheme/residues.hpp"

namespace vernier::cuda {
namespace {

// One product on one workspace and one stream.
template <class T>
class ExactRun {
 public:
  ExactRun(const DeviceProductPlan& plan, const DeviceInt8Engine& engine, const DeviceResidueProblem<T>& problem,
           cudaStream_t stream, Arena arena)
      : plan_(plan),
        engine_(engine),
        problem_(problem),
        stream_(stream),
        arena_(arena),
        vectors_(carve_device_vectors(arena_, plan.shape, true)) {}

  // Statistics, the scales of ordinary data, and a sample. Where all of C is one block its planes follow, to keep the
  // GPU busy while the host thinks.
  DeviceSample measure() {
    const DevicePass pass = ordinary_device_pass(plan_);
    constexpr int any_words = 2;
    measure_on_device<T>({problem_.a, vectors_.a_statistics, vectors_.a_scales},
                         {problem_.b, vectors_.b_statistics, vectors_.b_scales}, plan_.rule,
                         {pass.blocking.moduli, any_words, engine_.form()}, {}, stream_);
    check(cudaMemsetAsync(vectors_.sample, 0, sizeof(DeviceSample), stream_), "sample");
    count_errors(vectors_.sample);
    sample_on_device(problem_.a, problem_.b, vectors_.a_statistics, vectors_.b_statistics, vectors_.a_grains,
                     vectors_.b_grains, vectors_.sample, stream_);
    static thread_local const PinnedMemory memory(sizeof(DeviceSample));
    check(cudaMemcpyAsync(memory.data(), vectors_.sample, sizeof(DeviceSample), cudaMemcpyDeviceToHost, stream_),
          "sample");
    const Event copied;
    copied.record(stream_);
    planes_ready_ = pass.blocking.whole(plan_.shape);
    if (planes_ready_) decompose(pass, carve(pass), {0, plan_.shape.m}, {0, plan_.shape.n}, {0, plan_.shape.k});
    copied.wait();
    return *static_cast<const DeviceSample*>(memory.data());
  }

  // Scales of these data's own, in place of those of measure().
  void set_scales(const ExactChoice& choice) {
    const ProductShape& s = plan_.shape;
    set_exact_scales_on_device(s.m, vectors_.a_statistics, vectors_.a_grains, choice.row_budget_16, vectors_.a_scales,
                               stream_);
    set_exact_scales_on_device(s.n, vectors_.b_statistics, vectors_.b_grains, choice.column_budget_16,
                               vectors_.b_scales, stream_);
    count_errors(nullptr);
    planes_ready_ = false;
  }

  void run(const DevicePass& pass, bool specials) {
    check(cudaMemsetAsync(vectors_.open_counts, 0, 2 * sizeof *vectors_.open_counts, stream_), "open entries");
    const DevicePassBuffers buffers = carve(pass);
    const ProductShape& s = plan_.shape;
    const DeviceBlocking& blocks = pass.blocking;
    const bool keep_a = s.k <= blocks.k_block;  // the planes of A then serve all blocks of columns
    for (std::int64_t i = 0; i < s.m; i += blocks.m_block) {
      const Range rows{i, std::min(blocks.m_block, s.m - i)};
      for (std::int64_t j = 0; j < s.n; j += blocks.n_block) {
        const Range columns{j, std::min(blocks.n_block, s.n - j)};
        for (std::int64_t l = 0; l < s.k; l += blocks.k_block) {
          const Range ks{l, std::min(blocks.k_block, s.k - l)};
          const Range used_rows{rows.begin, keep_a && j > 0 ? 0 : rows.count};
          if (!planes_ready_) decompose(pass, buffers, used_rows, columns, ks);
          multiply(pass, buffers, rows, columns, ks.count, l > 0);
        }
        round(pass, buffers, rows, columns, specials);
      }
    }
  }

  std::int64_t open_entries() const {
    return static_cast<std::int64_t>(on_host(vectors_.open_counts + 1, 1, stream_)[0]);
  }

 private:
  DevicePassBuffers carve(const DevicePass& pass) const {
    Arena arena = arena_;
    return carve_device_pass(arena, pass.blocking, plan_.limits);
  }

  // Residues at the scales of the moment.
  void decompose(const DevicePass& pass, const DevicePassBuffers& buffers, Range rows, Range columns, Range ks) const {
    const ConversionForm form{pass.blocking.moduli, pass.words, engine_.form()};
    decompose_on_device<T>({part_of(problem_.a, rows, ks), nullptr, vectors_.a_scales + rows.begin, buffers.a},
                           {part_of(problem_.b, columns, ks), nullptr, vectors_.b_scales + columns.begin, buffers.b},
                           form, stream_);
  }

  // What the scales of the moment leave of the elements.
  void count_errors(DeviceSample* sample) {
    count_grains_on_device(problem_.a, vectors_.a_scales, vectors_.a_grains, stream_);
    count_grains_on_device(problem_.b, vectors_.b_scales, vectors_.b_grains, stream_);
    set_errors_on_device(
        {0, plan_.shape.m, vectors_.a_statistics, vectors_.a_grains, vectors_.a_scales, vectors_.a_errors}, sample,
        stream_);
    set_errors_on_device(
        {1, plan_.shape.n, vectors_.b_statistics, vectors_.b_grains, vectors_.b_scales, vectors_.b_errors}, sample,
        stream_);
  }

  void multiply(const DevicePass& pass, const DevicePassBuffers& buffers, Range rows, Range columns, std::int64_t k,
                bool accumulate) const {
    engine_.multiply({.rows = buffers.a,
                      .columns = buffers.b,
                      .m = rows.count,
                      .n = columns.count,
                      .pitch = device_pitch(k),
                      .moduli = pass.blocking.moduli,
                      .factor = residue_system(pass.blocking.moduli).row_factor,
                      .accumulate = accumulate,
                      .out = buffers.c,
                      .scratch = buffers.sums},
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
                                    .alpha = problem_.alpha,
                                    .beta = problem_.beta,
                                    .c = problem_.c + rows.begin + columns.begin * problem_.ldc,
                                    .ldc = problem_.ldc,
                                    .specials = specials,
                                    .open = buffers.open,
                                    .open_count = vectors_.open_counts};
    round_on_device(block, stream_);
    if (specials) special_entries_on_device(block, stream_);
    accumulate_on_device(block, vectors_.open_counts + 1, stream_);
  }

  const DeviceProductPlan& plan_;
  const DeviceInt8Engine& engine_;
  const DeviceResidueProblem<T>& problem_;
  cudaStream_t stream_;
  Arena arena_;  // of the passes, behind the vectors' data
  DeviceVectorBuffers vectors_;
  bool planes_ready_ = false;  // the planes are those of the pass at hand
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
      ExactVector x = exact_vector(sample.statistics[side][v], sample.grain[side][v]);
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
  if (capturing(stream))
    fail(Status::unsupported,
         "gemm: contract exact cannot be captured in a graph, since it depends on the data how many moduli they take");
  const std::size_t bytes = plan.vector_bytes + plan.pass_bytes;
  const std::unique_ptr<DeviceWorkspace> workspace = options.workspace != nullptr
                                                         ? std::make_unique<DeviceWorkspace>(options.workspace, bytes)
                                                         : std::make_unique<DeviceWorkspace>(bytes, stream);
  std::byte* begin = align_to_page(workspace->data());
  const std::size_t room = bytes - static_cast<std::size_t>(begin - workspace->data());
  ExactRun<T> run(plan, engine, problem, stream, Arena(begin, room));

  const DeviceSample sample = run.measure();
  report.nonfinite_rows = sample.nonfinite[0];
  report.nonfinite_columns = sample.nonfinite[1];
  const ExactQuestion question = question_of<T>(plan.shape, sample);
  const ExactChoice ordinary = weigh_exact(question, plan.ordinary.moduli),
                    best = choose_exact_near(question, ordinary);
  DevicePass pass = ordinary_device_pass(plan);
  if (best.seconds < worth_other_scales * ordinary.seconds) {
    pass = own_exact_pass(plan, best);
    run.set_scales(best);
  }
  report.plan.moduli = pass.blocking.moduli;
  report.plan.log2_modulus_product = log2_product_of_moduli(pass.blocking.moduli);
  run.run(pass, report.nonfinite_rows + report.nonfinite_columns > 0);
  if (options.count_open) report.undecided = report.accumulated = run.open_entries();
}

template void exact_gemm(const DeviceProductPlan&, const DeviceInt8Engine&, const DeviceResidueProblem<double>&,
                         const Options&, Report&);
template void exact_gemm(const DeviceProductPlan&, const DeviceInt8Engine&, const DeviceResidueProblem<float>&,
                         const Options&, Report&);

}  // namespace vernier::cuda
