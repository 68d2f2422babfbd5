#include "residue/gemm_cuda.hpp"

#include <algorithm>
#include <cmath>

#include "base/instantiate.hpp"
#include "base/status.hpp"
#include "cuda/device.hpp"
#include "number/ieee754.hpp"
#include "product/device_memory.hpp"
#include "residue/chain.hpp"
#include "residue/plan/exact_choice.hpp"

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

// What the host asks of the data before it chooses moduli, and the chain that follows.
template <class T>
class ExactRun {
 public:
  ExactRun(const DeviceProductPlan& plan, const DeviceInt8Engine& engine, const DeviceResidueProblem<T>& problem,
           Rounding rounding, cudaStream_t stream, Arena arena)
      : plan_(plan),
        problem_(problem),
        stream_(stream),
        arena_(arena),
        vectors_(carve_device_vectors(arena_, plan.shape, VectorUse::exact)),
        chain_(engine, problem, {.vectors = vectors_, .open_counts = vectors_.open_counts, .rounding = rounding},
               stream) {
    set_pass(ordinary_device_pass(plan));
  }

  // Statistics, the scales of ordinary data, and a sample. Where all of C is one block its planes and its first
  // products follow, to keep the GPU busy while the host thinks.
  DeviceSample measure() {
    ConversionForm form = chain_.measuring_form(pass_);
    form.words = 2;  // whatever their number: no residues are written
    const Sides<DeviceOperand<T>> x = chain_.operands();
    measure_on_device<T>(x.a, x.b, plan_.rule, form, {}, stream_);
    count_errors(vectors_.sample);
    sample_on_device(problem_.a, problem_.b, vectors_.a.statistics, vectors_.b.statistics,
                     vectors_.a.lowest_bits.counts, vectors_.b.lowest_bits.counts, vectors_.sample, stream_);
    static thread_local const PinnedMemory memory(sizeof(DeviceSample));
    check(cudaMemcpyAsync(memory.data(), vectors_.sample, sizeof(DeviceSample), cudaMemcpyDeviceToHost, stream_),
          "sample");
    const Event copied;
    copied.record(stream_);
    pass_.multiplied = pass_.converted ? moduli_beside_host(plan_) : 0;
    chain_.multiply_first(pass_, pass_.multiplied);
    copied.wait();
    return *static_cast<const DeviceSample*>(memory.data());
  }

  // A pass with scales of these data's own, in place of those of measure().
  void choose(const DevicePass& pass, const ExactChoice& choice) {
    set_pass(pass);
    const Sides<std::int64_t> counts{plan_.shape.m, plan_.shape.n};
    const Sides<int> budgets_16{choice.row_budget_16, choice.column_budget_16};
    for (const Side side : both_sides)
      set_exact_scales_on_device(counts[side], vectors_[side].statistics, vectors_[side].lowest_bits.counts,
                                 budgets_16[side], vectors_[side].scales, stream_);
    count_errors(nullptr);
  }

  void run(bool specials) {
    pass_.specials = specials;
    chain_.run(pass_);
  }

  // C is written by then: no memory is asked for.
  DeviceOpenCounts open_counts() const {
    DeviceOpenCounts counts;
    check(cudaMemcpyAsync(&counts, vectors_.open_counts, sizeof counts, cudaMemcpyDeviceToHost, stream_), "counts");
    check(cudaStreamSynchronize(stream_), "counts");
    return counts;
  }

 private:
  void set_pass(const DevicePass& pass) {
    Arena arena = arena_;
    pass_ = {.pass = pass,
             .buffers = carve_device_pass(arena, pass.blocking, plan_.limits),
             .scales = {vectors_.a.scales, vectors_.b.scales}};
  }

  // What the scales of the moment leave of the elements; and the planes of the pass, if it takes all of C at once.
  void count_errors(DeviceSample* sample) {
    check(cudaMemsetAsync(vectors_.cleared, 0, vectors_.cleared_bytes, stream_), "counts");
    pass_.converted = pass_.pass.blocking.whole(plan_.shape) && counts_with_residues(pass_.pass.words);
    const Sides<const Operand<T>*> x{&problem_.a, &problem_.b};
    ConversionForm form = chain_.form(pass_.pass);
    if (!pass_.converted) form.words = 2;  // whatever their number: no residues are written
    const auto operand = [&](Side side, std::uint8_t* planes) {
      return DeviceOperand<T>{*x[side], nullptr, vectors_[side].scales, pass_.converted ? planes : nullptr};
    };
    decompose_counting_on_device<T>(operand(Side::left, pass_.buffers.a), operand(Side::right, pass_.buffers.b),
                                    {vectors_.a.lowest_bits, vectors_.b.lowest_bits}, form, stream_);
    const auto errors = [&](Side side) {
      const DeviceVectors& v = vectors_[side];
      return DeviceVectorErrors{x[side]->vectors, v.statistics, v.lowest_bits.counts, v.scales, v.errors};
    };
    set_errors_on_device(errors(Side::left), errors(Side::right), sample, stream_);
  }

  const DeviceProductPlan& plan_;
  const DeviceResidueProblem<T>& problem_;
  cudaStream_t stream_;
  Arena arena_;  // of the passes, behind the vectors' data
  DeviceVectorBuffers vectors_;
  ResidueChain<T> chain_;
  ChainPass pass_;  // at hand
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
  const bool own = best.seconds < worth_other_scales * ordinary.seconds;
  if (own) run.choose(own_exact_pass(plan, best), best);
  report.plan.moduli = own ? best.moduli : plan.ordinary.moduli;
  report.plan.log2_modulus_product = log2_product_of_moduli(report.plan.moduli);
  run.run(report.nonfinite_rows + report.nonfinite_columns > 0);
  if (!options.count_open) return;
  const DeviceOpenCounts open = run.open_counts();
  report.undecided = static_cast<std::int64_t>(open.total_open);
  report.accumulated = static_cast<std::int64_t>(open.total_summed);
}

VERNIER_REAL_INSTANCES(exact_gemm)

}  // namespace vernier::cuda
