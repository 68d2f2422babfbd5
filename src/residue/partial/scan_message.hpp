// What the elements of one party add to the message of a round.
#pragma once

#include <algorithm>
#include <array>

#include "residue/partial/gather.hpp"
#include "residue/partial/scan.hpp"
#include "residue/partial/scan_element.hpp"
#include "residue/partial/scan_loops.hpp"
#include "residue/scale/block_spans.hpp"

namespace vernier {

// What one party's elements add to the message of the round.
struct RoundMessage {
  ScanStep step;
  const ScannedSide& side;
  std::int64_t offset;  // vectors of the other side that come before
  std::int64_t k;
  std::int64_t *maxima, *sums;

  bool concerns(std::int64_t vector) const {
    const std::int64_t at = offset + vector - step.first;
    return step.round == ScanRound::spans    ? at >= 0 && at < step.count
           : step.round == ScanRound::depths ? side.deep_places[static_cast<std::size_t>(vector)] >= 0
                                             : true;
  }

  template <class R>
  void add(std::int64_t vector, std::int64_t k_index, R x) const {
    const auto i = static_cast<std::size_t>(vector);
    const int exponent = step.round == ScanRound::extremes ? 0 : side.statistics[i].exponent;
    switch (step.round) {
      case ScanRound::extremes:
        return add_extremes(x, maxima + extreme_words * (offset + vector));
      case ScanRound::sums:
        return add_sums(x, quantum_scale(exponent), sums + sum_words * (offset + vector));
      case ScanRound::depths:
        return add_depths(x, exponent, sums + depth_words * side.deep_places[i]);
      case ScanRound::spans:
        sums[span_words(k) * (offset + vector - step.first) + k_index / packed_deficits] +=
            static_cast<std::int64_t>(deficit_of(x, exponent)) << (8 * (k_index % packed_deficits));
        return;
      case ScanRound::moduli:
      case ScanRound::done:
        return;
    }
  }
};

template <class T>
void add_strip(const PartView<T>& view, const Strip<T>& strip, const RoundMessage& message) {
  for (std::int64_t v = 0; v < strip.vectors; ++v) {
    const std::int64_t vector = view.vector(strip.begin + v);
    if (!message.concerns(vector)) continue;
    for (int p = 0; p < Strip<T>::parts; ++p)
      for (std::int64_t l = 0; l < strip.ks; ++l)
        message.add(vector, Strip<T>::parts * view.k_at(strip.k_begin + l) + p, strip.part(p)[l * strip_size + v]);
  }
}

// A part as real vectors: those of a complex one are twice as long, or twice as many, which then count in pairs.
template <class T>
class RealVectors {
 public:
  using R = RealType<T>;
  static constexpr int parts = parts_of_type<T>;

  explicit RealVectors(const PartView<T>& view)
      : view_(view), pairs_(parts == 2 && view.vectors_are_rows), x_(operand(view, pairs_)) {}

  // A vector with NaN or infinity: false, with nothing added.
  bool add(std::int64_t first, std::int64_t count, const ScanLoops<R>& loops, const RoundMessage& message) const {
    return message.step.round == ScanRound::extremes ? add_ranges(first, count, loops, message)
                                                     : add_sums_of(first, count, loops, message);
  }

 private:
  static Operand<R> operand(const PartView<T>& view, bool pairs) {
    return {reinterpret_cast<const R*>(view.part.X), view.vectors() * (pairs ? 2 : 1),
            view.ks() * (parts == 2 && !pairs ? 2 : 1), view.part.ldx * parts, !view.vectors_are_rows};
  }

  template <class Body>
  void in_groups(std::int64_t first, std::int64_t count, Body body) const {
    const std::int64_t group = scanned_vectors / (pairs_ ? 2 : 1);
    for (std::int64_t v = first; v < first + count; v += group) body(v, std::min(group, first + count - v));
  }

  bool add_ranges(std::int64_t first, std::int64_t count, const ScanLoops<R>& loops,
                  const RoundMessage& message) const {
    std::array<MagnitudeRange<R>, scanned_vectors> ranges;
    bool finite = true;
    in_groups(first, count, [&](std::int64_t begin, std::int64_t vectors) {
      std::array<MagnitudeRange<R>, scanned_vectors> lanes;
      const int lanes_each = pairs_ ? 2 : 1;
      loops.ranges(x_, begin * lanes_each, vectors * lanes_each, lanes.data());
      for (std::int64_t v = 0; v < vectors * lanes_each; ++v) {
        ranges[static_cast<std::size_t>(begin - first + v / lanes_each)].add(lanes[static_cast<std::size_t>(v)]);
        finite = finite && lanes[static_cast<std::size_t>(v)].finite();
      }
    });
    if (!finite) return false;
    for (std::int64_t v = 0; v < count; ++v) {
      const MagnitudeRange<R>& range = ranges[static_cast<std::size_t>(v)];
      if (range.largest == 0) continue;
      using Bits = typename Ieee754<R>::Bits;
      std::int64_t* words = message.maxima + extreme_words * (message.offset + view_.vector(first + v));
      raise(words[0], bias + exponent_of<R>(static_cast<Bits>(range.largest)));
      raise(words[1], bias - exponent_of<R>(static_cast<Bits>(range.smallest)));
    }
    return true;
  }

  bool add_sums_of(std::int64_t first, std::int64_t count, const ScanLoops<R>& loops,
                   const RoundMessage& message) const {
    const auto of = [&](std::int64_t v) -> const VectorStatistics& {
      return message.side.statistics[static_cast<std::size_t>(view_.vector(v))];
    };
    if (x_.k > longest_summed) return false;
    for (std::int64_t v = first; v < first + count; ++v)
      if (of(v).nonfinite) return false;
    in_groups(first, count, [&](std::int64_t begin, std::int64_t vectors) {
      const int lanes_each = pairs_ ? 2 : 1;
      std::array<int, scanned_vectors> exponents{};
      std::array<VectorSums, scanned_vectors> lanes;
      for (std::int64_t v = 0; v < vectors * lanes_each; ++v)
        exponents[static_cast<std::size_t>(v)] = of(begin + v / lanes_each).exponent;
      loops.sums(x_, begin * lanes_each, vectors * lanes_each, exponents.data(), lanes.data());
      for (std::int64_t v = 0; v < vectors * lanes_each; ++v) {
        const VectorSums& sums = lanes[static_cast<std::size_t>(v)];
        std::int64_t* words = message.sums + sum_words * (message.offset + view_.vector(begin + v / lanes_each));
        words[0] += static_cast<std::int64_t>(sums.squares);
        words[1] += static_cast<std::int64_t>(sums.sum);
        for (std::size_t i = 0; i < shallow_depths.size(); ++i)
          words[2 + i] += static_cast<std::int64_t>(sums.clipped[i]);
      }
    });
    return true;
  }

  const PartView<T>& view_;
  const bool pairs_;
  const Operand<R> x_;
};

}  // namespace vernier
