#include "vernier/block_fma.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>

namespace vernier {
namespace {

using model::Format;

double rounded(Format format, double x) { return model::decode(format, model::encode(format, x)); }

// Encodings in the storage of a format.
class Packed {
 public:
  Packed(Format format, std::int64_t count)
      : format_(format),
        bytes_(static_cast<std::size_t>(model::storage_bytes(format))),
        data_(static_cast<std::size_t>(count) * bytes_) {}

  void set(std::int64_t i, double x) {
    const std::uint64_t word = model::encode(format_, x);
    std::memcpy(data_.data() + static_cast<std::size_t>(i) * bytes_, &word, bytes_);  // little-endian, as the model is
  }
  double get(std::int64_t i) const {
    std::uint64_t word = 0;
    std::memcpy(&word, data_.data() + static_cast<std::size_t>(i) * bytes_, bytes_);
    return model::decode(format_, word);
  }
  std::byte* data() { return data_.data(); }

 private:
  Format format_;
  std::size_t bytes_;
  std::vector<std::byte> data_;
};

// Part of a matrix that others share.
struct Block {
  double* data;
  std::int64_t ld, rows, columns;
  double& operator()(std::int64_t i, std::int64_t j) const { return data[i + j * ld]; }
  Block part(std::int64_t i, std::int64_t j, std::int64_t m, std::int64_t n) const {
    return {data + i + j * ld, ld, m, n};
  }
};

class Elimination {
 public:
  explicit Elimination(const ModelledScheme& scheme) : scheme_(scheme), format_(scheme.engine.c) {}

  double to_format(double x) const { return rounded(format_, x); }

  // C -= fl_low(A) fl_low(B) on the engine.
  void update(const Block& a, const Block& b, const Block& c) const {
    if (c.rows == 0 || c.columns == 0 || a.columns == 0) return;
    const model::Engine& engine = scheme_.engine;
    const std::int64_t k = a.columns;
    Packed left(engine.a, c.rows * k), right(engine.b, c.columns * k), sums(engine.c, c.rows * c.columns);
    for (std::int64_t i = 0; i < c.rows; ++i)
      for (std::int64_t l = 0; l < k; ++l) left.set(i * k + l, -a(i, l));
    for (std::int64_t j = 0; j < c.columns; ++j) {
      for (std::int64_t l = 0; l < k; ++l) right.set(j * k + l, b(l, j));
      for (std::int64_t i = 0; i < c.rows; ++i) sums.set(i + j * c.rows, c(i, j));
    }
    model::multiply(engine, {}, c.rows, c.columns, k, left.data(), k, right.data(), k, sums.data(), sums.data(),
                    c.rows);
    for (std::int64_t j = 0; j < c.columns; ++j)
      for (std::int64_t i = 0; i < c.rows; ++i) c(i, j) = sums.get(i + j * c.rows);
  }

  // B := L^-1 B with the unit lower triangle of l, small panel by small panel.
  void solve(const Block& l, const Block& b) const {
    for (std::int64_t k = 0; k < l.columns; k += scheme_.inner) {
      const std::int64_t width = std::min(scheme_.inner, l.columns - k), below = l.columns - k - width;
      for (std::int64_t j = 0; j < b.columns; ++j)
        for (std::int64_t p = k; p < k + width; ++p)
          for (std::int64_t i = p + 1; i < k + width; ++i) take_off(b(i, j), l(i, p), b(p, j));
      update(l.part(k + width, k, below, width), b.part(k, 0, width, b.columns),
             b.part(k + width, 0, below, b.columns));
    }
  }

  // LU of a panel; rows are exchanged inside it only. Pivots from 1.
  std::int64_t factor(const Block& panel, std::int64_t* pivots) const {
    std::int64_t info = 0;
    for (std::int64_t k = 0; k < panel.columns; k += scheme_.inner) {
      const std::int64_t width = std::min(scheme_.inner, panel.columns - k), right = panel.columns - k - width;
      for (std::int64_t j = k; j < k + width; ++j)
        if (!eliminate(panel, j, k + width, pivots) && info == 0) info = j + 1;
      const Block top = panel.part(k, k + width, width, right);
      for (std::int64_t j = 0; j < right; ++j)
        for (std::int64_t p = 0; p < width; ++p)
          for (std::int64_t i = p + 1; i < width; ++i) take_off(top(i, j), panel(k + i, k + p), top(p, j));
      const std::int64_t below = panel.rows - k - width;
      update(panel.part(k + width, k, below, width), top, panel.part(k + width, k + width, below, right));
    }
    return info;
  }

 private:
  void take_off(double& x, double l, double u) const { x = to_format(x - to_format(l * u)); }

  // Column j of the panel, and what it does to the columns before `end`. False at a zero pivot.
  bool eliminate(const Block& panel, std::int64_t j, std::int64_t end, std::int64_t* pivots) const {
    std::int64_t pivot = j;
    for (std::int64_t i = j + 1; i < panel.rows; ++i)
      if (std::abs(panel(i, j)) > std::abs(panel(pivot, j))) pivot = i;
    pivots[j] = pivot + 1;
    if (panel(pivot, j) == 0) return false;
    for (std::int64_t l = 0; l < panel.columns; ++l) std::swap(panel(j, l), panel(pivot, l));
    for (std::int64_t i = j + 1; i < panel.rows; ++i) {
      panel(i, j) = to_format(panel(i, j) / panel(j, j));
      for (std::int64_t l = j + 1; l < end; ++l) take_off(panel(i, l), panel(i, j), panel(j, l));
    }
    return true;
  }

  ModelledScheme scheme_;
  Format format_;
};

void swap_rows(const Block& x, std::int64_t first, std::int64_t last, const std::vector<std::int64_t>& pivots) {
  for (std::int64_t i = first; i < last; ++i)
    for (std::int64_t j = 0; j < x.columns; ++j) std::swap(x(i, j), x(pivots[static_cast<std::size_t>(i)] - 1, j));
}

// Factorises columns [first, first + width) of rows [first, n) and enters their pivots as those of the matrix.
void factor_panel(const Elimination& elimination, const Block& panel, std::int64_t first, ModelledLu& result) {
  std::int64_t* pivots = result.pivots.data() + first;
  const std::int64_t info = elimination.factor(panel, pivots);
  if (info != 0 && result.info == 0) result.info = info + first;
  for (std::int64_t j = 0; j < panel.columns; ++j) pivots[j] += first;
}

ModelledLu empty_result(std::int64_t n) {
  return {std::vector<double>(static_cast<std::size_t>(n * n)), std::vector<std::int64_t>(static_cast<std::size_t>(n)),
          0};
}

}  // namespace

ModelledLu modelled_right_looking_lu(const ModelledScheme& scheme, std::int64_t n, const double* a, std::int64_t lda) {
  const Elimination elimination(scheme);
  ModelledLu result = empty_result(n);
  const Block x{result.lu.data(), n, n, n};
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) x(i, j) = elimination.to_format(a[i + j * lda]);
  for (std::int64_t k = 0; k < n; k += scheme.outer) {
    const std::int64_t width = std::min(scheme.outer, n - k), rest = n - k - width;
    factor_panel(elimination, x.part(k, k, n - k, width), k, result);
    swap_rows(x.part(0, 0, n, k), k, k + width, result.pivots);
    swap_rows(x.part(0, k + width, n, rest), k, k + width, result.pivots);
    const Block top = x.part(k, k + width, width, rest);
    elimination.solve(x.part(k, k, width, width), top);
    elimination.update(x.part(k + width, k, rest, width), top, x.part(k + width, k + width, rest, rest));
  }
  return result;
}

ModelledLu modelled_left_looking_lu(const ModelledScheme& scheme, std::int64_t n, const double* a, std::int64_t lda) {
  const Elimination elimination(scheme);
  ModelledLu result = empty_result(n);
  const Block x{result.lu.data(), n, n, n};
  const Format low = scheme.engine.a;
  for (std::int64_t first = 0; first < n; first += scheme.outer) {
    const std::int64_t width = std::min(scheme.outer, n - first);
    std::vector<double> memory(static_cast<std::size_t>(n * width));
    const Block buffer{memory.data(), n, n, width};
    for (std::int64_t j = 0; j < width; ++j)
      for (std::int64_t i = 0; i < n; ++i) buffer(i, j) = elimination.to_format(a[i + (first + j) * lda]);
    swap_rows(buffer, 0, first, result.pivots);
    for (std::int64_t k = 0; k < first; k += scheme.outer) {
      const Block top = buffer.part(k, 0, scheme.outer, width);
      elimination.solve(x.part(k, k, scheme.outer, scheme.outer), top);
      for (std::int64_t j = 0; j < width; ++j)
        for (std::int64_t i = 0; i < scheme.outer; ++i) top(i, j) = rounded(low, top(i, j));
      const std::int64_t next = k + scheme.outer;
      elimination.update(x.part(next, k, n - next, scheme.outer), top, buffer.part(next, 0, n - next, width));
    }
    factor_panel(elimination, buffer.part(first, 0, n - first, width), first, result);
    swap_rows(x.part(0, 0, n, first), first, first + width, result.pivots);
    for (std::int64_t j = 0; j < width; ++j)
      for (std::int64_t i = 0; i < n; ++i) x(i, first + j) = rounded(low, buffer(i, j));
  }
  return result;
}

}  // namespace vernier
