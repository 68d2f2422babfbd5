// C = alpha op(A) op(B) + beta C out of split operands, on tensor cores: what a kernel is given, and the kernels.
#pragma once

#include <cuda_runtime_api.h>

#include <climits>
#include <cstdint>

#include "cuda/pace.hpp"
#include "split/plane.hpp"

namespace vernier::cuda {

struct SplitScalar {
  float value = 0;
  const float* pointer = nullptr;  // in device memory; null: value counts
};

struct SplitProduct {
  FloatVectors a, b;  // rows of op(A), columns of op(B): for entries that are computed conventionally
  SplitPlane a_plane, b_plane;
  SplitScalar alpha, beta;
  float* c = nullptr;
  std::int64_t ldc = 0, product_stride_c = 0;
  SplitGate gate = {};
  // A word by which products of tiles that pairs of blocks share keep pace (cuda/pace.hpp); null: they do not. Not with
  // beside_previous: the word is cleared behind the previous kernel.
  std::uint32_t* steps = nullptr;
  // Begins beside the previous kernel of the stream, which lets it, and ends after that; depends on what came before.
  bool beside_previous = false;
  int multiprocessors = 0;  // that it may take; 0: all
  // Of update_split: pairs of tiles, side by side, that lie wholly where the row of C is less than its column are left
  // out.
  bool triangle = false;
  // Of update_split: these pairs of tiles alone, counted as they are computed.
  int first_tile = 0, end_tile = INT_MAX;
};

// Tile of C that a block computes.
struct SplitTile {
  int columns = 0, rows = 0, blocks_sharing = 1;
  int split_k = 1;  // as vernier/split.hpp's multiply() has it
};
// A kernel, in the source that compiles it.
struct SplitKernel {
  const char* scheme;  // what it computes, bit for bit (vernier/split.hpp)
  SplitForm form;
  SplitTile tile;
  void (*multiply)(const SplitProduct& product, cudaStream_t stream);
};

// Kernels by what they hold in registers and by their tile, columns x rows of C.
//
//   separate  three sets: the engine's (one run), the sum outside, the corrections (all of k). Part 1 carries 2^11.
//   long      separate, with runs of two lines in place of one: 1 to 2 % faster at the power limit; for products
//             that are long and large.
//   folded    two sets: the engine's, the sum outside. Part 1 is unshifted, so that all products of a run share one
//             accumulator, corrections first. Leaves registers for the wide tile: a fifth less traffic, so less power;
//             but halves keep all bits only down to 2^-16 of their vector's largest (separate: 2^-27).
//   halves    separate; two blocks take one half of k each of a tile, and add their sums, the first half's first. For
//             few tiles.
//   bf16      separate, of three parts and next to no losses outside, for wide data; they end a chain of attempts.
extern const SplitKernel half_128x128, half_long_128x128, half_128x64, half_folded_128x192, tf32_128x128,
    tf32_halves_128x128, tf32_folded_128x192, bf16_128x128, bf16_128x64;

// By mma.sync, on every GPU from compute capability 8.0 on (mma_split.cuh). Bits are the engine's: a GPU computes the
// row of the model's table that it has.
extern const SplitKernel mma_half, mma_tf32, mma_bf16, mma_bf16_short;

// half_128x128 bit for bit, for short k and beta != 0: old and new values of C pass by bulk copies while neighbouring
// tiles are multiplied. Rows and columns of C are multiples of 128, ldc of 4; C and the exponents of the planes are
// aligned to 16 bytes. Not judged, never the last attempt.
void update_split(const SplitProduct& product, cudaStream_t stream);

// The code of a kernel calls the columns of op(B), its first operand, P, and the rows of op(A) Q. Counts
// of a and b are of one product of a batch.
struct SplitArguments : SplitProduct {
  int products = 1;
  int lines = 0;  // of 128 bytes along k, even
  int group = 0;  // P tiles that run side by side, for the second-level cache
  bool pairs_aligned = false;
  Pace pace;
};

}  // namespace vernier::cuda
