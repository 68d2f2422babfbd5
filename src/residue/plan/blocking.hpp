// How much of a product is in memory at a time, and where everything lies in the workspace.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/workspace.hpp"
#include "engine/int8_engine.hpp"
#include "engine/panel.hpp"
#include "product/plan/native_cost.hpp"
#include "residue/exact/exact.hpp"
#include "residue/scale/block_spans.hpp"
#include "residue/scale/scaling.hpp"

namespace vernier {

// Operands whose planes are there before the product, in blocks of k of that length; 0 if there are none.
struct PreparedSides {
  bool a = false, b = false;
  std::int64_t k_block = 0;
};

// One pass goes over C in blocks of m_block x n_block, over k in blocks of k_block.
struct Blocking {
  int moduli = 0;
  std::int64_t m_block = 0, n_block = 0, k_block = 0;  // multiples of 32, 32 and 64
  std::int64_t row_block_strips = 1;                   // strips of A that a thread streams at a time
  int threads = 1;
  PreparedSides prepared;  // take no memory here
  bool cached = false;     // residues of A and B stay in the caches until they are multiplied
  std::size_t bytes = 0;   // of PassBuffers
};

// The blocks of k of an unlimited workspace.
std::int64_t largest_k_block(std::int64_t k, const Int8Engine& engine);

// Bytes from one modulus' plane to the next, for planes of that many.
std::size_t plane_stride(std::int64_t bytes);

// The largest blocks that fit, whole C if they can; bytes > limit in the result if even the smallest do not.
Blocking choose_blocking(const ProductShape& shape, int moduli, int threads, const Int8Engine& engine,
                         std::size_t limit, const PreparedSides& prepared = {});

// Planes of one modulus start plane_stride bytes after those of the one before.
struct PassBuffers {
  std::int8_t* a = nullptr;
  std::int8_t* b = nullptr;
  std::int8_t* c = nullptr;
  std::size_t a_stride = 0, b_stride = 0, c_stride = 0;
  std::byte* scratch = nullptr;
  std::size_t scratch_stride = 0;  // a thread
};
PassBuffers carve_pass(Arena& arena, const Blocking& blocking, const Int8Engine& engine);

// Of the vectors of one operand, for the product of |A| and |B| (engine/bound/bound_engine.hpp).
struct BoundVectors {
  float *inverse_weights = nullptr, *inverse_norms = nullptr, *zeros = nullptr, *minima = nullptr;
};

// What outlives the passes.
struct VectorBuffers {
  VectorStatistics *a_statistics = nullptr, *b_statistics = nullptr;
  VectorProof *a_proofs = nullptr, *b_proofs = nullptr;
  int *a_scales = nullptr, *b_scales = nullptr;  // scales of the pass at hand, padded to strips with zeros
  // block spans, padded to 64 vectors; null if k is too long for them
  std::uint8_t *a_deficits = nullptr, *b_deficits = nullptr;
  std::uint8_t *a_norm_bits = nullptr, *b_norm_bits = nullptr;
  std::uint8_t *a_costs = nullptr, *b_costs = nullptr;  // a_costs: one set a thread
  std::int64_t a_stride = 0, b_stride = 0;
  BoundVectors a_bounds, b_bounds;  // null under contract exact
  // correct rounding, padded to strips; null without
  LowestBits *a_lowest_bits = nullptr, *b_lowest_bits = nullptr;
  double *a_errors = nullptr, *b_errors = nullptr;  // three arrays, a strip's padding apart: VectorError of the pass
  double* lines = nullptr;                          // one vector a thread
  EntryMask* undecided = nullptr;                   // block (row strip v, column strip t) at [t * row strips + v]
  bool* open = nullptr;  // blocks that a first pass leaves open, in the same order; null if k has none
};
VectorBuffers carve_vectors(Arena& arena, const ProductShape& shape, int threads, bool exact = false);

}  // namespace vernier
