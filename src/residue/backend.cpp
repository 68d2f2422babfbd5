#include "residue/backend.hpp"

#include "base/cpu_features.hpp"
#include "base/instantiate.hpp"

namespace vernier {

// As their portable twins are documented.
#define VERNIER_DECLARE(set)                                                                                          \
  template <class T>                                                                                                  \
  void statistics_##set(const Operand<T>& operand, std::int64_t first, std::int64_t count, VectorStatistics* out);    \
  template <class T>                                                                                                  \
  Operand<T> measured_strip_##set(const Operand<T>& operand, std::int64_t first, std::int64_t k_begin,                \
                                  std::int64_t k_count, T* buffer, VectorStatistics* out);                            \
  template <class T>                                                                                                  \
  void decompose_##set(const Operand<T>& strip, const DigitTables& tables, const DecomposeTask& task);                \
  decltype(decompose_sum_portable) decompose_sum_##set;                                                               \
  template <class T>                                                                                                  \
  void decompose_complex_##set(const ComplexStrip<T>& strip, const DigitTables& tables, const DecomposeTask& task,    \
                               std::size_t part_bytes);                                                               \
  template <class T>                                                                                                  \
  void recombine_##set(const RecombineTables& tables, const std::int8_t* residues, std::size_t plane_bytes,           \
                       const int* row_scales, const int* column_scales, T* tile);                                     \
  decltype(recombine_speculative_portable) recombine_speculative_##set;                                               \
  template <class T>                                                                                                  \
  void recombine_complex_##set(const RecombineTables& tables, const ComplexResidues& residues, const int* row_scales, \
                               const int* column_scales, T* real, T* imaginary);                                      \
  decltype(recombine_leading_portable) recombine_leading_##set;                                                       \
  template <class T>                                                                                                  \
  void update_##set(const TileUpdate<T>& update, const T* tile);                                                      \
  template <class T>                                                                                                  \
  void find_lowest_bits_##set(const Operand<T>& view, const int* scales, LowestBits* out);                            \
  template <class T>                                                                                                  \
  CompensatedSum compensated_##set(const VectorPair<T>& pair);                                                        \
  template <class T>                                                                                                  \
  void block_deficits_##set(const Operand<T>& x, std::int64_t first, const VectorStatistics* statistics,              \
                            std::uint8_t* out, std::int64_t stride);                                                  \
  void span_costs_##set(const SpanCosts& costs, std::int64_t first);
VERNIER_DECLARE(avx2)
VERNIER_DECLARE(avx512)
#undef VERNIER_DECLARE
void publish_avx512();
template <class T>
void round_tile_avx512(const ExactTile<T>& tile, const LeadingTile& integers, EntryMask& undecided);

// The loops of one set of instructions; two that not every set has are named.
#define VERNIER_LOOPS(set, publish, round_tile)                                                               \
  {                                                                                                           \
#set, statistics_##set < T>, measured_strip_##set < T>, decompose_##set < T>, recombine_##set < T>,       \
        recombine_speculative_##set, update_##set < T>, publish, block_deficits_##set < T>, span_costs_##set, \
        recombine_leading_##set, find_lowest_bits_##set < T>, round_tile < T>, compensated_##set < T>,        \
        decompose_complex_##set < T>, recombine_complex_##set < T>, decompose_sum_##set, &dd_loops_##set      \
  }

template <class T>
const SchemeBackend<T>& portable_backend() {
  static constexpr SchemeBackend<T> backend VERNIER_LOOPS(portable, publish_portable, round_tile_portable);
  return backend;
}

template <class T>
const SchemeBackend<T>* avx2_backend() {
#if VERNIER_X86
  static const bool supported = missing_features(InstructionSet::avx2).empty();
  static constexpr SchemeBackend<T> backend VERNIER_LOOPS(avx2, publish_portable, round_tile_portable);
  if (supported) return &backend;
#endif
  return nullptr;
}

template <class T>
const SchemeBackend<T>* avx512_backend() {
#if VERNIER_X86
  static const bool supported = missing_features(InstructionSet::avx512_vnni).empty();
  static constexpr SchemeBackend<T> backend VERNIER_LOOPS(avx512, publish_avx512, round_tile_avx512);
  if (supported) return &backend;
#endif
  return nullptr;
}

template <class T>
const SchemeBackend<T>& best_backend() {
  for (const SchemeBackend<T>* vector : {avx512_backend<T>(), avx2_backend<T>()})
    if (vector != nullptr) return *vector;
  return portable_backend<T>();
}

VERNIER_REAL_INSTANCES(portable_backend, avx2_backend, avx512_backend, best_backend)

}  // namespace vernier
