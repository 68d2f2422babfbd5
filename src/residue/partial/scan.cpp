#include "residue/partial/scan.hpp"

#include <omp.h>

#include <algorithm>

#include "base/environment.hpp"
#include "base/instantiate.hpp"
#include "base/status.hpp"
#include "base/workspace.hpp"
#include "residue/exact/exact.hpp"
#include "residue/partial/scan_message.hpp"

namespace vernier {

Scan::Scan(std::int64_t m, std::int64_t n, std::int64_t k, bool componentwise, bool exact)
    : k_(k), componentwise_(componentwise), exact_(exact) {
  for (auto [side, count] : {std::pair{&a_, m}, std::pair{&b_, n}}) {
    side->statistics.resize(static_cast<std::size_t>(count));
    side->lowest_bits.resize(static_cast<std::size_t>(count));
    side->deep_places.assign(static_cast<std::size_t>(count), -1);
  }
  begin({k > 0 && m > 0 && n > 0 ? ScanRound::extremes : ScanRound::done});
}

std::int64_t Scan::offset_of(Side side) const { return side == Side::left ? 0 : a_.count(); }

// The first word of the maxima says whether a party cannot go on. Where memory fails, all is as it was.
void Scan::begin(const ScanStep& step) {
  const std::int64_t vectors = a_.count() + b_.count();
  const auto deep = static_cast<std::int64_t>(a_.deep.size() + b_.deep.size());
  const std::int64_t maxima = 1 + (step.round == ScanRound::extremes ? extreme_words * vectors
                                   : step.round == ScanRound::moduli ? std::ssize(agreed_)
                                                                     : 0);
  const std::int64_t sums = step.round == ScanRound::sums     ? sum_words * vectors
                            : step.round == ScanRound::depths ? depth_words * deep
                            : step.round == ScanRound::spans  ? span_words(k_) * step.count
                                                              : 0;
  std::vector<std::int64_t> new_maxima(static_cast<std::size_t>(maxima)), new_sums(static_cast<std::size_t>(sums));
  maxima_.swap(new_maxima);
  sums_.swap(new_sums);
  step_ = step;
}

RoundMessage Scan::message(Side side) {
  return {step_, this->side(side), offset_of(side), k_, maxima_.data() + 1, sums_.data()};
}

template <class T>
void Scan::add(Side side, bool vectors_are_rows, const MatrixPart<const T>& part, int threads, std::string_view loops) {
  if (!takes_entries()) return;
  const PartView<T> view{part, vectors_are_rows};
  const RoundMessage message = this->message(side);
  const RealVectors<T> vectors(view);
  const ScanLoops<RealType<T>> fast = scan_loops<RealType<T>>(loops);
  const bool may_be_fast = step_.round == ScanRound::sums || (step_.round == ScanRound::extremes && !exact_);
  const Workspace memory(Strip<T>::bytes() * static_cast<std::size_t>(threads) + Arena::alignment);
  std::byte* strips = Arena::first_page(memory.data());
#pragma omp parallel num_threads(threads)
  {
    const FloatingEnvironment environment;
    Strip<T> strip(strips + Strip<T>::bytes() * static_cast<std::size_t>(omp_get_thread_num()));
#pragma omp for schedule(dynamic, 1)
    for (std::int64_t first = 0; first < view.vectors(); first += strip_size) {
      const std::int64_t count = std::min<std::int64_t>(strip_size, view.vectors() - first);
      if (may_be_fast && vectors.add(first, count, fast, message)) continue;
      for (std::int64_t l = 0; l < view.ks(); l += gathered_k) {
        strip.gather(view, first, l, false);
        add_strip(view, strip, message);
      }
    }
  }
}

void Scan::combine_extremes(ScannedSide& side, std::int64_t offset) {
  for (std::int64_t v = 0; v < side.count(); ++v) {
    const std::int64_t* words = maxima_.data() + 1 + extreme_words * (offset + v);
    VectorStatistics& s = side.statistics[static_cast<std::size_t>(v)];
    const bool zero = words[0] == 0;
    s.exponent = zero ? 0 : static_cast<int>(words[0] - bias);
    s.lowest = zero ? 0 : static_cast<int>(bias - words[1]);
    s.nonfinite = words[3] != 0;
    side.lowest_bits[static_cast<std::size_t>(v)] = zero ? no_lowest_bit : static_cast<int>(bias - words[2]);
  }
}

void Scan::combine_sums(ScannedSide& side, std::int64_t offset) {
  for (std::int64_t v = 0; v < side.count(); ++v) {
    const auto i = static_cast<std::size_t>(v);
    const std::int64_t* words = sums_.data() + sum_words * (offset + v);
    VectorStatistics& s = side.statistics[i];
    VectorSums sums;
    s.squares = sums.squares = static_cast<std::uint64_t>(words[0]);
    s.sum = sums.sum = static_cast<std::uint64_t>(words[1]);
    for (std::size_t d = 0; d < shallow_depths.size(); ++d) sums.clipped[d] = static_cast<std::uint64_t>(words[2 + d]);
    if (s.zero()) continue;
    s.flatness = shallow_flatness(sums, k_);
    if (s.flatness != not_flat || !componentwise_) continue;
    side.deep_places[i] = static_cast<std::int64_t>(a_.deep.size() + b_.deep.size());
    side.deep.push_back(v);
  }
}

void Scan::combine_depths(ScannedSide& side, std::int64_t) {
  for (const std::int64_t v : side.deep) {
    const auto i = static_cast<std::size_t>(v);
    const std::int64_t* words = sums_.data() + depth_words * side.deep_places[i];
    std::array<std::int64_t, deep_depths.back() + 1> at_depth{};  // all since the depth before, at that depth
    for (std::size_t d = 0; d < deep_depths.size(); ++d)
      at_depth[static_cast<std::size_t>(deep_depths[d])] = words[d] - (d > 0 ? words[d - 1] : 0);
    side.statistics[i].flatness = deep_flatness_of(at_depth.data(), k_);
  }
}

// The ninth smallest of sixteen deficits, as block_deficits() has it.
void Scan::combine_spans() {
  for (std::int64_t at = 0; at < step_.count; ++at) {
    const std::int64_t vector = step_.first + at;
    ScannedSide& side = vector < a_.count() ? a_ : b_;
    const std::int64_t v = vector < a_.count() ? vector : vector - a_.count();
    const std::int64_t* words = sums_.data() + span_words(k_) * at;
    for (std::int64_t block = 0; block < span_blocks(k_); ++block) {
      std::array<std::uint8_t, span_block> x;
      for (std::int64_t l = 0; l < span_block; ++l) {
        const std::int64_t index = block * span_block + l;
        x[static_cast<std::size_t>(l)] =
            index >= k_ ? no_deficit
                        : static_cast<std::uint8_t>(words[index / packed_deficits] >> (8 * (index % packed_deficits)));
      }
      std::nth_element(x.begin(), x.begin() + span_block / 2, x.end());
      side.deficits[static_cast<std::size_t>(block * side.stride + v)] = x[span_block / 2];
    }
  }
}

ScanStep Scan::next_spans(std::int64_t first) const {
  const std::int64_t left = a_.count() + b_.count() - first;
  if (left == 0) return {ScanRound::done};
  return {ScanRound::spans, first, std::min(left, std::max<std::int64_t>(1, span_message / span_words(k_)))};
}

void Scan::want_spans() {
  for (ScannedSide* side : {&a_, &b_}) {
    side->stride = round_up(side->count(), span_lanes);
    side->deficits.assign(static_cast<std::size_t>(side->stride * span_blocks(k_)), no_deficit);
  }
  begin(next_spans(0));
}

void Scan::agree(std::array<std::int64_t, 2> moduli) {
  begin({ScanRound::moduli});
  std::copy(moduli.begin(), moduli.end(), maxima_.begin() + 1);
}

void Scan::combine() {
  if (maxima_[0] != 0)
    fail(Status::out_of_memory, "DistributedProduct: a party has no memory; no party has written anything");
  switch (step_.round) {
    case ScanRound::extremes:
      combine_extremes(a_, 0);
      combine_extremes(b_, a_.count());
      return begin({ScanRound::sums});
    case ScanRound::sums:
      a_.deep.clear(), b_.deep.clear();  // of a call that found no memory
      combine_sums(a_, 0);
      combine_sums(b_, a_.count());
      return begin({a_.deep.empty() && b_.deep.empty() ? ScanRound::done : ScanRound::depths});
    case ScanRound::depths:
      combine_depths(a_, 0);
      combine_depths(b_, a_.count());
      return begin({ScanRound::done});
    case ScanRound::spans:
      combine_spans();
      return begin(next_spans(step_.first + step_.count));
    case ScanRound::moduli:
      std::copy_n(maxima_.begin() + 1, agreed_.size(), agreed_.begin());
      return begin({ScanRound::done});
    case ScanRound::done:
      return;
  }
}

bool Scan::nonfinite() const {
  const auto holds = [](const ScannedSide& side) {
    return std::any_of(side.statistics.begin(), side.statistics.end(),
                       [](const VectorStatistics& s) { return s.nonfinite; });
  };
  return holds(a_) || holds(b_);
}

int Scan::widest_span(Side which) const {
  int span = 0;
  for (const VectorStatistics& s : side(which).statistics) span = std::max(span, s.span());
  return span;
}

#define VERNIER_INSTANTIATE(T) template void Scan::add(Side, bool, const MatrixPart<const T>&, int, std::string_view);
VERNIER_EACH_TYPE(VERNIER_INSTANTIATE)

}  // namespace vernier
