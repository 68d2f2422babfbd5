// The products of one block of C, as items for threads to take: a plane of residues by some strips of A.
#pragma once

#include <algorithm>

#include "base/panel.hpp"

namespace vernier {

// Strips first .. first + strips - 1 of A. done: the share of all work that items up to this one make up.
struct ProductItem {
  std::int64_t plane, first, strips;
  double done;
};

// Items of up to `most` strips. The last ones, as many as there are threads, are cut in four, so that all threads end
// at about the same time, also where one is slower than another.
class ProductItems {
 public:
  ProductItems(std::int64_t planes, std::int64_t strips, std::int64_t most, int threads)
      : strips_(strips), most_(most), planes_(planes), blocks_(divide_up(strips, most)) {
    whole_ = planes * blocks_ - std::min<std::int64_t>(planes * blocks_, threads);
  }

  std::int64_t count() const { return whole_ + pieces * (planes_ * blocks_ - whole_); }

  // Some of the last may have no strips.
  ProductItem at(std::int64_t i) const {
    const std::int64_t item = i < whole_ ? i : whole_ + (i - whole_) / pieces;
    const std::int64_t plane = item / blocks_, begin = item % blocks_ * most_, end = std::min(begin + most_, strips_);
    if (i < whole_) return {plane, begin, end - begin, share(plane, end)};
    const std::int64_t piece = (i - whole_) % pieces, size = divide_up(end - begin, pieces);
    const std::int64_t first = std::min(begin + piece * size, end), last = std::min(first + size, end);
    return {plane, first, last - first, share(plane, last)};
  }

 private:
  static constexpr std::int64_t pieces = 4;

  double share(std::int64_t plane, std::int64_t end) const {
    return static_cast<double>(plane * strips_ + end) / static_cast<double>(planes_ * strips_);
  }

  std::int64_t strips_, most_, planes_, blocks_, whole_ = 0;
};

}  // namespace vernier
