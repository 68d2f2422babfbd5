// One product by residues on a workspace and a stream: what is decided, by the device or the host, and what follows.
#pragma once

#include <cstdlib>
#include <memory>

#include "cuda/device.hpp"
#include "product/device_memory.hpp"
#include "product/native/conventional.hpp"
#include "residue/bound/bound_run.hpp"
#include "residue/chain.hpp"
#include "residue/route_words.hpp"
#include "residue/scale/block_spans_cuda.hpp"
#include "residue/scale/route_choice.hpp"
#include "residue/symmetric.hpp"

namespace vernier::cuda {

// What the first kernel writes beside statistics and scales.
enum class FirstKernel {
  statistics,  // nothing
  whole,       // residues of a regular product, whose products follow
  bytes,       // operands of the product of |A| and |B|
  guess        // both: residues that a part of that product may find to serve
};

// One product on one workspace and one stream: what the device decides, and the passes that follow.
template <class T>
class DeviceRun {
 public:
  // native: null, or of which the conventional product is, where it may take over.
  DeviceRun(const DeviceProductPlan& plan, const DeviceInt8Engine& engine, const DeviceResidueProblem<T>& problem,
            cudaStream_t stream, Arena arena, const DeviceResidueProblem<T>* native = nullptr)
      : plan_(plan),
        problem_(problem),
        native_(native != nullptr ? *native : problem),
        stream_(stream),
        arena_(arena),
        vectors_(carve_device_vectors(arena_, plan.shape)),
        clusters_(cuda::takes_later_kernels()),
        chain_(engine, problem, {.vectors = vectors_}, stream) {}

  // Everything follows the statistics in one chain.
  static bool at_once(const DeviceProductPlan& plan) {
    return plan.ordinary.whole(plan.shape) && !plan.ordinary.form.strassen;
  }

  // Is op(B) op(A) transposed? Half of all that is queued from here on is left out then. False: there is no such half.
  bool compare() {
    if (!may_be_symmetric(problem_, plan_.printable.contract)) return false;
    int* word = &vectors_.guess->asymmetric;
    check(cudaMemsetAsync(word, 0, sizeof *word, stream_), "symmetry");
    if constexpr (std::is_same_v<T, double>)
      if (!same_place(problem_.a, problem_.b)) compare_on_device(problem_.a, problem_.b, word, stream_);
    asymmetric_ = word;
    return true;
  }
  bool is_symmetric() const { return on_host(asymmetric_, 1, stream_)[0] == 0; }  // after compare(); the host waits

  // Statistics and ordinary scales, and what follows from them.
  void start(const Regularity& regularity, bool specials, FirstKernel first, const DeviceRoutePlan* route = nullptr) {
    balance_ = nullptr;
    if (plan_.symmetric) compare();
    ChainPass p = ordinary(specials, {regularity.is_irregular});
    p.converted = first == FirstKernel::whole;
    Sides<DeviceOperand<T>> x = p.converted ? chain_.operands(planes_of(p)) : chain_.operands();
    if (first == FirstKernel::bytes) {
      bound(0, route).clear_filled();
      bound(0, route).write_bytes_with(x);
    }
    ConversionForm measured = chain_.measuring_form(p);
    measured.deep = !plan_.bound;  // the product of |A| and |B| costs no more than a look at deeper thresholds
    measure_on_device<T>(x.a, x.b, plan_.rule, measured, regularity, stream_);
    if (p.converted) chain_.run(p);
    if (first != FirstKernel::bytes) return;
    const DeviceBoundRun<T> bounds = bound(0, route);
    bounds.measure(true, {regularity.is_irregular, 1});
    bounds.choose({regularity.is_irregular, 1});
  }

  // Scales by the rule of a guess, and residues unless they await the judge, beside the bytes of a part of the product
  // of |A| and |B|; all that follows opens if that part finds the scales fine enough, or if the product is regular.
  void start_by_guess(Regularity regularity, int number, const HostAnswer& serves,
                      const DeviceRoutePlan* route = nullptr) {
    const Guess guess = guess_of(plan_.least_guess, number);
    balance_ = guess.balanced ? vectors_.balance : nullptr;
    const DeviceBoundRun<T> bounds = bound(number, route);
    bounds.clear_guess();
    if (plan_.symmetric) compare();
    if (guess.balanced) bounds.balance(true);
    ChainPass p = pass_of(guessed_device_pass(plan_, guess.moduli));
    p.products = p.recombination = p.conversion = bounds.guess_gate(true);
    p.usual = true;
    p.converted = !guess_awaits_judge(plan_.shape);
    Sides<DeviceOperand<T>> x = p.converted ? chain_.operands(planes_of(p)) : chain_.operands();
    x = {balanced(x.a, Side::left), balanced(x.b, Side::right)};
    bounds.write_part_with(x, number);
    ConversionForm measured = chain_.measuring_form(p);
    measured.deep = false;
    measured.beside_previous = !guess.balanced && !guess_awaits_judge(plan_.shape) && bounds.sample_first();
    x.a.norm_share_32 = guess.share_32;
    x.b.norm_share_32 = -guess.share_32;
    regularity.by_own_rule = true;
    regularity.rule = plan_.rule;
    regularity.rule.twice_norm_bits_16 -= std::abs(guess.share_32);  // no scale is coarser than by this
    measure_on_device<T>(x.a, x.b, guess_rule(plan_, guess.moduli), measured, regularity, stream_);
    // Balanced operands that are ordinary have scales of the guess all the same, not those of ordinary ones.
    const Gate judges = guess.balanced ? Gate{} : Gate{regularity.is_irregular, 1};
    bounds.judge(number, judges, serves, measured.beside_previous);
    chain_.run(p);
  }

  // All of C with the scales that start() left, for regular products that are not done at once. usual: as most are.
  void run_blocks(bool specials, const Gate& gate = {}, bool usual = true) {
    ChainPass p = ordinary(specials, gate);
    p.usual = usual;
    chain_.run(p);
  }

  // Statistics and all that any data may need after them, one behind the other; the device opens the gates of what
  // these data need. outcome: null, or where the route is left. guess: of the first kernel, if that makes one.
  void run_without_host(Outcome* outcome, FirstKernel first, int guess, const LastProduct& last) {
    clear_route_words(vectors_, stream_);
    DeviceRoutePlan route = plan_device_route(plan_, last);
    // Conversions to many words take elements as they are.
    if (first == FirstKernel::guess && is_balanced(guess))
      route.classes = route.classes.below(least_moduli_of_many_words);
    const Regularity regularity{.state = vectors_.regularity, .is_irregular = irregular()};
    if (first == FirstKernel::guess) {
      start_by_guess(regularity, guess, {}, &route);
      const Gate gate = bound(guess).guess_gate(false);
      measure_bound(route, gate);
      follow_by_bound(route, gate);
    } else {
      start(regularity, false, first, &route);
      if (first != FirstKernel::whole) run_blocks(false, {irregular()}, first != FirstKernel::bytes);
      const Gate gate{irregular(), 1};
      if (route.bound && first != FirstKernel::bytes) measure_bound(route, gate);
      route.bound ? follow_by_bound(route, gate) : follow(route);
    }
    leave_route(vectors_, outcome, stream_);
  }

  // Of irregular products: the device chooses, and the host waits for what it needs to know of that.
  Scaling scale(Report& report) {
    DeviceRoutePlan nothing_queued;
    nothing_queued.spans = true;
    choose_scales(nothing_queued);
    const DeviceRoute route = on_host(vectors_.route, 1, stream_)[0];
    report.span_a = route.span[0];
    report.span_b = route.span[1];
    report.nonfinite_rows = route.nonfinite[0];
    report.nonfinite_columns = route.nonfinite[1];
    return {.any_ordinary = route.any_ordinary != 0,
            .any_wide = route.any_wide != 0,
            .wide_rows = route.wide_vectors[0],
            .wide_columns = route.wide_vectors[1],
            .wide_log2 = route.wide_log2,
            .wide_exponent = route.wide_exponent};
  }

  // Scales of irregular products from the product of |A| and |B|. guess: 0, or that of planes which lie beside it.
  DeviceBoundRun<T> bound(int guess = 0, const DeviceRoutePlan* route = nullptr) const {
    Arena arena = arena_;
    if (guess > 0)
      carve_device_pass(arena, guessed_device_pass(plan_, guess_of(plan_.least_guess, guess).moduli).blocking,
                        plan_.limits);
    return {plan_, {problem_.a, problem_.b}, vectors_, stream_, arena, route, balance_};
  }

  // With the scales that scale() or bound() left. share: of all operations, that its operands' pieces leave; 1: all.
  void run_pass(const DevicePass& pass, bool specials, double share = 1) {
    ChainPass p = pass_of(pass);
    p.specials = specials;
    p.filled = filled_of(pass, share);
    chain_.run(p);
  }

  // Exponents that balance the operands along k.
  const std::int8_t* find_balance() const {
    const DeviceBoundRun<T> bounds = bound();
    bounds.clear_guess();
    bounds.balance(true);
    return vectors_.balance;
  }
  int grading() const { return bound().grading(); }  // of these; the host waits

  // Where the kernel that measures leaves whether the product is regular.
  int* irregular() const { return &vectors_.route->irregular; }

 private:
  Sides<int*> ordinary_scales() const { return {vectors_.a.scales, vectors_.b.scales}; }
  Sides<int*> wide_scales() const { return {vectors_.a.wide_scales, vectors_.b.wide_scales}; }

  // With the scales of the entries that it writes.
  ChainPass pass_of(const DevicePass& pass) const {
    Arena arena = arena_;
    return {.pass = pass,
            .buffers = carve_device_pass(arena, pass.blocking, plan_.limits),
            .scales = pass.ordinary ? ordinary_scales() : wide_scales(),
            .balance = balance_,
            .asymmetric = asymmetric_};
  }

  // Of passes after the product of |A| and |B|.
  PassPieces filled_of(const DevicePass& pass, double share) const {
    if (!knows_filled(plan_, pass, share)) return {};
    return {{vectors_.a.filled, vectors_.b.filled}, share};
  }

  DeviceOperand<T> balanced(DeviceOperand<T> x, Side side) const {
    x.x = cuda::balanced(x.x, side, balance_);
    return x;
  }

  ChainPass ordinary(bool specials, const Gate& gate) const {
    ChainPass p = pass_of(ordinary_device_pass(plan_));
    p.specials = specials;
    p.conversion = p.products = p.recombination = gate;
    p.usual = true;
    return p;
  }

  static Sides<std::uint8_t*> planes_of(const ChainPass& p) { return {p.buffers.a, p.buffers.b}; }

  struct Spans : Sides<DeviceSpans> {
    std::unique_ptr<DeviceWorkspace> extra;  // only a small workspace has no room for them in that of the planes
  };

  // The planes' memory is not needed meanwhile.
  Spans measure_spans(const Gate& gate) {
    const ProductShape& s = plan_.shape;
    const std::int64_t blocks = span_blocks(s.k);
    Spans spans;
    const auto carve_spans = [&](Arena& arena) {
      for (const Side side : both_sides) {
        DeviceSpans& x = spans[side];
        x.stride = span_stride(side == Side::left ? s.m : s.n);
        const auto stride = static_cast<std::size_t>(x.stride);
        x.deficits = arena.take<std::uint8_t>(static_cast<std::size_t>(blocks) * stride);
        x.norm_bits = arena.take<std::uint8_t>(stride);
        x.costs = arena.take<unsigned>(stride);
      }
    };
    Arena count;
    carve_spans(count);
    Arena arena = arena_;
    if (count.used() > plan_.pass_bytes) {
      spans.extra = std::make_unique<DeviceWorkspace>(count.used(), stream_);
      arena = spans.extra->arena();
    }
    carve_spans(arena);
    for (const Side side : both_sides)
      block_deficits_on_device(side == Side::left ? problem_.a : problem_.b, vectors_[side].statistics, spans[side],
                               stream_, gate);
    span_costs_on_device(spans.a, spans.b, blocks, stream_, gate);
    return spans;
  }

  // Scales of irregular products, and which entries are wide.
  void choose_scales(const DeviceRoutePlan& plan) {
    const bool spans = plan.spans && plan_.shape.k <= longest_spanned_k;
    choose_route(plan, spans, nullptr);
    if (!spans) return;
    const Spans measured = measure_spans({&vectors_.route->spanned, 1});
    choose_route(plan, false, &measured);
  }

  // Irregular products, as the device chooses.
  void follow(const DeviceRoutePlan& plan) {
    DeviceRoute* route = vectors_.route;
    choose_scales(plan);
    ChainPass ordinary = pass_of(plan.ordinary);
    ordinary.conversion = ordinary.products = {&route->ordinary, plan.ordinary.blocking.moduli};
    if (plan.classes.count == 0) {  // then they are uniform, or not for residues
      ordinary.pass.every_entry = true;
      ordinary.recombination = {&route->uniform, 1};
    } else {
      ordinary.specials = true;
      ordinary.recombination = {&route->mixed, 1};
      ordinary.uniform = {&route->uniform, 1};
    }
    chain_.run(ordinary);
    follow_classes(plan, true);
    if (plan.native) multiply_natively({&route->native, 1});
  }

  // Passes of the classes of wide entries; the device chooses one.
  void follow_classes(const DeviceRoutePlan& plan, bool specials) {
    DeviceRoute* route = vectors_.route;
    for (int c = 0; c < plan.classes.count; ++c) {
      ChainPass p = pass_of(plan.wide[c]);
      p.specials = specials;
      p.device_words = true;
      p.conversion = {&route->conversion};
      p.products = p.recombination = {&route->wide, plan.classes.moduli[c]};
      p.filled = filled_of(plan.wide[c], plan.share);
      p.usual = c == plan.usual;
      chain_.run(p);
    }
  }

  // The same by scales from the product of |A| and |B|, behind a gate; and that product.
  void measure_bound(const DeviceRoutePlan& plan, const Gate& gate) {
    if (plan.classes.count == 0) return;
    const DeviceBoundRun<T> bounds = bound(0, &plan);
    bounds.measure(false, gate);
    bounds.choose(gate);
  }
  void follow_by_bound(const DeviceRoutePlan& plan, const Gate& gate) {
    follow_classes(plan, !plan.native);
    if (plan.native) multiply_natively(plan.classes.count > 0 ? Gate{&vectors_.route->native, 1} : gate);
  }

  void multiply_natively(const Gate& gate) {
    multiply_conventionally<T>({.rows = conventional(native_.a),
                                .columns = conventional(native_.b),
                                .k = plan_.shape.k,
                                .to = problem_.to,
                                .gate = gate},
                               stream_);
  }

  // spans: null, or costs that were measured.
  void choose_route(const DeviceRoutePlan& plan, bool spans_follow, const Spans* spans) {
    const auto operand = [&](Side side) {
      const DeviceVectors& v = vectors_[side];
      return RouteOperand{.statistics = v.statistics,
                          .costs = spans != nullptr ? (*spans)[side].costs : nullptr,
                          .vectors = side == Side::left ? plan_.shape.m : plan_.shape.n,
                          .kinds = v.proofs,
                          .ordinary = v.scales,
                          .wide = v.wide_scales,
                          .groups = v.group_proofs};
    };
    choose_route_on_device({.chooser = ScaleChooser(plan_.contract_rule, plan_.shape.k),
                            .k = plan_.shape.k,
                            .operand = {operand(Side::left), operand(Side::right)},
                            .route = vectors_.route,
                            .ordinary_moduli = plan.ordinary.blocking.moduli,
                            .classes = plan.classes,
                            .spans_follow = spans_follow,
                            .native = plan.native,
                            .clusters = clusters_},
                           stream_);
  }

  const DeviceProductPlan& plan_;
  const DeviceResidueProblem<T>&problem_, &native_;
  cudaStream_t stream_;
  Arena arena_;  // of the passes, behind the vectors' data
  DeviceVectorBuffers vectors_;
  bool clusters_;
  const int* asymmetric_ = nullptr;
  const std::int8_t* balance_ = nullptr;  // of a balanced guess, and of all that follows where no host waits
  ResidueChain<T> chain_;
};

}  // namespace vernier::cuda
