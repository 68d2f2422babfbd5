// What moves at once: some whole columns of a panel, or a part of one where a column is larger. Without padding on the
// device and in staging memory, so that a piece is one run of bytes there.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "engine/panel.hpp"

namespace vernier::offload {

struct Piece {
  std::int64_t row = 0, column = 0, rows = 0, columns = 0;  // inside the panel
};

// The pieces of a panel of rows x columns, by number.
class Pieces {
 public:
  Pieces() = default;
  Pieces(std::int64_t rows, std::int64_t columns, std::size_t element, std::size_t bytes)
      : rows_(rows), columns_(columns) {
    const auto most = std::max<std::int64_t>(1, static_cast<std::int64_t>(bytes / element));
    down_ = std::min(rows, most);
    across_ = std::min(columns, std::max<std::int64_t>(1, most / std::max<std::int64_t>(1, rows)));
    vertical_ = down_ == 0 ? 0 : divide_up(rows, down_);
  }

  std::int64_t count() const { return across_ == 0 ? 0 : vertical_ * divide_up(columns_, across_); }

  Piece at(std::int64_t index) const {
    const std::int64_t row = index % vertical_ * down_, column = index / vertical_ * across_;
    return {row, column, std::min(down_, rows_ - row), std::min(across_, columns_ - column)};
  }

 private:
  std::int64_t rows_ = 0, columns_ = 0, down_ = 0, across_ = 0, vertical_ = 0;
};

// A matrix of the host as bytes; column-major.
struct HostMatrix {
  std::byte* data = nullptr;
  std::int64_t ld = 0;
  std::size_t element = 8;

  std::byte* at(std::int64_t row, std::int64_t column) const {
    return data + static_cast<std::size_t>(row + column * ld) * element;
  }
};

// Between a matrix's part at `matrix` and a dense one: to it, or back.
inline void gather(const HostMatrix& part, std::int64_t rows, std::int64_t columns, std::byte* dense) {
  const std::size_t bytes = static_cast<std::size_t>(rows) * part.element;
  if (part.ld == rows) {
    std::memcpy(dense, part.data, bytes * static_cast<std::size_t>(columns));
    return;
  }
  for (std::int64_t j = 0; j < columns; ++j)
    std::memcpy(dense + static_cast<std::size_t>(j) * bytes, part.at(0, j), bytes);
}
inline void scatter(const std::byte* dense, const HostMatrix& part, std::int64_t rows, std::int64_t columns) {
  const std::size_t bytes = static_cast<std::size_t>(rows) * part.element;
  if (part.ld == rows) {
    std::memcpy(part.data, dense, bytes * static_cast<std::size_t>(columns));
    return;
  }
  for (std::int64_t j = 0; j < columns; ++j)
    std::memcpy(part.at(0, j), dense + static_cast<std::size_t>(j) * bytes, bytes);
}

}  // namespace vernier::offload
