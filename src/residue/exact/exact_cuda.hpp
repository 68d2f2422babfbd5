// Contract `exact` on a GPU: what scaling leaves of the operands, a sample of the product for the choice of moduli, and
// the rounding of a block of C, whose open entries take their exact sums (product/exact/exact_block.hpp).
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "engine/panel_cuda.hpp"
#include "product/exact/entry.hpp"
#include "product/exact/exact_block.hpp"
#include "product/operand.hpp"
#include "residue/convert/convert.hpp"
#include "residue/exact/sample.hpp"
#include "residue/recombine/recombine_cuda.hpp"

namespace vernier::cuda {

// What the scales that are there leave of the operands, whose counts are zeros before, and their residues, unless
// planes are null, from one read of the elements. Two or three words an element.
constexpr bool counts_with_residues(int words) { return words == 2 || words == 3; }
template <class T>
void decompose_counting_on_device(const DeviceOperand<T>& a, const DeviceOperand<T>& b,
                                  const Sides<DeviceLowestBitsLists>& lowest_bits, const ConversionForm& form,
                                  cudaStream_t stream);

struct DeviceVectorErrors {
  std::int64_t vectors;
  const VectorStatistics* statistics;
  const DeviceLowestBits* lowest_bits;
  const int* scales;
  RoundError* errors;
};
// Errors at the scales that the lowest_bits were counted with; those of rows are lengthened. sample: null, or its
// counts over all vectors are added to.
void set_errors_on_device(const DeviceVectorErrors& rows, const DeviceVectorErrors& columns, DeviceSample* sample,
                          cudaStream_t stream);

// The sampled vectors and entries; sample is all zeros but for what set_errors_on_device has added.
template <class T>
void sample_on_device(const Operand<T>& a, const Operand<T>& b, const VectorStatistics* rows,
                      const VectorStatistics* columns, const DeviceLowestBits* row_lowest_bits,
                      const DeviceLowestBits* column_lowest_bits, DeviceSample* sample, cudaStream_t stream);

// Scales that bring the 2-norm to the budget (residue/plan/exact_choice.hpp) or all elements to integers.
void set_exact_scales_on_device(std::int64_t vectors, const VectorStatistics* statistics,
                                const DeviceLowestBits* lowest_bits, int budget_16, int* scales, cudaStream_t stream);

// Entries that are decided go to C; the others to the list, whose counts are zeros before. Those of vectors with a NaN
// or an infinity are left out.
template <class T>
void round_on_device(const DeviceExactBlock<T>& block, cudaStream_t stream);

// The entries of the list, from their residues and what rounding took off the elements that are no integers.
template <class T>
void refine_open_entries(const DeviceExactBlock<T>& block, cudaStream_t stream);

}  // namespace vernier::cuda
