// The scheme's inner loops with AVX2, as their twins are documented where the portable ones stand.
#pragma once

#include "product/statistics.hpp"
#include "residue/convert/decompose.hpp"
#include "residue/exact/exact.hpp"
#include "residue/recombine/recombine.hpp"
#include "residue/recombine/update.hpp"
#include "residue/scale/block_spans.hpp"

namespace vernier {

template <class T>
void statistics_avx2(const Operand<T>& operand, std::int64_t first, std::int64_t count, VectorStatistics* out);
template <class T>
Operand<T> measured_strip_avx2(const Operand<T>& operand, std::int64_t first, std::int64_t k_begin,
                               std::int64_t k_count, T* buffer, VectorStatistics* out);
template <class T>
void decompose_avx2(const Operand<T>& strip, const DigitTables& tables, const DecomposeTask& task);
void decompose_sum_avx2(const Operand<double>* terms, int count, const DigitTables& tables, const DecomposeTask& task);
template <class T>
void decompose_complex_avx2(const ComplexStrip<T>& strip, const DigitTables& tables, const DecomposeTask& task,
                            std::size_t part_bytes);
template <class T>
void recombine_avx2(const RecombineTables& tables, const std::int8_t* residues, std::size_t plane_bytes,
                    const int* row_scales, const int* column_scales, T* tile);
bool recombine_speculative_avx2(const RecombineTables& tables, const std::int8_t* residues, std::size_t plane_bytes,
                                const int* row_scales, const int* column_scales, const SpeculativeTile& speculative,
                                double* tile);
template <class T>
void recombine_complex_avx2(const RecombineTables& tables, const ComplexResidues& residues, const int* row_scales,
                            const int* column_scales, T* real, T* imaginary);
void recombine_leading_avx2(const RecombineTables& tables, const std::int8_t* residues, std::size_t plane_bytes,
                            LeadingTile& out);
template <class T>
void update_avx2(const TileUpdate<T>& update, const T* tile);
template <class T>
void find_lowest_bits_avx2(const Operand<T>& view, const int* scales, LowestBits* out);
template <class T>
RoundingResidual residual_avx2(const VectorPair<T>& pair);
template <class T>
void block_deficits_avx2(const Operand<T>& x, std::int64_t first, const VectorStatistics* statistics, std::uint8_t* out,
                         std::int64_t stride);
void span_costs_avx2(const SpanCosts& costs, std::int64_t first);

}  // namespace vernier
