// Scales and moduli from the product of |A| and |B| on Hopper, as bound_scales.hpp has them: what is queued between the
// statistics and the conversion of a product that statistics leave irregular.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda/gate.hpp"
#include "engine/bound/bound_engine_cuda.hpp"
#include "residue/bound/bound_buffers.hpp"
#include "residue/bound/bound_scales.hpp"

namespace vernier::cuda {

struct BoundOperand {
  const VectorStatistics* statistics = nullptr;
  std::int64_t vectors = 0;
  BoundVectorsOnDevice bounds;
  int* scales = nullptr;  // written: exponents of powers of two
};

struct BoundTask {
  BoundRule rule;
  BoundProduct product;
  std::int64_t k = 0;
  BoundOperand operand[2];
  const std::uint8_t* codes = nullptr;
  BoundFindings* found = nullptr;
  BoundChoices choices;
  Gate gate = {};
};

// Weights of all vectors, before the product; and after it the findings and the scales.
void weigh_on_device(const BoundTask& task, cudaStream_t stream);
void choose_bound_scales_on_device(const BoundTask& task, cudaStream_t stream);

}  // namespace vernier::cuda
