// What the parties find out about all vectors together: VectorStatistics, in rounds of integer maxima and sums. The
// numbers are those of vector_statistics(), whoever holds which elements.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "product/statistics.hpp"
#include "residue/partial/scan_element.hpp"
#include "residue/scale/scaling.hpp"
#include "vernier/distributed.hpp"

namespace vernier {

// Which round, and of which of its vectors: block spans go some vectors at a time.
struct ScanStep {
  ScanRound round = ScanRound::extremes;
  std::int64_t first = 0, count = 0;  // of spans: rows of op(A), then columns of op(B)
};

// One operand.
struct ScannedSide {
  std::vector<VectorStatistics> statistics;
  std::vector<int> lowest_bits;           // exponents; no_lowest_bit
  std::vector<std::int64_t> deep;         // vectors whose flatness only counts of exponents tell
  std::vector<std::int64_t> deep_places;  // of all vectors: their place in `deep`, or -1
  std::vector<std::uint8_t> deficits;     // [block of 16 k][stride]; empty until spans are asked for
  std::int64_t stride = 0;

  std::int64_t count() const { return static_cast<std::int64_t>(statistics.size()); }
};

// k counts real elements: twice that of a complex product.
class Scan {
 public:
  // exact: the places of lowest bits are scanned too, which nothing else needs
  Scan(std::int64_t m, std::int64_t n, std::int64_t k, bool componentwise, bool exact);

  ScanRound round() const { return step_.round; }
  std::span<std::int64_t> maxima() { return maxima_; }
  std::span<std::int64_t> sums() { return sums_; }

  // loops: the name of a SchemeBackend
  template <class T>
  void add(Side side, bool vectors_are_rows, const MatrixPart<const T>& part, int threads, std::string_view loops);

  // For whoever adds to the messages otherwise, while a round is on that has entries.
  bool takes_entries() const { return step_.round != ScanRound::moduli && step_.round != ScanRound::done; }
  struct RoundMessage message(Side side);

  void combine();     // to the next round; the messages are those of all parties
  void want_spans();  // goes on with block spans after `done`
  // The last round: logarithms of different machines may ask for different numbers of moduli. All take the largest.
  void agree(std::array<std::int64_t, 2> moduli);
  const std::array<std::int64_t, 2>& agreed() const { return agreed_; }
  void refuse() { maxima_[0] = 1; }

  const ScannedSide& side(Side which) const { return which == Side::left ? a_ : b_; }
  bool nonfinite() const;
  int widest_span(Side which) const;

 private:
  void begin(const ScanStep& step);
  void combine_extremes(ScannedSide& side, std::int64_t offset);
  void combine_sums(ScannedSide& side, std::int64_t offset);
  void combine_depths(ScannedSide& side, std::int64_t offset);
  void combine_spans();
  ScanStep next_spans(std::int64_t first) const;
  std::int64_t offset_of(Side side) const;

  std::int64_t k_;
  bool componentwise_, exact_;
  ScannedSide a_, b_;
  ScanStep step_;
  std::vector<std::int64_t> maxima_, sums_;
  std::array<std::int64_t, 2> agreed_{};
};

}  // namespace vernier
