/* Nanoseconds of a call of cuBLAS that a preload looks at and passes on: of sizes for which cuBLAS returns at once, so
 * that the difference between a run with the preload and one without is the preload's. The best of some rounds, of the
 * thread's own processor time: hosts of GPUs have other work. */
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <time.h>

enum { calls = 200000, rounds = 15 };

static cublasHandle_t handle;
static void* memory = NULL;

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void product(int m, int n, double alpha, double beta) {
  cublasDgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, n, &alpha, NULL, n, NULL, n, &beta, NULL, n);
}
static void small(void) { product(0, 8, 1, 0); }
static void large(void) { product(600, 600, 0, 1); } /* with nothing to multiply or to scale: looked at in full */
static void known(void) { product(260, 260, 0, 1); } /* as large(), after a product of that shape */
static void settings(void) {                         /* as PyTorch before each product */
  cublasSetStream(handle, NULL);
  cublasSetWorkspace(handle, memory, 1 << 25);
}

static double best_ns(void (*call)(void)) {
  double best = 1;
  int round, i;
  for (round = 0; round < rounds; ++round) {
    const double begin = seconds();
    for (i = 0; i < calls; ++i) call();
    if ((seconds() - begin) / calls < best) best = (seconds() - begin) / calls;
  }
  return 1e9 * best;
}

int main(void) {
  double of_nothing, of_size, of_known;
  const double one = 1;
  if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) return 1;
  of_nothing = best_ns(small);
  of_size = best_ns(large);
  if (cudaMalloc(&memory, 1 << 25) != cudaSuccess) return 1;
  cublasDgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 260, 260, 260, &one, memory, 260, memory, 260, &one, memory, 260);
  cudaDeviceSynchronize();
  of_known = best_ns(known);
  printf("{\"small_ns\": %.1f, \"large_ns\": %.1f, \"known_ns\": %.1f, \"stream_and_workspace_ns\": %.1f}\n",
         of_nothing, of_size, of_known, best_ns(settings));
  cublasDestroy(handle);
  return 0;
}
