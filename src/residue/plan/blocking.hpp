// How much of a product is in memory at a time, and where everything lies in the workspace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/workspace.hpp"
#include "engine/int8_engine.hpp"
#include "engine/panel.hpp"
#include "product/operand.hpp"
#include "product/plan/native_cost.hpp"
#include "product/sides.hpp"
#include "product/statistics.hpp"
#include "residue/exact/exact.hpp"
#include "residue/product_items.hpp"
#include "residue/scale/block_spans.hpp"
#include "residue/scale/scaling.hpp"

namespace vernier {

// Operands whose planes are there before the product, in blocks of k of that length; 0 if there are none.
struct PreparedSides : Sides<bool> {
  std::int64_t k_block = 0;
};

// One pass goes over C in blocks of m_block x n_block, over k in blocks of k_block.
struct Blocking {
  int moduli = 0;
  std::int64_t m_block = 0, n_block = 0, k_block = 0;  // multiples of 32, 32 and 64
  StripCounts item;                                    // what a thread multiplies at a time, of one modulus
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
struct PlaneMemory {
  std::int8_t* planes = nullptr;
  std::size_t stride = 0;
  FilledSteps* filled = nullptr;  // of each strip of an operand
};
struct PassBuffers : Sides<PlaneMemory> {
  PlaneMemory c;
  std::byte* scratch = nullptr;
  std::size_t scratch_stride = 0;  // a thread
};
PassBuffers carve_pass(Arena& arena, const Blocking& blocking, const Int8Engine& engine);

// Of the vectors of one operand, for the product of |A| and |B| (engine/bound/bound_engine.hpp).
struct BoundVectors {
  float *inverse_weights = nullptr, *inverse_norms = nullptr, *zeros = nullptr, *minima = nullptr;
};

// Of the vectors of one operand.
struct SideVectors {
  std::int64_t count = 0;
  VectorStatistics* statistics = nullptr;
  VectorProof* proofs = nullptr;
  int* scales = nullptr;  // of the pass at hand, padded to strips with zeros
  // Block spans, padded to 64 vectors; of rows a set of costs a thread. Null if k is too long for them.
  std::uint8_t *deficits = nullptr, *norm_bits = nullptr, *costs = nullptr;
  std::int64_t stride = 0;
  BoundVectors bounds;                // null under contract exact
  LowestBits* lowest_bits = nullptr;  // correct rounding, padded to strips; null without
  double* errors = nullptr;           // likewise: three arrays, a strip's padding apart, VectorError of the pass

  SpanSide spans() const { return {deficits, stride, norm_bits, costs}; }
  std::span<VectorStatistics> all_statistics() const { return {statistics, static_cast<std::size_t>(count)}; }
  std::span<VectorProof> all_proofs() const { return {proofs, static_cast<std::size_t>(count)}; }
};

// What outlives the passes.
struct VectorBuffers : Sides<SideVectors> {
  double* lines = nullptr;         // one vector a thread
  EntryMask* undecided = nullptr;  // block (row strip v, column strip t) at [t * row strips + v]
  bool* open = nullptr;            // blocks that a first pass leaves open, in the same order; null if k has none
};
VectorBuffers carve_vectors(Arena& arena, const ProductShape& shape, int threads, bool exact = false);

// ---- planes of residues as the engines read them, of a block: in the workspace, or cut out of a prepared operand

// One strip and slice of k after another; moduli `stride` bytes apart.
struct PlaneView {
  const std::int8_t* planes = nullptr;
  std::size_t stride = 0;
  PanelLayout layout;                   // of the planes, which may hold more strips than the block
  std::int64_t first_strip = 0;         // of the block
  const FilledSteps* filled = nullptr;  // of each strip of the block; null: all are

  const std::int8_t* at(std::size_t modulus, std::int64_t strip, std::int64_t slice) const {
    return planes + modulus * stride + layout.offset(first_strip + strip, slice * layout.slice_steps);
  }
  const FilledSteps* filled_from(std::int64_t strip) const { return filled == nullptr ? nullptr : filled + strip; }
};

// What a product needs of a prepared operand: of all its vectors, and all of k.
struct PreparedPlanes {
  const VectorStatistics* statistics = nullptr;
  const int* exponents = nullptr;  // the ordinary scales, padded to strips with zeros
  const std::int8_t* planes = nullptr;
  std::size_t stride = 0;  // of one modulus; all moduli of a block of k come before the next block
  int moduli = 0;
  std::int64_t vectors = 0, k_block = 0;

  PlaneView of(Range part, Range ks) const {
    const auto block = static_cast<std::size_t>(ks.begin / k_block);
    return {planes + block * static_cast<std::size_t>(moduli) * stride, stride, panel_layout(vectors, ks.count),
            part.begin / strip_size};
  }
};

}  // namespace vernier
