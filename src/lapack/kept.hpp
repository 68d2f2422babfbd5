// Matrices that a routine overwrites step by step, and that an error is to leave as they were.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "blas/level3/routine.hpp"

namespace vernier {

// A copy of X, rows x columns, where one is wanted.
template <class T>
class Kept {
 public:
  Kept(bool wanted, std::int64_t rows, std::int64_t columns, T* x, std::int64_t ldx)
      : rows_(rows), columns_(columns), x_(x), ldx_(ldx) {
    if (!wanted || rows == 0 || columns == 0) return;
    copy_.emplace(rows, columns);
    for (std::int64_t j = 0; j < columns; ++j) std::copy_n(x + j * ldx, rows, copy_->data() + j * rows);
  }

  void restore() const noexcept {
    if (!copy_) return;
    for (std::int64_t j = 0; j < columns_; ++j) std::copy_n(copy_->data() + j * rows_, rows_, x_ + j * ldx_);
  }

 private:
  std::int64_t rows_, columns_;
  T* x_;
  std::int64_t ldx_;
  std::optional<Scratch<T>> copy_;
};

// body(); all of kept... is as it was where that throws.
template <class Body, class... K>
auto all_or_nothing(Body body, const K&... kept) {
  try {
    return body();
  } catch (...) {
    (kept.restore(), ...);
    throw;
  }
}

}  // namespace vernier
