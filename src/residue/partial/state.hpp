// What a distributed product is at one party: from the statistics of all parties to scales and passes.
#pragma once

#include <algorithm>
#include <bit>
#include <memory>
#include <vector>

#include "base/asked_device.hpp"
#include "base/environment.hpp"
#include "base/status.hpp"
#include "base/workspace.hpp"
#include "number/digit_sum.hpp"
#include "product/arguments.hpp"
#include "residue/gemm.hpp"
#include "residue/partial/pass_data.hpp"
#include "residue/partial/scan.hpp"
#include "residue/partial_gpu/device_parts.hpp"
#include "residue/plan/bounds.hpp"
#include "residue/scale/block_spans.hpp"
#include "residue/scale/scale_search.hpp"
#include "residue/scale/vector_needs.hpp"

namespace vernier {

// What block spans cost the vectors of both operands, from the deficits that the parties have put together.

// What each vector of one side asks, with spans, of all of the other.
inline std::vector<std::uint8_t> norm_bits(const ScannedSide& side) {
  std::vector<std::uint8_t> bits(static_cast<std::size_t>(side.stride), no_cost);
  for (std::size_t v = 0; v < side.statistics.size(); ++v)
    if (!side.statistics[v].zero()) bits[v] = norm_bits_of(side.statistics[v]);
  return bits;
}

struct SpanCostsOfSides {
  std::vector<std::uint8_t> rows, columns;
};

template <class R>
SpanCostsOfSides span_costs_of(const Scan& scan, std::int64_t k, const Int8Engine& engine) {
  const ScannedSide &a = scan.side(Side::left), &b = scan.side(Side::right);
  SpanCostsOfSides costs{std::vector<std::uint8_t>(static_cast<std::size_t>(a.stride)),
                         std::vector<std::uint8_t>(static_cast<std::size_t>(b.stride))};
  const std::vector<std::uint8_t> row_bits = norm_bits(a), column_bits = norm_bits(b);
  for (std::int64_t j = 0; j < b.count(); j += span_lanes)
    backend_of<R>(engine).span_costs({{a.deficits.data(), a.stride, row_bits.data(), costs.rows.data()},
                                      {b.deficits.data(), b.stride, column_bits.data(), costs.columns.data()},
                                      span_blocks(k),
                                      a.count()},
                                     j);
  costs.rows.resize(static_cast<std::size_t>(a.count()));
  costs.columns.resize(static_cast<std::size_t>(b.count()));
  return costs;
}

inline constexpr const char* distributed_routine = "DistributedProduct";

inline void set_digits(PassData& pass, int exponent) {
  pass.narrow = exponent <= narrow_exponent;
  for (pass.limbs = 1; exponent > largest_exponent(pass.limbs);) ++pass.limbs;
}

template <class T>
struct DistributedState {
  using R = RealType<T>;
  static constexpr int parts = parts_of_type<T>;

  // Of all vectors of a side, where all elements become integers: the largest exponent and norm; and where bits lie.
  struct IntegerNeeds {
    int exponent = 0;
    double norm = 0;  // log2
    int lowest = 0, highest = 0;
    bool any = false;
  };

  Op opa, opb;
  std::int64_t m, n, k;
  Contract contract;
  int threads;
  const Int8Engine& engine;
  Device device;
  bool exact;
  ScalingRule rule;
  Scan scan;
  ScanRound to_follow = ScanRound::done;  // the round whose end nothing has followed from yet
  Scaling scaling;
  std::vector<VectorProof> row_proofs, column_proofs;
  IntegerNeeds row_needs, column_needs;  // under exact
  std::vector<PassData> passes;
  std::unique_ptr<DeviceParts<T>> parts_on_device;  // null: memory of the host

  DistributedState(Op a, Op b, std::int64_t rows, std::int64_t columns, std::int64_t inner, const Options& options,
                   std::unique_ptr<DeviceParts<T>> on_device)
      : opa(a),
        opb(b),
        m(rows),
        n(columns),
        k(inner),
        contract(options.contract),
        threads(usable_threads(options.threads)),
        engine(find_int8_engine(options.engine)),
        device(requested_engine(options.engine).empty() ? asked_device(options) : Device::cpu),
        exact(contract.kind == Contract::Kind::exact),
        rule(scaling_rule<R>(contract, std::max<std::int64_t>(1, parts * k))),
        scan(m, n, parts * k, rule.componentwise && !exact, exact),
        parts_on_device(std::move(on_device)) {
    if (scan.round() == ScanRound::done) choose();
  }

  bool conjugated(Side side) const { return (side == Side::left ? opa : opb) == Op::conjugate_transpose; }
  bool vectors_are_rows(Side side) const { return side == Side::left ? opa == Op::none : opb != Op::none; }
  PartView<T> view(Side side, const MatrixPart<const T>& part) const { return {part, vectors_are_rows(side)}; }

  // Where elements of this party are.
  std::shared_ptr<std::byte> memory(std::size_t bytes) const {
    if (parts_on_device) return parts_on_device->memory(bytes);
    const auto own = std::make_shared<Workspace>(std::max<std::size_t>(1, bytes));
    return {own, own->data()};
  }

  const PassData& pass(int index) const {
    require(!scanning(), "{}: the scan is not complete: call combine() until scanning() is false", distributed_routine);
    require(index >= 0 && static_cast<std::size_t>(index) < passes.size(), "{}: pass = {}: expected 0 to {}",
            distributed_routine, index, passes.size() - 1);
    return passes[static_cast<std::size_t>(index)];
  }

  bool scanning() const { return scan.round() != ScanRound::done || to_follow != ScanRound::done; }

  // A call that finds no memory may be repeated: it goes on where that one stopped.
  void combine() {
    if (to_follow == ScanRound::done) {
      const ScanRound round = scan.round();
      scan.combine();
      if (scan.round() != ScanRound::done) return;
      to_follow = round;
    }
    if (to_follow == ScanRound::moduli)
      make_passes();
    else if (to_follow == ScanRound::spans)
      choose_with_spans();
    else
      choose();
    to_follow = ScanRound::done;
  }

  // From the statistics alone; where these leave entries wide, spans are asked for, if k allows.
  void choose() {
    if (m == 0 || n == 0 || k == 0) return;
    if (exact) return choose_exact();
    scale({}, {});
    if (scaling.any_wide && parts * k <= longest_spanned_k) return scan.want_spans();
    agree();
  }

  void choose_with_spans() {
    const SpanCostsOfSides costs = span_costs_of<R>(scan, parts * k, engine);
    scale(costs.rows, costs.columns);
    agree();
  }

  void scale(BlockCosts row_costs, BlockCosts column_costs) {
    const ScannedSide &a = scan.side(Side::left), &b = scan.side(Side::right);
    row_proofs.resize(static_cast<std::size_t>(m));
    column_proofs.resize(static_cast<std::size_t>(n));
    scaling = choose_scales(rule, parts * k, a.statistics, b.statistics, row_proofs, column_proofs,
                            {row_costs, column_costs});
  }

  static constexpr int beyond = max_moduli + 1;
  static int moduli_or_beyond(double log2_bound, int exponent) {
    const int count = exponent <= largest_exponent(max_limbs) ? moduli_for(log2_bound) : 0;
    return count != 0 ? count : beyond;
  }

  void agree() {
    scan.agree({scaling.any_ordinary ? ordinary_moduli<R>(contract, parts * k) : 0,
                scaling.any_wide ? moduli_or_beyond(scaling.wide_log2, scaling.wide_exponent) : 0});
  }

  void make_passes() {
    passes.clear();
    const auto [ordinary, wide] = scan.agreed();
    if (exact) return make_exact_pass(static_cast<int>(ordinary));
    if (wide == beyond) fail_beyond_scheme(contract, scan.widest_span(Side::left), scan.widest_span(Side::right));
    if (ordinary != 0) add_pass(static_cast<int>(ordinary), rule.largest_exponent, true);
    if (wide != 0) add_pass(static_cast<int>(wide), scaling.wide_exponent, false);
  }

  PassData& add_pass(int moduli, int exponent, bool ordinary) {
    PassData& pass = passes.emplace_back();
    pass.layout = {.parts = parts, .moduli = moduli};
    set_digits(pass, exponent);
    pass.ordinary = ordinary;
    pass.specials = scan.nonfinite();
    pass.engine = &engine;
    pass.threads = threads;
    pass.device = device;
    const auto scales_of = [&](const std::vector<VectorProof>& proofs) {
      std::vector<int> scales;
      for (const VectorProof& p : proofs) scales.push_back(ordinary ? p.ordinary : p.wide);
      return scales;
    };
    pass.scales = {scales_of(row_proofs), scales_of(column_proofs)};
    if (moduli > 0) pass.tables = std::make_shared<RecombineTables>(residue_system(moduli));
    return pass;
  }

  IntegerNeeds make_integers(const ScannedSide& side, std::vector<VectorProof>& proofs) const {
    proofs.assign(side.statistics.size(), {.proofs = proof_sets - 1});
    IntegerNeeds needs;
    for (std::size_t v = 0; v < proofs.size(); ++v) {
      const VectorStatistics& s = side.statistics[v];
      if (s.zero()) continue;
      const int lowest = side.lowest_bits[v], exponent = s.exponent - lowest;
      proofs[v].ordinary = -lowest;
      needs.exponent = std::max(needs.exponent, exponent);
      needs.norm = std::max(needs.norm, norm_log2(s, parts * k, exponent));
      needs.lowest = needs.any ? std::min(needs.lowest, lowest) : lowest;
      needs.highest = needs.any ? std::max(needs.highest, s.exponent) : s.exponent;
      needs.any = true;
    }
    return needs;
  }

  // All elements become integers: the sums are exact, and one rounding is left.
  void choose_exact() {
    row_needs = make_integers(scan.side(Side::left), row_proofs);
    column_needs = make_integers(scan.side(Side::right), column_proofs);
    scan.agree({moduli_or_beyond(row_needs.norm + column_needs.norm, integer_exponent()), 0});
  }
  int integer_exponent() const { return std::max(row_needs.exponent, column_needs.exponent); }

  void make_exact_pass(int moduli) {
    if (moduli != beyond) {
      add_pass(moduli, integer_exponent(), true);
      return;
    }
    ElementLayout& layout = add_pass(0, 0, true).layout;
    layout.lowest = row_needs.lowest + column_needs.lowest;
    const int highest = row_needs.highest + column_needs.highest + 2;
    const int bits = highest + std::bit_width(static_cast<std::uint64_t>(2 * k)) - layout.lowest;
    layout.digits = bits / digit_bits + 2;
  }

  void check_scalars(T alpha, T beta) const {
    if constexpr (parts == 2)
      if (exact && (alpha.imag() != 0 || beta.imag() != 0))
        fail(Status::unsupported, "{}: contract exact: for complex matrices it is kept where alpha and beta are real",
             distributed_routine);
  }
};

}  // namespace vernier
