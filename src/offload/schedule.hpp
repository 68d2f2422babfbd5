// Which blocks of A, B and C move to a device and back, in which order and into which memory: plain data, decided
// before anything moves.
//
// C is cut into blocks of m_block x n_block. Each is one product over all of k, so that its scales are those of one
// product of everything. Panels (rows of op(A), columns of op(B), blocks of C where they are read) go up in the order
// in which blocks need them. A panel stays until its memory is wanted for one that is needed sooner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "product/operand.hpp"

namespace vernier::offload {

enum class Matrix { a, b, c };

// A part of a matrix as it is stored, without padding in device memory.
struct Panel {
  Matrix matrix = Matrix::a;
  std::int64_t row = 0, column = 0, rows = 0, columns = 0;
  std::size_t offset = 0;  // of device memory
  int after = -1;          // the block whose product (and for C: whose way back) frees this memory
};

struct Block {
  Range rows, columns;     // of C
  int a = 0, b = 0;        // panels
  int c = -1;              // the panel that C comes up with; -1: C is not read
  std::size_t offset = 0;  // of C
  int after = -1;          // the block that leaves C's memory to this one
};

struct Schedule {
  std::int64_t m_block = 0, n_block = 0;
  std::vector<Panel> panels;           // in the order in which they go up
  std::vector<Block> blocks;           // in the order of their products
  std::size_t element = 0, bytes = 0;  // of an element; of device memory, but for what a product takes itself
  std::size_t bytes_up = 0, bytes_down = 0;
};

struct ScheduleRequest {
  std::int64_t m = 0, n = 0, k = 0;
  std::size_t element = 8;
  bool a_by_rows = false, b_by_columns = true;  // op(A) is A's transpose; op(B) is B: a vector is a stored column
  bool reads_c = false;
  bool direct_a = false, direct_b = false;                           // the device reaches that memory
  std::size_t memory = 0;                                            // bytes of the device that may be used
  std::function<std::size_t(std::int64_t, std::int64_t)> workspace;  // bytes that a block's product takes
  std::int64_t m_block = 0, n_block = 0;                             // 0: chosen
};

// Bytes to where the next panel may begin.
std::size_t aligned(std::size_t bytes);

// No blocks where the device cannot hold the least ones.
Schedule make_schedule(const ScheduleRequest& request);

// The side of a block: large enough for fast products, small enough that the last ones end soon after the last panel.
std::int64_t preferred_block(std::int64_t vectors);

// Both sides, as they are asked for or preferred.
struct BlockSize {
  std::int64_t m = 0, n = 0;
};
BlockSize block_size(const ScheduleRequest& request);

// C cut for several devices, along its longer side: the part of each, of like sizes.
struct Share {
  Range rows, columns;
};
std::vector<Share> deal(std::int64_t m, std::int64_t n, int devices);

// To as many of the devices as take the least.
using SecondsOf = std::function<double(const std::vector<Share>&)>;
std::vector<Share> deal(std::int64_t m, std::int64_t n, int devices, const SecondsOf& seconds);

// What threads of the host copy for them, each of which reads all of one operand.
struct Staged {
  std::size_t up = 0, down = 0;  // bytes
  std::int64_t m = 0, n = 0;     // of the largest part
};
Staged staged(const std::vector<Share>& shares, const ScheduleRequest& whole, bool direct_c);

}  // namespace vernier::offload
