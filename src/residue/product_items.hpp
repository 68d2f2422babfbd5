// The products of one block of C, as items for threads to take: a plane of residues, some strips of A by some of B.
#pragma once

#include <algorithm>

#include "engine/panel.hpp"

namespace vernier {

// Strips of A and of B.
struct StripCounts {
  std::int64_t rows = 1, columns = 1;
};

// Strips first .. first + strips - 1 of A, and first_column .. first_column + columns - 1 of B. done: the share of all
// work that items up to this one make up.
struct ProductItem {
  std::int64_t plane, first, strips, first_column, columns;
  double done;
};

// Items of up to `most` strips, of nearly equal size. The last ones, as many as there are threads, are cut in four, so
// that all threads end at about the same time, also where one is slower than another.
class ProductItems {
 public:
  ProductItems(std::int64_t planes, StripCounts strips, StripCounts most, int threads)
      : planes_(planes),
        strips_(strips),
        blocks_{divide_up(strips.rows, most.rows), divide_up(strips.columns, most.columns)},
        pieces_(std::min<std::int64_t>(4, strips.rows / blocks_.rows)),
        whole_(std::max<std::int64_t>(0, planes * plane_blocks() - threads)) {}

  std::int64_t count() const { return whole_ + pieces_ * (planes_ * plane_blocks() - whole_); }

  ProductItem at(std::int64_t i) const {
    const bool is_whole = i < whole_;
    const std::int64_t item = is_whole ? i : whole_ + (i - whole_) / pieces_;
    const std::int64_t plane = item / plane_blocks(), block = item % plane_blocks();
    Part rows = part(strips_.rows, block % blocks_.rows, blocks_.rows);
    const Part columns = part(strips_.columns, block / blocks_.rows, blocks_.columns);
    double within = 1;  // the share of the item that is done then
    if (!is_whole) {
      const std::int64_t piece = (i - whole_) % pieces_;
      const Part cut = part(rows.count, piece, pieces_);
      within = static_cast<double>(cut.begin + cut.count) / static_cast<double>(rows.count);
      rows = {rows.begin + cut.begin, cut.count};
    }
    return {plane,         rows.begin,
            rows.count,    columns.begin,
            columns.count, (static_cast<double>(item) + within) / static_cast<double>(planes_ * plane_blocks())};
  }

 private:
  struct Part {
    std::int64_t begin, count;
  };
  static Part part(std::int64_t size, std::int64_t index, std::int64_t parts) {
    const std::int64_t begin = size * index / parts;
    return {begin, size * (index + 1) / parts - begin};
  }
  std::int64_t plane_blocks() const { return blocks_.rows * blocks_.columns; }

  std::int64_t planes_;
  StripCounts strips_, blocks_;
  std::int64_t pieces_, whole_;
};

}  // namespace vernier
