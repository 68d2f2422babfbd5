// What a kernel of split operands is given.
#pragma once

#include "cuda/pace.hpp"
#include "split/product/sm90_split.hpp"

namespace vernier::cuda {

// The code of a kernel calls the columns of op(B), its first operand, P, and the rows of op(A) Q. Counts
// of a and b are of one product of a batch.
struct SplitArguments : SplitProduct {
  int products = 1;
  int lines = 0;  // of 128 bytes along k, even
  int group = 0;  // P tiles that run side by side, for the second-level cache
  bool pairs_aligned = false;
  Pace pace;
};
SplitArguments arguments_of(const SplitProduct& product, int group, const Pace& pace);

}  // namespace vernier::cuda
