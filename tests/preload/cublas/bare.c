/* A program that neither is linked to a cuBLAS nor loads one, but asks for its functions: looked up by hand, or by
 * references that may stay open. Each line says what a call returned. On a GPU products that have exact results. */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#ifdef ON_GPU
#include <cuda_runtime_api.h>
#endif

__attribute__((weak)) void cublasDgemm(char, char, int, int, int, double, const double*, int, const double*, int,
                                       double, double*, int);
__attribute__((weak)) int cublasDgemm_v2(void*, int, int, int, int, int, const double*, const double*, int,
                                         const double*, int, const double*, double*, int);
__attribute__((weak)) int cublasSetStream_v2(void*, void*);

static double one = 1, matrix[1];

static int with_a_handle(int n) {
  return cublasDgemm_v2(matrix, 0, 0, n, n, n, &one, matrix, n, matrix, n, &one, matrix, n);
}

#ifdef ON_GPU
enum { n = 600 };
static double a[n * n], b[n * n], c[n * n];

static double* on_device(const double* host) {
  double* data = NULL;
  if (cudaMalloc((void**)&data, sizeof a) != cudaSuccess) return NULL;
  cudaMemcpy(data, host, sizeof a, cudaMemcpyHostToDevice);
  return data;
}

/* Small integers, every other column of A times `scale` and row of B divided by it: sums of integers. */
static int product(const char* what, double scale) {
  int i, j, k, wrong = 0;
  double *da, *db, *dc;
  for (i = 0; i < n; ++i)
    for (k = 0; k < n; ++k) {
      a[i + k * n] = ((7 * i + 3 * k) % 11 - 5) * (k % 2 == 0 ? 1 : scale);
      b[k + i * n] = ((5 * i + 9 * k) % 13 - 6) / (k % 2 == 0 ? 1 : scale);
    }
  da = on_device(a), db = on_device(b), dc = on_device(c);
  if (da == NULL || db == NULL || dc == NULL) return 1;
  cublasDgemm('n', 'n', n, n, n, 1, da, n, db, n, 0, dc, n);
  if (cudaMemcpy(c, dc, sizeof c, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
  for (i = 0; i < n; i += 7)
    for (j = 0; j < n; j += 5) {
      long sum = 0;
      for (k = 0; k < n; ++k) sum += ((7 * i + 3 * k) % 11 - 5) * ((5 * j + 9 * k) % 13 - 6);
      wrong += c[i + j * n] != (double)sum;
    }
  printf("%s: %d wrong\n", what, wrong);
  return wrong != 0;
}
#endif

int main(int argc, char** argv) {
  setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
#ifdef ON_GPU
  if (argc > 1) return product("even", 1) || product("wide", 0x1p-500);
#endif
  if (argc > 1 && strcmp(argv[1], "look") == 0) {
    printf("Dgemm: %d\n", dlsym(RTLD_DEFAULT, "cublasDgemm_v2") != NULL);
    printf("GemmEx: %d\n", dlsym(dlopen(NULL, RTLD_LAZY), "cublasGemmEx") != NULL);
    printf("LtMatmul: %d\n", dlsym(RTLD_DEFAULT, "cublasLtMatmul") != NULL);
    return 0;
  }
  printf("linked: %d\n", cublasDgemm != NULL && cublasDgemm_v2 != NULL && cublasSetStream_v2 != NULL);
  if (cublasDgemm == NULL || cublasDgemm_v2 == NULL || cublasSetStream_v2 == NULL) return 0;
  cublasDgemm('n', 'n', 600, 600, 600, 1, matrix, 600, matrix, 600, 0, matrix, 779); /* for the native product */
  puts("first interface");
  printf("with a handle: %d\n", with_a_handle(600));
  printf("small: %d\n", with_a_handle(10));
  printf("stream: %d\n", cublasSetStream_v2(matrix, NULL));
  return 0;
}
