/* A program of cuBLAS that knows nothing of Vernier: each product is taken twice, the second time in pedantic mode,
 * which stays with cuBLAS under the preload. Each line says how far the two differ, relative to the largest entry. */
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The first interface, whose header does not go with that of the second. */
#undef cublasDgemm
#undef cublasZherk
#undef cublasZher2k
void cublasDgemm(char, char, int, int, int, double, const double*, int, const double*, int, double, double*, int);
void cublasZherk(char, char, int, int, double, const cuDoubleComplex*, int, double, cuDoubleComplex*, int);
void cublasZher2k(char, char, int, int, cuDoubleComplex, const cuDoubleComplex*, int, const cuDoubleComplex*, int,
                  double, cuDoubleComplex*, int);

enum { n = 4096, k = 3000, numbers = 2 * n * n };

static cublasHandle_t handle;
static cudaStream_t stream;
static char *a, *b, *c, *before; /* on the device: any type's matrices, and C before the product */
static double *first, *second;   /* on the host */
static int failures = 0;

static void require(int ok, const char* what) {
  if (ok) return;
  fprintf(stderr, "%s failed\n", what);
  exit(1);
}

/* Numbers from -1/2 to 1/2 in a, b and before. */
static void fill(int single_precision) {
  char* const matrices[] = {a, b, before};
  unsigned long long state = 1;
  int i, j;
  for (j = 0; j < 3; ++j) {
    for (i = 0; i < numbers; ++i) {
      state = 6364136223846793005 * state + 1442695040888963407;
      if (single_precision)
        ((float*)first)[i] = (float)(int)(state >> 32) * 0x1p-32F;
      else
        first[i] = (double)(int)(state >> 32) * 0x1p-32;
    }
    require(cudaMemcpy(matrices[j], first, numbers * sizeof *first, cudaMemcpyHostToDevice) == cudaSuccess, "copy");
  }
}

static double at(const double* x, int i, int single_precision) {
  return single_precision ? (double)((const float*)x)[i] : x[i];
}

/* The product as the program has it, and in pedantic mode. */
static void compare(const char* what, int (*product)(void), int single_precision) {
  const double tolerance = single_precision ? 1e-5 : 1e-13;
  double difference = 0, largest = 0;
  int i, status[2];
  static int filled = -1;
  if (filled != single_precision) fill(single_precision);
  filled = single_precision;
  for (i = 0; i < 2; ++i) {
    cudaMemcpy(c, before, numbers * sizeof(double), cudaMemcpyDeviceToDevice);
    cudaDeviceSynchronize();
    cublasSetMathMode(handle, i == 0 ? CUBLAS_DEFAULT_MATH : CUBLAS_PEDANTIC_MATH);
    status[i] = product();
    require(cudaDeviceSynchronize() == cudaSuccess, what);
    cudaMemcpy(i == 0 ? first : second, c, numbers * sizeof(double), cudaMemcpyDeviceToHost);
  }
  for (i = 0; i < numbers; ++i) {
    const double x = at(first, i, single_precision), y = at(second, i, single_precision);
    if (!(fabs(x - y) <= difference)) difference = fabs(x - y);
    if (fabs(y) > largest) largest = fabs(y);
  }
  printf("%s: %d %d, difference %.1e\n", what, status[0], status[1], difference / largest);
  if (status[0] != 0 || status[1] != 0 || !(difference <= tolerance * largest)) ++failures;
}

static const double two = 2, three = 3;
static const cuDoubleComplex z = {0.5, -2};
static const cuComplex w = {0.5F, -2}, v = {1, 3};
static const float half = 0.5F;

static int dgemm(void) {
  return cublasDgemm_v2(handle, CUBLAS_OP_T, CUBLAS_OP_N, n, n, k, &two, (double*)a, k, (double*)b, k, &three,
                        (double*)c, n);
}
static int zgemm(void) {
  return cublasZgemm_v2(handle, CUBLAS_OP_N, CUBLAS_OP_C, n, n, k, &z, (cuDoubleComplex*)a, n, (cuDoubleComplex*)b, n,
                        &z, (cuDoubleComplex*)c, n);
}
static int sgemm(void) {
  return cublasSgemm_v2(handle, CUBLAS_OP_T, CUBLAS_OP_N, n, n, k, &half, (float*)a, k, (float*)b, k, &half, (float*)c,
                        n);
}
static int dsyrkx(void) {
  return cublasDsyrkx(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, n, k, &two, (double*)a, n, (double*)b, n, &three,
                      (double*)c, n);
}
static int zsyrkx(void) {
  return cublasZsyrkx(handle, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_T, n, k, &z, (cuDoubleComplex*)a, k,
                      (cuDoubleComplex*)b, k, &z, (cuDoubleComplex*)c, n);
}
static int zherkx(void) {
  return cublasZherkx(handle, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, n, k, &z, (cuDoubleComplex*)a, n,
                      (cuDoubleComplex*)b, n, &three, (cuDoubleComplex*)c, n);
}
static int csyrk_ex(void) {
  return cublasCsyrkEx(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_T, n, k, &w, a, CUDA_C_32F, k, &v, c, CUDA_C_32F, n);
}
static int pedantic(void) {
  cublasMath_t mode;
  cublasGetMathMode(handle, &mode);
  return mode == CUBLAS_PEDANTIC_MATH;
}
static int cherk_ex(void) {
  if (pedantic()) /* which 3m is not */
    return cublasCherkEx(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_C, n, k, &half, a, CUDA_C_32F, k, &half, c,
                         CUDA_C_32F, n);
  return cublasCherk3mEx(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_C, n, k, &half, a, CUDA_C_32F, k, &half, c,
                         CUDA_C_32F, n);
}

/* The first interface, and its counterpart in the second. */
static int first_dgemm(void) {
  if (pedantic()) return dgemm();
  cublasDgemm('t', 'n', n, n, k, two, (double*)a, k, (double*)b, k, three, (double*)c, n);
  return 0;
}
static int first_zherk(void) {
  if (pedantic())
    return cublasZherk_v2(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_C, n, k, &two, (cuDoubleComplex*)a, k, &three,
                          (cuDoubleComplex*)c, n);
  cublasZherk('l', 'c', n, k, two, (cuDoubleComplex*)a, k, three, (cuDoubleComplex*)c, n);
  return 0;
}
static int first_zher2k(void) {
  if (pedantic())
    return cublasZher2k_v2(handle, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, n, k, &z, (cuDoubleComplex*)a, n,
                           (cuDoubleComplex*)b, n, &three, (cuDoubleComplex*)c, n);
  cublasZher2k('u', 'n', n, k, z, (cuDoubleComplex*)a, n, (cuDoubleComplex*)b, n, three, (cuDoubleComplex*)c, n);
  return 0;
}

/* Captured and launched; on a workspace that is given, no node of the graph takes memory. */
static int (*captured)(void);
static int given = 0;
static int in_graph(void) {
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  cudaGraphNode_t nodes[256];
  size_t count = 256, i;
  int status, allocations = 0;
  require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess, "capture");
  status = captured();
  require(cudaStreamEndCapture(stream, &graph) == cudaSuccess, "capture's end");
  require(cudaGraphGetNodes(graph, nodes, &count) == cudaSuccess, "nodes");
  for (i = 0; i < count && i < 256; ++i) {
    enum cudaGraphNodeType type;
    cudaGraphNodeGetType(nodes[i], &type);
    allocations += type == cudaGraphNodeTypeMemAlloc;
  }
  printf("a graph of %zu nodes, %d of them take memory\n", count, allocations);
  if (given && allocations > 0) ++failures;
  require(cudaGraphInstantiate(&executable, graph, 0) == cudaSuccess, "instantiation");
  require(cudaGraphLaunch(executable, stream) == cudaSuccess, "launch");
  require(cudaStreamSynchronize(stream) == cudaSuccess, "graph");
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
  return status;
}

static void with_workspace(const char* what, size_t bytes, int (*product)(void), int single_precision) {
  void* memory = NULL;
  require(cudaMalloc(&memory, bytes) == cudaSuccess, "workspace");
  cublasSetStream(handle, stream);
  require(cublasSetWorkspace(handle, memory, bytes) == CUBLAS_STATUS_SUCCESS, "cublasSetWorkspace");
  compare(what, product, single_precision);
  cublasSetStream(handle, stream);
  cudaFree(memory);
}

int main(void) {
  const size_t bytes = numbers * sizeof(double);
  require(cudaMallocHost((void**)&first, bytes) == cudaSuccess && cudaMallocHost((void**)&second, bytes) == cudaSuccess,
          "memory of the host");
  require(cudaMalloc((void**)&a, bytes) == cudaSuccess && cudaMalloc((void**)&b, bytes) == cudaSuccess &&
              cudaMalloc((void**)&c, bytes) == cudaSuccess && cudaMalloc((void**)&before, bytes) == cudaSuccess,
          "memory of the device");
  require(cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS, "cublasCreate");
  require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess, "stream");
  cublasSetStream(handle, stream);
  setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
  compare("dgemm", dgemm, 0);
  compare("zgemm", zgemm, 0);
  compare("dsyrkx", dsyrkx, 0);
  compare("zsyrkx", zsyrkx, 0);
  compare("zherkx", zherkx, 0);
  compare("first dgemm", first_dgemm, 0);
  compare("first zherk", first_zherk, 0);
  compare("first zher2k", first_zher2k, 0);
  with_workspace("dgemm on 4 GiB", (size_t)4 << 30, dgemm, 0);
  with_workspace("zgemm on 8 GiB", (size_t)8 << 30, zgemm, 0);
  with_workspace("dgemm on 4 MiB", (size_t)4 << 20, dgemm, 0);
  captured = dgemm;
  compare("dgemm in a graph", in_graph, 0);
  given = 1;
  with_workspace("dgemm in a graph on 4 GiB", (size_t)4 << 30, in_graph, 0);
  compare("sgemm", sgemm, 1);
  compare("csyrkEx", csyrk_ex, 1);
  compare("cherk3mEx", cherk_ex, 1);
  with_workspace("sgemm on 4 GiB", (size_t)4 << 30, sgemm, 1);
  captured = sgemm;
  with_workspace("sgemm in a graph on 4 GiB", (size_t)4 << 30, in_graph, 1);
  given = 0;
  compare("sgemm in a graph", in_graph, 1);
  cublasDestroy(handle);
  printf("%d failures\n", failures);
  return failures != 0;
}
