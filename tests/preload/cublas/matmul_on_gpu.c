/* A program of cublasLt that knows nothing of Vernier: each product with its epilogue is taken twice, the second time
 * in pedantic arithmetic, which stays with cuBLAS under the preload. Each line says how far the two differ, relative to
 * the largest entry, in the result and in what the epilogue writes beside it. GELU of the second is computed here:
 * cuBLASLt rounds sqrt(2 / pi) to eight digits in double precision too. */
#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { m = 4096, n = 3072, k = 2560, most = m * n };

static cublasLtHandle_t handle;
static char *a, *b, *c, *d, *vector, *auxiliary, *workspace; /* on the device */
static const size_t workspace_bytes = (size_t)32 << 20;
static double *before, *results[2], *vectors[2], *kept[2]; /* on the host */
static int failures = 0, single;

static void require(int ok, const char* what) {
  if (ok) return;
  fprintf(stderr, "%s failed\n", what);
  exit(1);
}

static size_t width(void) { return single ? sizeof(float) : sizeof(double); }

static double at(const double* x, size_t i) { return single ? (double)((const float*)x)[i] : x[i]; }

/* Numbers from -1/2 to 1/2. */
static void fill(char* matrix, size_t count, unsigned long long state) {
  size_t i;
  for (i = 0; i < count; ++i) {
    state = 6364136223846793005 * state + 1442695040888963407;
    if (single)
      ((float*)before)[i] = (float)(int)(state >> 32) * 0x1p-32F;
    else
      before[i] = (double)(int)(state >> 32) * 0x1p-32;
  }
  require(cudaMemcpy(matrix, before, count * width(), cudaMemcpyHostToDevice) == cudaSuccess, "copy");
}

static cublasLtMatrixLayout_t layout(int rows, int columns, int by_rows) {
  cublasLtMatrixLayout_t made;
  const cublasLtOrder_t order = by_rows ? CUBLASLT_ORDER_ROW : CUBLASLT_ORDER_COL;
  require(cublasLtMatrixLayoutCreate(&made, single ? CUDA_R_32F : CUDA_R_64F, (uint64_t)rows, (uint64_t)columns,
                                     by_rows ? columns : rows) == CUBLAS_STATUS_SUCCESS,
          "layout");
  cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_ORDER, &order, sizeof order);
  return made;
}

static cublasLtMatmulDesc_t description(cublasLtEpilogue_t epilogue, int pedantic) {
  cublasLtMatmulDesc_t made;
  const cublasOperation_t turned = CUBLAS_OP_T;
  const int64_t ld = m;
  const cublasComputeType_t compute = single ? (pedantic ? CUBLAS_COMPUTE_32F_PEDANTIC : CUBLAS_COMPUTE_32F)
                                             : (pedantic ? CUBLAS_COMPUTE_64F_PEDANTIC : CUBLAS_COMPUTE_64F);
  require(cublasLtMatmulDescCreate(&made, compute, single ? CUDA_R_32F : CUDA_R_64F) == CUBLAS_STATUS_SUCCESS,
          "description");
  cublasLtMatmulDescSetAttribute(made, CUBLASLT_MATMUL_DESC_TRANSA, &turned, sizeof turned);
  cublasLtMatmulDescSetAttribute(made, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue);
  if (epilogue == CUBLASLT_EPILOGUE_DEFAULT) return made;
  cublasLtMatmulDescSetAttribute(made, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &vector, sizeof vector);
  if ((epilogue & 128) == 0) return made;
  cublasLtMatmulDescSetAttribute(made, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &auxiliary, sizeof auxiliary);
  cublasLtMatmulDescSetAttribute(made, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &ld, sizeof ld);
  return made;
}

static int product(cublasLtEpilogue_t epilogue, int pedantic, int by_rows) {
  const float alpha = 0.125F, beta = 0.5F;
  const double alphas = 0.125, betas = 0.5;
  const cublasLtMatrixLayout_t la = layout(k, m, by_rows), lb = layout(k, n, by_rows), lc = layout(m, n, by_rows);
  const cublasLtMatmulDesc_t what = description(epilogue, pedantic);
  const int status =
      cublasLtMatmul(handle, what, single ? (const void*)&alpha : &alphas, a, la, b, lb,
                     single ? (const void*)&beta : &betas, c, lc, d, lc, NULL, workspace, workspace_bytes, 0);
  cublasLtMatmulDescDestroy(what);
  cublasLtMatrixLayoutDestroy(la);
  cublasLtMatrixLayoutDestroy(lb);
  cublasLtMatrixLayoutDestroy(lc);
  return status;
}

static void set(double* x, size_t i, double value) {
  if (single)
    ((float*)x)[i] = (float)value;
  else
    x[i] = value;
}

static const double outer = 0.79788456080286535588, cubic = 0.044715; /* the first is sqrt(2 / pi) */

static double gelu(double x) { return 0.5 * x * (1 + tanh(outer * (x + cubic * x * x * x))); }

static double slope_of_gelu(double x) {
  const double t = tanh(outer * (x + cubic * x * x * x));
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * outer * (1 + 3 * cubic * x * x);
}

static int has(cublasLtEpilogue_t epilogue, cublasLtEpilogue_t part) { return (epilogue & part) == part; }

/* The product without GELU, as cuBLAS has it. */
static cublasLtEpilogue_t without_gelu(cublasLtEpilogue_t epilogue) {
  if (!has(epilogue, CUBLASLT_EPILOGUE_GELU) && !has(epilogue, CUBLASLT_EPILOGUE_DGELU)) return epilogue;
  return has(epilogue, CUBLASLT_EPILOGUE_BIAS) ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
}

/* GELU, its gradient and the sums of rows on the second result. */
static void finish_on_host(cublasLtEpilogue_t epilogue) {
  double* const x = results[1];
  double* const stored = kept[1];
  size_t i, j;
  if (has(epilogue, CUBLASLT_EPILOGUE_DGELU)) {
    for (i = 0; i < most; ++i) set(x, i, at(x, i) * slope_of_gelu(at(stored, i)));
    if (!has(epilogue, CUBLASLT_EPILOGUE_DGELU_BGRAD)) return;
    for (i = 0; i < m; ++i) {
      double sum = 0;
      for (j = 0; j < n; ++j) sum += at(x, i + j * m);
      set(vectors[1], i, sum);
    }
  } else if (has(epilogue, CUBLASLT_EPILOGUE_GELU)) {
    for (i = 0; i < most; ++i) {
      if (has(epilogue, CUBLASLT_EPILOGUE_GELU_AUX)) set(stored, i, at(x, i));
      set(x, i, gelu(at(x, i)));
    }
  }
}

static double difference(double* const x[2], size_t count) {
  double largest = 0, worst = 0;
  size_t i;
  for (i = 0; i < count; ++i) {
    const double apart = fabs(at(x[0], i) - at(x[1], i));
    if (!(apart <= worst)) worst = apart;
    if (fabs(at(x[1], i)) > largest) largest = fabs(at(x[1], i));
  }
  return largest > 0 ? worst / largest : worst;
}

/* Signs of what lies next to 0 may differ. */
static double bits_apart(void) {
  const unsigned char *x = (const unsigned char*)kept[0], *y = (const unsigned char*)kept[1];
  size_t i, apart = 0;
  for (i = 0; i < most / 8; ++i) apart += (size_t)__builtin_popcount(x[i] ^ y[i]);
  return (double)apart / most;
}

static void compare(const char* name, cublasLtEpilogue_t epilogue, int by_rows) {
  const double tolerance = single ? 1e-5 : 1e-13;
  int i, status[2];
  double apart, beside, stored;
  for (i = 0; i < 2; ++i) {
    fill(vector, m, 7);
    fill(auxiliary, most, 8);
    require(cudaMemset(d, 0xff, most * width()) == cudaSuccess, "D");
    status[i] = product(i ? without_gelu(epilogue) : epilogue, i, by_rows);
    require(cudaDeviceSynchronize() == cudaSuccess, name);
    cudaMemcpy(results[i], d, most * width(), cudaMemcpyDeviceToHost);
    cudaMemcpy(vectors[i], vector, m * width(), cudaMemcpyDeviceToHost);
    cudaMemcpy(kept[i], auxiliary, most * width(), cudaMemcpyDeviceToHost);
  }
  if (status[1] != 0) { /* which is then none that a program has */
    printf("%s %s: this cuBLAS has none (%d)\n", single ? "float" : "double", name, status[1]);
    return;
  }
  finish_on_host(epilogue);
  apart = difference(results, most);
  beside = difference(vectors, m);
  stored = (epilogue & 128) != 0 && !has(epilogue, CUBLASLT_EPILOGUE_GELU) && !has(epilogue, CUBLASLT_EPILOGUE_DGELU)
               ? bits_apart()
               : difference(kept, most);
  printf("%s %s: %d, differences %.1e %.1e %.1e\n", single ? "float" : "double", name, status[0], apart, beside,
         stored);
  if (status[0] != 0 || !(apart <= tolerance) || !(beside <= tolerance) || !(stored <= tolerance)) ++failures;
}

static void all(void) {
  fill(a, (size_t)k * m, 1);
  fill(b, (size_t)k * n, 2);
  fill(c, most, 3);
  compare("C beside D", CUBLASLT_EPILOGUE_DEFAULT, 0);
  compare("by rows", CUBLASLT_EPILOGUE_DEFAULT, 1);
  compare("bias", CUBLASLT_EPILOGUE_BIAS, 0);
  compare("relu", CUBLASLT_EPILOGUE_RELU, 0);
  compare("relu and bias", CUBLASLT_EPILOGUE_RELU_BIAS, 0);
  compare("relu kept", CUBLASLT_EPILOGUE_RELU_AUX, 0);
  compare("relu and bias kept", CUBLASLT_EPILOGUE_RELU_AUX_BIAS, 0);
  compare("gradient of relu", CUBLASLT_EPILOGUE_DRELU, 0);
  compare("gradients of relu and bias", CUBLASLT_EPILOGUE_DRELU_BGRAD, 0);
  compare("gelu", CUBLASLT_EPILOGUE_GELU, 0);
  compare("gelu and bias", CUBLASLT_EPILOGUE_GELU_BIAS, 0);
  compare("gelu kept", CUBLASLT_EPILOGUE_GELU_AUX, 0);
  compare("gelu and bias kept", CUBLASLT_EPILOGUE_GELU_AUX_BIAS, 0);
  compare("gradient of gelu", CUBLASLT_EPILOGUE_DGELU, 0);
  compare("gradients of gelu and bias", CUBLASLT_EPILOGUE_DGELU_BGRAD, 0);
  compare("gradient of bias from A", CUBLASLT_EPILOGUE_BGRADA, 0);
  compare("gradient of bias from B", CUBLASLT_EPILOGUE_BGRADB, 0);
}

int main(void) {
  char** const device[] = {&a, &b, &c, &d, &auxiliary};
  double** const host[] = {&before, &results[0], &results[1], &kept[0], &kept[1], &vectors[0], &vectors[1]};
  const size_t bytes = sizeof(double) * most;
  size_t i;
  for (i = 0; i < sizeof device / sizeof *device; ++i)
    require(cudaMalloc((void**)device[i], bytes) == cudaSuccess, "memory of the device");
  require(cudaMalloc((void**)&vector, sizeof(double) * m) == cudaSuccess &&
              cudaMalloc((void**)&workspace, workspace_bytes) == cudaSuccess,
          "memory of the device");
  for (i = 0; i < sizeof host / sizeof *host; ++i)
    require(cudaMallocHost((void**)host[i], bytes) == cudaSuccess, "memory of the host");
  require(cublasLtCreate(&handle) == CUBLAS_STATUS_SUCCESS, "cublasLtCreate");
  setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
  for (single = 0; single < 2; ++single) all();
  cublasLtDestroy(handle);
  printf("%d failures\n", failures);
  return failures != 0;
}
