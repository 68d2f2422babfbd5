// What moves and multiplies blocks: a device with its memory, staging memory of the host, and three queues, each of
// which does in order what it is given. CUDA's stands in cuda_link.hpp; tests have one in memory of the host.
#pragma once

#include <cstddef>

#include "offload/pieces.hpp"
#include "offload/schedule.hpp"

namespace vernier::offload {

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
