// Strips of a part of an operand: 32 vectors side by side, real and imaginary parts apart.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/panel.hpp"
#include "number/complex.hpp"
#include "vernier/distributed.hpp"

namespace vernier {

template <class T>
inline constexpr int parts_of_type = is_complex<T> ? 2 : 1;

inline constexpr std::int64_t gathered_k = 512;  // a strip of doubles is 128 KiB

// A part of a stored matrix as vectors along k: which of its rows and columns are which.
template <class T>
struct PartView {
  MatrixPart<const T> part;
  bool vectors_are_rows;

  std::int64_t vectors() const { return vectors_are_rows ? part.row_count : part.column_count; }
  std::int64_t ks() const { return vectors_are_rows ? part.column_count : part.row_count; }
  std::int64_t vector(std::int64_t v) const { return vectors_are_rows ? part.rows[v] : part.columns[v]; }
  std::int64_t k_at(std::int64_t l) const { return vectors_are_rows ? part.columns[l] : part.rows[l]; }
  // Of the entry of a vector, in a matrix with that leading dimension.
  std::int64_t place(std::int64_t v, std::int64_t l, std::int64_t ld) const {
    return vectors_are_rows ? v + l * ld : l + v * ld;
  }
};

// Vectors first .. first + 31 (zeros where there are fewer) and gathered_k of k at most: element (l, v) of a part is
// at [part][l * 32 + v].
template <class T>
class Strip {
 public:
  using R = RealType<T>;
  static constexpr int parts = parts_of_type<T>;

  // Memory of bytes(): nothing is allocated where threads are at work.
  explicit Strip(std::byte* memory) {
    for (int p = 0; p < parts; ++p) buffers_[p] = reinterpret_cast<R*>(memory) + p * gathered_k * strip_size;
  }
  static constexpr std::size_t bytes() { return sizeof(T) * static_cast<std::size_t>(gathered_k * strip_size); }

  void gather(const PartView<T>& view, std::int64_t first, std::int64_t k_first, bool conjugated) {
    begin = first, k_begin = k_first;
    vectors = std::min<std::int64_t>(strip_size, view.vectors() - first);
    ks = std::min(gathered_k, view.ks() - k_first);
    if (vectors < strip_size)
      for (R* buffer : buffers_) std::fill_n(buffer, gathered_k * strip_size, R{0});
    if (view.vectors_are_rows)
      for (std::int64_t l = 0; l < ks; ++l)
        for (std::int64_t v = 0; v < vectors; ++v) put(view, v, l, conjugated);
    else
      for (std::int64_t v = 0; v < vectors; ++v)
        for (std::int64_t l = 0; l < ks; ++l) put(view, v, l, conjugated);
  }

  const R* part(int p) const { return buffers_[p]; }

  std::int64_t begin = 0, k_begin = 0, vectors = 0, ks = 0;

 private:
  void put(const PartView<T>& view, std::int64_t v, std::int64_t l, bool conjugated) {
    const T x = view.part.X[view.place(begin + v, k_begin + l, view.part.ldx)];
    const auto at = static_cast<std::size_t>(l * strip_size + v);
    if constexpr (parts == 2) {
      buffers_[0][at] = x.real();
      buffers_[1][at] = conjugated ? -x.imag() : x.imag();
    } else {
      buffers_[0][at] = x;
    }
  }

  R* buffers_[parts];
};

}  // namespace vernier
