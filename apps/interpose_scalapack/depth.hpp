// How deep PBLAS works: its local products have the k that pilaenv_ answers, 32, which nothing fast can be made of.
#pragma once

#include <cstddef>
#include <initializer_list>

#include "matrix.hpp"

namespace vernier::interpose {

// The same on every process: from global sizes alone. PBLAS counts the bytes of its panels in an int.
int depth_of(const Grid& grid, std::initializer_list<const SubMatrix*> matrices, int k, std::size_t element_bytes);

// While it lives, pilaenv_ of this thread answers that depth; 0: the library's own.
class DeepBlocks {
 public:
  explicit DeepBlocks(int depth);
  ~DeepBlocks();
  DeepBlocks(const DeepBlocks&) = delete;
  DeepBlocks& operator=(const DeepBlocks&) = delete;

 private:
  int before_;
};

}  // namespace vernier::interpose
