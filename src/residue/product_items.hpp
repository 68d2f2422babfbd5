// The products of one block of C, as items for threads to take: a plane of residues by some strips of A.
#pragma once

#include <algorithm>

#include "engine/panel.hpp"

namespace vernier {

// Strips first .. first + strips - 1 of A. done: the share of all work that items up to this one make up.
struct ProductItem {
  std::int64_t plane, first, strips;
  double done;
};

// Items of up to `most` strips, of nearly equal length. The last ones, as many as there are threads, are cut in four,
// so that all threads end at about the same time, also where one is slower than another.
class ProductItems {
 public:
  ProductItems(std::int64_t planes, std::int64_t strips, std::int64_t most, int threads)
      : planes_(planes),
        strips_(strips),
        blocks_(divide_up(strips, most)),
        pieces_(std::min<std::int64_t>(4, strips / blocks_)),
        whole_(std::max<std::int64_t>(0, planes * blocks_ - threads)) {}

  std::int64_t count() const { return whole_ + pieces_ * (planes_ * blocks_ - whole_); }

  ProductItem at(std::int64_t i) const {
    const bool is_whole = i < whole_;
    const std::int64_t item = is_whole ? i : whole_ + (i - whole_) / pieces_, plane = item / blocks_;
    std::int64_t begin = cut(strips_, item % blocks_, blocks_), end = cut(strips_, item % blocks_ + 1, blocks_);
    if (!is_whole) {
      const std::int64_t piece = (i - whole_) % pieces_, size = end - begin;
      end = begin + cut(size, piece + 1, pieces_), begin += cut(size, piece, pieces_);
    }
    return {plane, begin, end - begin,
            static_cast<double>(plane * strips_ + end) / static_cast<double>(planes_ * strips_)};
  }

 private:
  // Where the part begins, of so many.
  static std::int64_t cut(std::int64_t strips, std::int64_t part, std::int64_t parts) { return strips * part / parts; }

  std::int64_t planes_, strips_, blocks_, pieces_, whole_;
};

}  // namespace vernier
