#include "cuda/launch.hpp"
#include "residue/bound/bound_vectors.cuh"

namespace vernier::cuda {
namespace {

constexpr int threads = bound_vector_threads;

__global__ void __launch_bounds__(threads) judge_guess(const __grid_constant__ BoundTask task) {
  const VectorPlace place(task, false);
  // All but the minima is there, since each kernel before this one has waited for those before itself.
  const bool open = !task.gate.closed(), of_all = blockIdx.x == gridDim.x - 1;  // a block that has no vectors
  const unsigned allowed = open && of_all ? allowed_guesses(task) : 0;
  const BoundOperand& x = task.operand[place.side];
  const VectorStatistics s = open && place.there ? x.statistics[place.vector] : VectorStatistics{};
  const BoundRule rule = rule_of(task);
  wait_for_previous_kernels();
  allow_next_kernel();
  if (!open) return;
  unsigned coarse = s.nonfinite ? ~0u : 0;
  if (!s.zero() && !s.nonfinite) {
    const int asked = bound_exponent(rule, task.product, task.k, s, minimum_of(x, place.vector));
    for (int g = 0; g < task.guesses.count; ++g)
      if (task.guesses.chooser[g][place.side].ordinary_exponent(s) < asked) coarse |= 1u << g;
  }
  if ((coarse & ~*static_cast<volatile unsigned*>(&task.guess->coarse)) != 0) atomicOr(&task.guess->coarse, coarse);
  bool fails = (coarse >> task.judged & 1) != 0;
  if (of_all) {
    if (threadIdx.x == 0) task.guess->allowed = allowed;
    fails = (allowed >> task.judged & 1) == 0;
  }
  if (fails) task.guess->fails = 1;
  __threadfence();
  __syncthreads();
  if (threadIdx.x != 0 || atomicAdd(&task.guess->judged, 1u) + 1 != gridDim.x) return;
  __threadfence();
  const bool failed = *static_cast<volatile int*>(&task.guess->fails) != 0;
  if (task.route != nullptr && !failed)
    task.route->guessed = guess_of(task.guesses.least, task.guesses.before + task.judged + 1).moduli;
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
