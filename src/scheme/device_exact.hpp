// Contract `exact` on a GPU: what scaling leaves of the operands, a sample of the product for the choice of moduli, the
// rounding of a block of C, and the exact sums of the entries that it leaves open.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "base/device_planes.hpp"
#include "scheme/device_convert.hpp"
#include "scheme/device_recombine.hpp"
#include "scheme/device_sample.hpp"
#include "scheme/operand.hpp"
#include "scheme/round_error.hpp"

namespace vernier::cuda {

// What the scales leave of an operand. All counts are zeros before.
template <class T>
void count_grains_on_device(const Operand<T>& x, const int* scales, const DeviceGrains& grains, cudaStream_t stream);

// The same for both operands together with their residues, at the scales that are there, from one read of the
// elements. Two or three words an element.
constexpr bool counts_with_residues(int words) { return words == 2 || words == 3; }
template <class T>
void decompose_counting_on_device(const DeviceOperand<T>& a, const DeviceOperand<T>& b, const DeviceGrains& row_grains,
                                  const DeviceGrains& column_grains, const ConversionForm& form, cudaStream_t stream);

struct DeviceVectorErrors {
  std::int64_t vectors;
  const VectorStatistics* statistics;
  const DeviceGrain* grains;
  const int* scales;
  RoundError* errors;
};
// Errors at the scales that the grains were counted with; those of rows are lengthened. sample: null, or its counts
// over all vectors are added to.
void set_errors_on_device(const DeviceVectorErrors& rows, const DeviceVectorErrors& columns, DeviceSample* sample,
                          cudaStream_t stream);

// The sampled vectors and entries; sample is all zeros but for what set_errors_on_device has added.
template <class T>
void sample_on_device(const Operand<T>& a, const Operand<T>& b, const VectorStatistics* rows,
                      const VectorStatistics* columns, const DeviceGrain* row_grains, const DeviceGrain* column_grains,
                      DeviceSample* sample, cudaStream_t stream);

// Scales that bring the 2-norm to the budget (plan/exact_choice.hpp) or all elements to integers.
void set_exact_scales_on_device(std::int64_t vectors, const VectorStatistics* statistics, const DeviceGrain* grains,
                                int budget_16, int* scales, cudaStream_t stream);

// C = alpha op(A) op(B) + beta C, rounded once, on one block of C. All pointers but this object's own are to device
// memory.
template <class T>
struct DeviceExactBlock {
  int moduli = 0;
  const std::int8_t* residues = nullptr;  // product_units(m, n) of each modulus
  std::int64_t m = 0, n = 0;              // m * n <= 2^32
  Operand<T> a, b;                        // of the block, all of k
  const VectorStatistics *row_statistics = nullptr, *column_statistics = nullptr;
  const int *row_scales = nullptr, *column_scales = nullptr;
  const RoundError *row_errors = nullptr, *column_errors = nullptr;
  DeviceGrains row_grains, column_grains;  // none: nothing is looked at
  DeviceFactor<T> alpha, beta;
  T* c = nullptr;
  std::int64_t ldc = 0;
  bool specials = false;  // there are NaN or infinities
  // Room for m n entries i + j m: those that are open from the front, those that still are after the look from the end.
  std::uint32_t* open = nullptr;
  DeviceOpenCounts* counts = nullptr;

  // Where they do not fit beside each other nothing is looked at, and all have their exact sums.
  constexpr bool looks_at(unsigned long long count) const {
    return row_grains.counts != nullptr &&
           2 * count <= static_cast<unsigned long long>(m) * static_cast<unsigned long long>(n);
  }
};

// Entries that are decided go to C; the others to the list, whose counts are zeros before. Those of vectors with a NaN
// or an infinity are left out.
template <class T>
void round_on_device(const DeviceExactBlock<T>& block, cudaStream_t stream);

// Those of vectors with a NaN or an infinity.
template <class T>
void special_entries_on_device(const DeviceExactBlock<T>& block, cudaStream_t stream);

// The entries of the list, from their residues and what rounding took off the elements that are no integers.
template <class T>
void look_on_device(const DeviceExactBlock<T>& block, cudaStream_t stream);

// Those that are left, from the sums of all their products. Adds to the totals.
template <class T>
void accumulate_on_device(const DeviceExactBlock<T>& block, cudaStream_t stream);

}  // namespace vernier::cuda
