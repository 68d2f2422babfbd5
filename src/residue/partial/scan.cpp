#include "residue/partial/scan.hpp"

#include <omp.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "base/environment.hpp"
#include "base/status.hpp"
#include "base/workspace.hpp"
#include "number/digit_sum.hpp"
#include "product/flatness.hpp"
#include "residue/exact/exact.hpp"
#include "residue/partial/gather.hpp"
#include "residue/scale/block_spans.hpp"

namespace vernier {
namespace {

// Words of a vector in each round's message.
constexpr std::int64_t extreme_words = 4;  // exponent, lowest, lowest bit, nonfinite
constexpr std::int64_t sum_words = 2 + static_cast<std::int64_t>(shallow_depths.size());
constexpr std::int64_t depth_words = static_cast<std::int64_t>(deep_depths.size());
constexpr std::int64_t packed_deficits = 6;                   // bytes of a word below 2^53
constexpr std::int64_t span_message = std::int64_t{1} << 23;  // words
constexpr std::int64_t bias = 8192;                           // makes exponents positive

std::int64_t span_words(std::int64_t k) { return divide_up(k, packed_deficits); }

void raise(std::int64_t& word, std::int64_t value) { word = std::max(word, value); }

template <class R>
void add_extremes(R x, std::int64_t* words) {
  const auto bits = magnitude_bits(x);
  if (bits >= infinity_bits<R>) {
    words[3] = 1;
  } else if (bits != 0) {
    const int exponent = exponent_of<R>(bits);
    const ElementParts p = element_parts(x);
    raise(words[0], bias + exponent);
    raise(words[1], bias - exponent);
    raise(words[2], bias - (p.exponent + std::countr_zero(p.significand)));
  }
}

template <class R>
void add_sums(R x, const QuantumScale& scale, std::int64_t* words) {
  const auto bits = magnitude_bits(x);
  if (bits >= infinity_bits<R>) return;
  const auto v =
      static_cast<std::int64_t>(std::ceil(static_cast<double>(std::bit_cast<R>(bits)) * scale.first * scale.second));
  words[0] += v * v;
  words[1] += v;
  for (std::size_t i = 0; i < shallow_depths.size(); ++i)
    words[2 + i] += std::min(v, std::int64_t{1} << (quantum_bits - shallow_depths[i]));
}

template <class R>
void add_depths(R x, int exponent, std::int64_t* words) {
  const auto bits = magnitude_bits(x);
  if (bits == 0 || bits >= infinity_bits<R>) return;
  const int depth = exponent - exponent_of<R>(bits);
  for (std::size_t i = 0; i < deep_depths.size(); ++i) words[i] += depth <= deep_depths[i] ? 1 : 0;
}

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

}  // namespace

Scan::Scan(std::int64_t m, std::int64_t n, std::int64_t k, bool componentwise) : k_(k), componentwise_(componentwise) {
  for (auto [side, count] : {std::pair{&a_, m}, std::pair{&b_, n}}) {
    side->statistics.resize(static_cast<std::size_t>(count));
    side->lowest_bits.resize(static_cast<std::size_t>(count));
    side->deep_places.assign(static_cast<std::size_t>(count), -1);
  }
  begin({k > 0 && m > 0 && n > 0 ? ScanRound::extremes : ScanRound::done});
}

std::int64_t Scan::offset_of(Side side) const { return side == Side::left ? 0 : a_.count(); }

// The first word of the maxima says whether a party cannot go on.
void Scan::begin(const ScanStep& step) {
  step_ = step;
  const std::int64_t vectors = a_.count() + b_.count();
  const auto deep = static_cast<std::int64_t>(a_.deep.size() + b_.deep.size());
  const std::int64_t maxima = 1 + (step.round == ScanRound::extremes ? extreme_words * vectors
                                   : step.round == ScanRound::moduli ? std::ssize(agreed_)
                                                                     : 0);
  const std::int64_t sums = step.round == ScanRound::sums     ? sum_words * vectors
                            : step.round == ScanRound::depths ? depth_words * deep
                            : step.round == ScanRound::spans  ? span_words(k_) * step.count
                                                              : 0;
  maxima_.assign(static_cast<std::size_t>(maxima), 0);
  sums_.assign(static_cast<std::size_t>(sums), 0);
}

template <class T>
void Scan::add(Side side, bool vectors_are_rows, const MatrixPart<const T>& part, int threads) {
  if (step_.round == ScanRound::moduli || step_.round == ScanRound::done) return;
  const ScannedSide& scanned = this->side(side);
  const PartView<T> view{part, vectors_are_rows};
  const RoundMessage message{step_, scanned, offset_of(side), k_, maxima_.data() + 1, sums_.data()};
  const Workspace memory(Strip<T>::bytes() * static_cast<std::size_t>(threads) + Arena::alignment);
  std::byte* strips = Arena::first_page(memory.data());
#pragma omp parallel num_threads(threads)
  {
    const FloatingEnvironment environment;
    Strip<T> strip(strips + Strip<T>::bytes() * static_cast<std::size_t>(omp_get_thread_num()));
#pragma omp for schedule(dynamic, 1)
    for (std::int64_t first = 0; first < view.vectors(); first += strip_size)
      for (std::int64_t l = 0; l < view.ks(); l += gathered_k) {
        strip.gather(view, first, l, false);
        add_strip(view, strip, message);
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

#define VERNIER_INSTANTIATE(T) template void Scan::add(Side, bool, const MatrixPart<const T>&, int);
VERNIER_INSTANTIATE(float)
VERNIER_INSTANTIATE(double)
VERNIER_INSTANTIATE(std::complex<float>)
VERNIER_INSTANTIATE(std::complex<double>)
#undef VERNIER_INSTANTIATE

}  // namespace vernier
