// The scheme's inner loops for one set of instructions. All backends give the same bits.
#pragma once

#include <string_view>

#include "product/statistics.hpp"
#include "residue/convert/decompose.hpp"
#include "residue/exact/exact.hpp"
#include "residue/quad/dd_tile.hpp"
#include "residue/recombine/recombine.hpp"
#include "residue/scale/block_spans.hpp"

namespace vernier {

template <class T>
struct SchemeBackend {
  std::string_view name;
  void (*statistics)(const Operand<T>&, std::int64_t first, std::int64_t count, VectorStatistics* out);
  Operand<T> (*measured_strip)(const Operand<T>&, std::int64_t first, std::int64_t k_begin, std::int64_t k_count,
                               T* buffer, VectorStatistics* out);
  void (*decompose)(const Operand<T>&, const DigitTables&, const DecomposeTask&);
  void (*recombine)(const RecombineTables&, const std::int8_t* residues, std::size_t plane_bytes, const int* row_scales,
                    const int* column_scales, T* tile);
  decltype(&recombine_speculative_portable) recombine_speculative;  // of double
  void (*update)(const TileUpdate<T>&, const T* tile);
  void (*publish)();  // after a thread's last update, before others read C
  void (*block_deficits)(const Operand<T>&, std::int64_t first, const VectorStatistics*, std::uint8_t* out,
                         std::int64_t stride);
  void (*span_costs)(const SpanCosts&, std::int64_t first);
  void (*recombine_leading)(const RecombineTables&, const std::int8_t* residues, std::size_t plane_bytes,
                            LeadingTile& out);
  void (*lowest_bits)(const Operand<T>&, const int* scales, LowestBits* out);
  void (*round_tile)(const ExactTile<T>&, const LeadingTile&, EntryMask& undecided);
  CompensatedSum (*compensated)(const VectorPair<T>&);
  void (*decompose_complex)(const ComplexStrip<T>&, const DigitTables&, const DecomposeTask&, std::size_t part_bytes);
  void (*recombine_complex)(const RecombineTables&, const ComplexResidues&, const int* row_scales,
                            const int* column_scales, T* real, T* imaginary);
  decltype(&decompose_sum_portable) decompose_sum;
  const DdLoops* dd;
};

template <class T>
const SchemeBackend<T>& portable_backend();
template <class T>
const SchemeBackend<T>* avx2_backend();  // null where the machine lacks an instruction of it
template <class T>
const SchemeBackend<T>* avx512_backend();  // null where the machine lacks an instruction of it
template <class T>
const SchemeBackend<T>& best_backend();

}  // namespace vernier
