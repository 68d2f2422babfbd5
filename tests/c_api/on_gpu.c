/* Products about which the GPU decides, from C: captured, replayed with other data, completed. */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <vernier/vernier_cuda.h>

#define REQUIRE(condition)                                   \
  do {                                                       \
    if (!(condition)) {                                      \
      printf("line %d: not so: %s\n", __LINE__, #condition); \
      exit(EXIT_FAILURE);                                    \
    }                                                        \
  } while (0)
#define CHECK(call) REQUIRE((call) == cudaSuccess)

enum { n = 2, bytes = n * n * sizeof(double) };

static vernier_handle handle;
static cudaStream_t stream;
static double *a, *b, *c;

static vernier_status product(void) {
  static const double one = 1, zero = 0;
  return vernier_cuda_gemm(handle, VERNIER_D, VERNIER_OP_N, VERNIER_OP_N, n, n, n, &one, a, n, b, n, &zero, c, n);
}

/* Replays the product for A and B = x; c_on_host is C, poisoned with 7 before. */
static void replay(cudaGraphExec_t graph, const double* x, double* c_on_host) {
  const double poison[] = {7, 7, 7, 7};
  CHECK(cudaMemcpy(a, x, bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(b, x, bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(c, poison, bytes, cudaMemcpyHostToDevice));
  CHECK(cudaGraphLaunch(graph, stream));
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaMemcpy(c_on_host, c, bytes, cudaMemcpyDeviceToHost));
}

/* Ordinary data, wide ones, ordinary ones again: the report follows each replay. Of the wide ones the first entry is a
 * sum of two products with a factor each that is next to nothing in its row or column. */
static void replays_are_completed(const char* contract, vernier_cuda_outcome* outcome, int falls_back) {
  const double ordinary[] = {1, 3, 2, 4}, wide[] = {1e-150, 1e-200, 1, 1};
  double got[n * n];
  vernier_report report;
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  int i;
  REQUIRE(vernier_set_contract(handle, contract) == VERNIER_SUCCESS);
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  REQUIRE(product() == VERNIER_SUCCESS);
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiateWithFlags(&executable, graph, 0));
  for (i = 0; i < 3; ++i) {
    replay(executable, i == 1 ? wide : ordinary, got);
    if (i == 1 && !falls_back) {
      REQUIRE(got[0] == 7 && got[1] == 7 && got[2] == 7 && got[3] == 7);
      REQUIRE(vernier_cuda_complete_report(handle, outcome) == VERNIER_BOUND_NOT_MET);
      REQUIRE(vernier_last_error(handle)[0] != '\0');
      continue;
    }
    if (i != 1) REQUIRE(got[0] == 7 && got[1] == 15 && got[2] == 10 && got[3] == 22);
    REQUIRE(vernier_cuda_complete_report(handle, outcome) == VERNIER_SUCCESS);
    REQUIRE(vernier_get_report(handle, &report) == VERNIER_SUCCESS);
    REQUIRE(report.fallback == (i == 1));
    REQUIRE((report.moduli > 0) == (i != 1));
  }
  CHECK(cudaGraphExecDestroy(executable));
  CHECK(cudaGraphDestroy(graph));
}

/* Eleven rows: a byte of signs and three bits. Relu of -4 to 6 in the first column, and of its mirror in the second. */
static void relu_keeps_its_signs(void) {
  double *d, x[22];
  unsigned char *signs, kept[4];
  int i;
  CHECK(cudaMalloc((void**)&d, sizeof x));
  CHECK(cudaMalloc((void**)&signs, sizeof kept));
  CHECK(cudaMemset(signs, 0xff, sizeof kept)); /* what is no row's stays */
  for (i = 0; i < 22; ++i) x[i] = i < 11 ? i - 4 : 15 - i;
  CHECK(cudaMemcpy(d, x, sizeof x, cudaMemcpyHostToDevice));
  REQUIRE(vernier_cuda_relu_with_signs(handle, VERNIER_D, 0, 11, 2, NULL, d, 11, signs, 16) == VERNIER_SUCCESS);
  CHECK(cudaMemcpy(kept, signs, sizeof kept, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(x, d, sizeof x, cudaMemcpyDeviceToHost));
  REQUIRE(kept[0] == 0xf0 && kept[1] == 0xff && kept[2] == 0x1f && kept[3] == 0xf8);
  for (i = 0; i < 22; ++i) REQUIRE(x[i] == (i < 11 ? (i > 4 ? i - 4 : 0) : (i < 15 ? 15 - i : 0)));
  for (i = 0; i < 22; ++i) x[i] = -1;
  CHECK(cudaMemcpy(d, x, sizeof x, cudaMemcpyHostToDevice));
  REQUIRE(vernier_cuda_relu_with_signs(handle, VERNIER_D, 1, 11, 2, NULL, d, 11, signs, 16) == VERNIER_SUCCESS);
  CHECK(cudaMemcpy(x, d, sizeof x, cudaMemcpyDeviceToHost));
  for (i = 0; i < 22; ++i) REQUIRE(x[i] == ((i > 3 && i < 16) ? -1 : 0));
  REQUIRE(vernier_cuda_relu_with_signs(handle, VERNIER_D, 1, 11, 2, NULL, d, 11, signs, 12) ==
          VERNIER_INVALID_ARGUMENT);
  CHECK(cudaFree(d));
  CHECK(cudaFree(signs));
}

int main(void) {
  vernier_cuda_outcome* outcome;
  CHECK(cudaMalloc((void**)&a, bytes));
  CHECK(cudaMalloc((void**)&b, bytes));
  CHECK(cudaMalloc((void**)&c, bytes));
  CHECK(cudaMallocHost((void**)&outcome, sizeof *outcome));
  CHECK(cudaStreamCreate(&stream));
  REQUIRE(vernier_create(&handle) == VERNIER_SUCCESS);
  REQUIRE(vernier_cuda_set_stream(handle, stream) == VERNIER_SUCCESS);
  relu_keeps_its_signs();
  REQUIRE(vernier_cuda_set_engine(handle, "sm90_int8") == VERNIER_SUCCESS);
  REQUIRE(vernier_set_contract(handle, "fp64+reproducible") == VERNIER_SUCCESS);
  REQUIRE(vernier_cuda_set_asynchronous(handle, 1) == VERNIER_SUCCESS);
  REQUIRE(product() == VERNIER_UNSUPPORTED); /* nothing would tell that the data were too wide */
  REQUIRE(vernier_cuda_set_outcome(handle, outcome) == VERNIER_SUCCESS);
  replays_are_completed("fp64", outcome, 1);
  replays_are_completed("fp64+reproducible", outcome, 0);
  REQUIRE(vernier_destroy(handle) == VERNIER_SUCCESS);
  printf("ok\n");
  return EXIT_SUCCESS;
}
