// What moves and multiplies blocks: a device with its memory, staging memory of the host, and three queues, each of
// which does in order what it is given. CUDA's stands in cuda_link.hpp; tests have one in memory of the host.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "engine/panel.hpp"
#include "offload/schedule.hpp"

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

enum class Queue { up, product, down };

class Link {
 public:
  virtual ~Link() = default;

  // Before anything is queued: device memory, staging memory, and so many marks. Throws Error where they are not to be
  // had.
  virtual void open(std::size_t device_bytes, std::size_t staging_bytes, int marks) = 0;
  virtual std::byte* staging() = 0;

  // All below queue work, and throw Error where that fails. Offsets are of device memory. Threads call one at a time,
  // but for multiply(), beside which others are called.
  virtual void send(const std::byte* staged, std::size_t offset, std::size_t bytes) = 0;
  virtual void fetch(std::size_t offset, std::byte* staged, std::size_t bytes) = 0;
  // The same without staging, for memory that the device reaches.
  virtual void send(const HostMatrix& part, std::int64_t rows, std::int64_t columns, std::size_t offset) = 0;
  virtual void fetch(std::size_t offset, const HostMatrix& part, std::int64_t rows, std::int64_t columns) = 0;
  virtual void multiply(const Block& block, std::size_t a, std::size_t b) = 0;

  virtual void record(Queue queue, int mark) = 0;  // reached when the queue has come so far
  virtual void wait(Queue queue, int mark) = 0;    // the queue waits; the mark was recorded
  virtual bool reached(int mark) = 0;

  virtual void settle() noexcept = 0;  // nothing is under way any more, whatever has failed
};

}  // namespace vernier::offload
