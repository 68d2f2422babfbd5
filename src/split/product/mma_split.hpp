// C = alpha op(A) op(B) + beta C out of split operands by mma.sync, on every GPU from compute capability 8.0 on. Bits
// are the engine's: a GPU computes the row of the model's table that it has.
#pragma once

#include <string_view>

#include "split/product/sm90_split.hpp"

namespace vernier::cuda {

// The scheme that each computes (vernier/split.hpp): halfhalf_sep, tf32tf32_sep, bf16x6_sep, bf16x6_short.
enum class MmaSplitKernel { half, tf32, bf16, bf16_short };

// Takes what multiply_split() takes, but for later, steps, beside_previous, triangle and parts of the tiles. The last
// of judged attempts is followed by a kernel of its own for the conventional product.
void multiply_split_mma(MmaSplitKernel kernel, const SplitProduct& product, cudaStream_t stream);

}  // namespace vernier::cuda
