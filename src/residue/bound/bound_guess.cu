#include "cuda/launch.hpp"
#include "residue/bound/bound_vectors.cuh"

namespace vernier::cuda {
namespace {

constexpr int threads = bound_vector_threads;

// Is the scale that a vector has too coarse for what the product asks?
__device__ __forceinline__ bool too_coarse(const BoundTask& task, const VectorPlace& place) {
  const BoundOperand& x = task.operand[place.side];
  const VectorStatistics s = x.statistics[place.vector];
  if (s.nonfinite) return true;
  if (s.zero()) return false;
  const int asked = bound_exponent(rule_of(task), task.product, task.k, s, minimum_of(x, place.vector));
  return task.guesses.chooser[task.judged][place.side].ordinary_exponent(s) < asked;
}

__global__ void __launch_bounds__(threads) judge_guess(const __grid_constant__ BoundTask task) {
  const VectorPlace place(task, false);
  wait_for_previous_kernels();
  allow_next_kernel();
  if (task.gate.closed()) return;
  bool fails = place.there && too_coarse(task, place);
  if (blockIdx.x == gridDim.x - 1) {  // which has no vectors
    const unsigned allowed = allowed_guesses(task);
    if (threadIdx.x == 0) task.guess->allowed = allowed;
    fails = fails || (allowed >> task.judged & 1) == 0;
  }
  if (fails) task.guess->fails = 1;
  __threadfence();
  __syncthreads();
  if (threadIdx.x != 0 || atomicAdd(&task.guess->judged, 1u) + 1 != gridDim.x) return;
  __threadfence();
  const bool failed = *static_cast<volatile int*>(&task.guess->fails) != 0;
  if (task.route != nullptr && !failed) task.route->guessed = guess_of(task.guesses.least, task.judged + 1).moduli;
  if (task.serves.word == nullptr) return;
  __threadfence_system();
  task.serves.give(!failed);
}

}  // namespace

void judge_guess_on_device(const BoundTask& task, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(1 + divide_up(task.operand[0].vectors + task.operand[1].vectors, threads));
  launch("judge_guess", judge_guess, {.grid = dim3(blocks), .block = dim3(threads), .overlap_previous = true}, stream,
         task);
}

}  // namespace vernier::cuda
