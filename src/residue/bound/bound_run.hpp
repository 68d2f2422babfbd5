// The product of |A| and |B| of one product on a workspace and a stream, from the statistics to the scales.
#pragma once

#include "product/operand_blocks.hpp"
#include "residue/bound/bound_kernels.hpp"
#include "residue/convert/convert.hpp"
#include "residue/plan/plan_cuda.hpp"
#include "vernier/level3.hpp"

namespace vernier::cuda {

template <class T>
class DeviceBoundRun {
 public:
  // arena: that of planes which are not needed meanwhile, or behind planes that are. Scales are written beside the
  // ordinary ones. route: where no host waits, what is queued. balance: null, or that of balanced operands.
  DeviceBoundRun(const DeviceProductPlan& plan, const Sides<Operand<T>>& x, const DeviceVectorBuffers& vectors,
                 cudaStream_t stream, Arena arena, const DeviceRoutePlan* route, const std::int8_t* balance)
      : plan_(plan),
        route_(route),
        route_words_(vectors.route),
        guess_(vectors.guess),
        filled_planes_{vectors.a.filled, vectors.b.filled},
        exponents_(vectors.balance),
        balance_(balance),
        plain_(x),
        x_{},
        stream_(stream),
        buffers_(carve_device_bound(arena, plan.shape)) {
    for (const Side side : both_sides)
      x_[side] = {.x = balanced(x[side], side, balance),
                  .statistics = vectors[side].statistics,
                  .scales = vectors[side].wide_scales};
    write_bytes_with(x_);
  }

  // The kernel that measures these operands writes the bytes of the product, too.
  void write_bytes_with(Sides<DeviceOperand<T>>& x) const {
    for (const Side side : both_sides) {
      x[side].bound_bytes = buffers_.side[side].bytes;
      x[side].filled_bytes = knows_filled() ? buffers_.side[side].filled : nullptr;
    }
  }

  // ... those of every k that the step of a guess divides.
  void write_part_with(Sides<DeviceOperand<T>>& x, int guess) const {
    for (const Side side : both_sides) {
      x[side].bound_bytes = buffers_.side[side].bytes;
      x[side].bound_step = k_step(guess);
    }
  }

  // The product and the exponents that it asks for, behind a gate: the host need not know yet whether they are wanted.
  void measure(bool bytes_are_there, const Gate& gate) const {
    if (!bytes_are_there) {
      clear_filled();
      bound_bytes_on_device(x_.a, x_.b, stream_, gate);
    }
    const BoundTask task = task_of(gate);
    clear_sample_on_device(task.sample, stream_);
    if (task.rule.rms > 0) sample_on_device(x_.a.x, x_.b.x, task, stream_);
    if (route_ == nullptr && (plan_.balanced_guesses() > 0 || plan_.may_copy_balanced())) balance(false, gate);
    weigh_on_device(task, stream_);
    multiply(device_pitch(plan_.shape.k), buffers_.codes, gate);
    set_bound_exponents_on_device(task, stream_);
  }

  // Before bytes of the whole product are written.
  void clear_filled() const {
    if (knows_filled())
      check(cudaMemsetAsync(buffers_.side.a.filled, 0, buffers_.filled_bytes, stream_), "filled pieces");
  }

  // The exponents that balance the operands, from the vectors of the sample; gather: which are not there, of operands
  // as they are. Kernels that gather balanced ones begin no earlier than when the first that waits behind this has
  // begun.
  void balance(bool gather, const Gate& gate = {}) const {
    balance_on_device(gather ? &plain_.a : nullptr, gather ? &plain_.b : nullptr, task_of(gate), exponents_, stream_);
  }

  // Between the least and the largest exponent that balances the operands; the host waits.
  int grading() const { return on_host(buffers_.sample.words, 1, stream_)[0].grades(); }

  // Before operands are measured, so that the kernel that measures runs beside it; false: there is no sample.
  bool sample_first() const {
    const BoundTask task = task_of({});
    if (task.rule.rms > 0) sample_on_device(x_.a.x, x_.b.x, task, stream_, true);
    return task.rule.rms > 0;
  }

  // Do residues by the scales of a guess serve? From bytes of every k that k_step() divides. serves: whom the kernel
  // answers.
  void judge(int guess, const Gate& gate, const HostAnswer& serves, bool sampled) const {
    BoundTask task = task_of({});
    if (task.rule.rms > 0 && !sampled) sample_on_device(x_.a.x, x_.b.x, task, stream_);
    task.gate = gate;
    const std::int64_t part = divide_up(task.k, k_step(guess));
    task.rule.part = static_cast<double>(part) / static_cast<double>(task.k);
    task.product = fp8_part_product();
    task.judged = guess - 1 - task.guesses.before;
    task.serves = serves;
    weigh_on_device(task, stream_);
    multiply(part, nullptr, gate);
    judge_guess_on_device(task, stream_);
  }

  int k_step(int guess) const { return guess_k_step(plan_, guess_of(plan_.least_guess, guess).moduli); }

  // Of a guess that nothing was found out about, as a closed gate leaves it.
  void clear_guess() const {
    check(cudaMemsetAsync(guess_, 0, sizeof(GuessFindings), stream_), "guess");
    clear_sample_on_device(buffers_.sample, stream_);
  }

  // The moduli, and what these leave for the scales.
  void choose(const Gate& gate) const { choose_bound_moduli_on_device(task_of(gate), stream_); }

  // Open if the guess serves, or if nothing was measured; or if it fails.
  Gate guess_gate(bool serves) const { return {&guess_->fails, serves ? 0 : 1}; }

  // Of a guess that failed; the host waits.
  GuessFindings guess_findings() const { return on_host(guess_, 1, stream_)[0]; }

  // What came of it; the host waits.
  BoundFindings findings(Report& report) const {
    const BoundFindings found = on_host(buffers_.found, 1, stream_)[0];
    report.span_a = found.span[0];
    report.span_b = found.span[1];
    report.nonfinite_rows = found.nonfinite[0];
    report.nonfinite_columns = found.nonfinite[1];
    return found;
  }

 private:
  void multiply(std::int64_t k, std::uint8_t* codes, const Gate& gate) const {
    multiply_bound_on_device({.rows = buffers_.side.a.bytes,
                              .columns = buffers_.side.b.bytes,
                              .m = plan_.shape.m,
                              .n = plan_.shape.n,
                              .pitch = device_pitch(k),
                              .k = k,
                              .row = buffers_.side.a.side,
                              .column = buffers_.side.b.side,
                              .codes = codes,
                              .filled = codes != nullptr ? filled() : FilledPieces{},
                              .gate = gate},
                             stream_);
  }

  bool knows_filled() const { return plan_.shape.k <= longest_filled_k; }
  FilledPieces filled() const {
    if (!knows_filled()) return {};
    return {buffers_.side.a.filled, buffers_.side.b.filled, static_cast<int>(piece_words(plan_.shape.k))};
  }

  BoundGuesses guesses() const {
    const bool balanced = balance_ != nullptr;
    BoundGuesses all{.least = plan_.least_guess,
                     .count = balanced ? plan_.balanced_guesses() : plan_.guesses(),
                     .before = balanced ? most_guesses : 0};
    for (int g = 0; g < all.count; ++g) {
      const Guess guess = guess_of(all.least, all.before + g + 1);
      for (const int side : {0, 1}) {
        ScalingRule rule = guess_rule(plan_, guess.moduli);
        rule.twice_norm_bits_16 += side == 0 ? guess.share_32 : -guess.share_32;
        all.chooser[g][side] = ScaleChooser(rule, plan_.shape.k);
      }
    }
    return all;
  }

  BoundOperand operand(Side side, std::int64_t vectors) const {
    return {x_[side].statistics, vectors, buffers_.side[side], x_[side].scales};
  }

  BoundTask task_of(const Gate& gate) const {
    const ProductShape& s = plan_.shape;
    return {.rule = *plan_.bound,
            .product = fp8_bound_product(),
            .k = s.k,
            .operand = {operand(Side::left, s.m), operand(Side::right, s.n)},
            .codes = buffers_.codes,
            .found = buffers_.found,
            .filled = filled(),
            .filled_planes = {filled_planes_.a, filled_planes_.b},
            .choices = route_ != nullptr ? bound_choices(route_->classes) : bound_choices(most_hollow_moduli(plan_)),
            .sample = plan_.bound->rms > 0 ? buffers_.sample : BoundSampleOnDevice{},
            .guesses = guesses(),
            .guess = guess_,
            .route = route_ != nullptr ? route_words_ : nullptr,
            .native = route_ != nullptr && route_->native,
            .gate = gate};
  }

  const DeviceProductPlan& plan_;
  const DeviceRoutePlan* route_;
  DeviceRoute* route_words_;
  GuessFindings* guess_;
  Sides<std::uint32_t*> filled_planes_;
  std::int8_t* exponents_;
  const std::int8_t* balance_;
  Sides<Operand<T>> plain_;
  Sides<DeviceOperand<T>> x_;
  cudaStream_t stream_;
  DeviceBoundBuffers buffers_;
};

}  // namespace vernier::cuda
