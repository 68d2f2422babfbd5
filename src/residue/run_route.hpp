// What is queued where the device decides what irregular products need (run.hpp).
#pragma once

#include "residue/route_words.hpp"
#include "residue/run.hpp"

namespace vernier::cuda {

template <class T>
void DeviceRun<T>::run_without_host(Outcome* outcome, FirstKernel first, int guess, const LastProduct& last) {
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
    if (first != FirstKernel::whole) run_blocks(false, {irregular()});
    const Gate gate{irregular(), 1};
    if (route.bound && first != FirstKernel::bytes) measure_bound(route, gate);
    route.bound ? follow_by_bound(route, gate) : follow(route);
  }
  leave_route(vectors_, outcome, stream_);
}

template <class T>
Scaling DeviceRun<T>::scale(Report& report) {
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

template <class T>
typename DeviceRun<T>::Spans DeviceRun<T>::measure_spans(const Gate& gate) {
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

template <class T>
void DeviceRun<T>::choose_scales(const DeviceRoutePlan& plan) {
  const bool spans = plan.spans && plan_.shape.k <= longest_spanned_k;
  choose_route(plan, spans, nullptr);
  if (!spans) return;
  const Spans measured = measure_spans({&vectors_.route->spanned, 1});
  choose_route(plan, false, &measured);
}

template <class T>
void DeviceRun<T>::follow(const DeviceRoutePlan& plan) {
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

template <class T>
void DeviceRun<T>::follow_classes(const DeviceRoutePlan& plan, bool specials) {
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

template <class T>
void DeviceRun<T>::measure_bound(const DeviceRoutePlan& plan, const Gate& gate) {
  if (plan.classes.count == 0) return;
  const DeviceBoundRun<T> bounds = bound(0, &plan);
  bounds.measure(false, gate);
  bounds.choose(gate);
}

template <class T>
void DeviceRun<T>::follow_by_bound(const DeviceRoutePlan& plan, const Gate& gate) {
  follow_classes(plan, !plan.native);
  if (plan.native) multiply_natively(plan.classes.count > 0 ? Gate{&vectors_.route->native, 1} : gate);
}

template <class T>
void DeviceRun<T>::multiply_natively(const Gate& gate) {
  multiply_conventionally<T>({.rows = conventional(problem_.a),
                              .columns = conventional(problem_.b),
                              .k = plan_.shape.k,
                              .to = problem_.to,
                              .gate = gate},
                             stream_);
}

template <class T>
void DeviceRun<T>::choose_route(const DeviceRoutePlan& plan, bool spans_follow, const Spans* spans) {
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

}  // namespace vernier::cuda
