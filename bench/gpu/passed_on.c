/* Nanoseconds of a call of cuBLAS that a preload looks at and passes on: of sizes for which cuBLAS returns at once, so
 * that the difference between a run with the preload and one without is the preload's. */
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <time.h>

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(void) {
  enum { calls = 1000000 };
  const double one = 1, zero = 0;
  cublasHandle_t handle;
  void* memory = NULL;
  double begin, products, large, settings;
  int i;
  if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) return 1;
  for (i = 0; i < 1000; ++i)
    cublasDgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 0, 8, 8, &one, NULL, 8, NULL, 8, &zero, NULL, 8);
  begin = seconds();
  for (i = 0; i < calls; ++i)
    cublasDgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 0, 8, 8, &one, NULL, 8, NULL, 8, &zero, NULL, 8);
  products = (seconds() - begin) / calls;
  begin = seconds(); /* large, with nothing to multiply or to scale: looked at in full */
  for (i = 0; i < calls; ++i)
    cublasDgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 600, 600, 600, &zero, NULL, 600, NULL, 600, &one, NULL, 600);
  large = (seconds() - begin) / calls;
  if (cudaMalloc(&memory, 1 << 25) != cudaSuccess) return 1;
  begin = seconds(); /* as PyTorch before each product */
  for (i = 0; i < calls; ++i) {
    cublasSetStream(handle, NULL);
    cublasSetWorkspace(handle, memory, 1 << 25);
  }
  settings = (seconds() - begin) / calls;
  printf("{\"small_ns\": %.1f, \"large_ns\": %.1f, \"stream_and_workspace_ns\": %.1f}\n", 1e9 * products, 1e9 * large,
         1e9 * settings);
  cublasDestroy(handle);
  return 0;
}
