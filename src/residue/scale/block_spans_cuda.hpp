// Block spans (residue/scale/block_spans.hpp) on a GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda/gate.hpp"
#include "engine/panel.hpp"
#include "residue/scale/block_spans.hpp"

namespace vernier::cuda {

inline constexpr int span_tile = 64;  // vectors: strides are multiples of it

// Device memory of one operand; arrays of `stride` vectors, a multiple of span_tile.
struct DeviceSpans {
  std::uint8_t* deficits = nullptr;   // [block][stride]
  std::uint8_t* norm_bits = nullptr;  // no_cost beyond the vectors
  unsigned* costs = nullptr;          // the result, as SpanCosts has it
  std::int64_t stride = 0;
};

constexpr std::int64_t span_stride(std::int64_t vectors) { return round_up(vectors, span_tile); }

// Deficits, logarithms of norms, and costs at 0.
template <class T>
void block_deficits_on_device(const Operand<T>& x, const VectorStatistics* statistics, const DeviceSpans& out,
                              cudaStream_t stream, const Gate& gate = {});

// Raises the costs of both.
void span_costs_on_device(const DeviceSpans& a, const DeviceSpans& b, std::int64_t blocks, cudaStream_t stream,
                          const Gate& gate = {});

}  // namespace vernier::cuda
