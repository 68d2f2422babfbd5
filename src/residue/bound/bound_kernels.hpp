// Scales and moduli from the product of |A| and |B| on Hopper, as bound_scales.hpp has them: what is queued between the
// statistics and the conversion of a product that statistics leave irregular.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda/gate.hpp"
#include "engine/bound/bound_engine_cuda.hpp"
#include "product/host_answer.hpp"
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
  FilledPieces filled = {};              // of the bytes
  std::uint32_t* filled_planes[2] = {};  // cleared, for the conversion that follows
  BoundChoices choices;
  BoundSampleOnDevice sample = {};
  BoundGuesses guesses = {};
  int judged = -1;  // which of them is there already, and is judged by a part of the product
  GuessFindings* guess = nullptr;
  HostAnswer serves = {};        // does the guess?
  DeviceRoute* route = nullptr;  // where no host waits: written for the kernels that are queued behind
  bool native = false;           // ... among them the conventional product, which NaN and infinities take, too
  Gate gate = {};
};

void clear_sample_on_device(const BoundSampleOnDevice& sample, cudaStream_t stream);

// Errors of a sample, and weights of all vectors, before the product; after it the exponents that it asks for; then the
// moduli, and what these leave for the scales. The sample is of A and B alone: behind no gate it is taken beside the
// kernel that measures them, queued behind that or first.
template <class T>
void sample_on_device(const Operand<T>& a, const Operand<T>& b, const BoundTask& task, cudaStream_t stream,
                      bool first = false);
// Exponents that balance the operands (balance.hpp), one of each k, from the vectors of the sample; of a and b unless
// they are there already.
template <class T>
void balance_on_device(const Operand<T>* a, const Operand<T>* b, const BoundTask& task, std::int8_t* exponents,
                       cudaStream_t stream);
// x balanced, without room between its vectors or rows; *lost becomes 1 where an element leaves the normal numbers.
void copy_balanced_on_device(const Operand<double>& x, double* to, int* lost, cudaStream_t stream);
void weigh_on_device(const BoundTask& task, cudaStream_t stream);
void set_bound_exponents_on_device(const BoundTask& task, cudaStream_t stream);
void choose_bound_moduli_on_device(const BoundTask& task, cudaStream_t stream);

// In place of the exponents: does the guess serve?
void judge_guess_on_device(const BoundTask& task, cudaStream_t stream);

}  // namespace vernier::cuda
