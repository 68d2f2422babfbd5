/* A program that knows cuBLAS and nothing of Vernier. It is compiled as a program that is linked to cuBLAS, and as a
 * module that a host loads for itself, as Python does. Each line says what a call returned. */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "fake_cublas.h"

static const double one = 1, zero = 0;
static double matrix[1];
static int marker;

enum { large = 600, f16 = 2, f64 = 1, compute_64f = 70, pedantic_64f = 71 };

static void say(const char* what, int status) { printf("%s: %d\n", what, status); }

static int dgemm(struct fake_handle* h, int n, int ldc) {
  return cublasDgemm_v2(h, 1, 0, n, n + 1, n + 2, &one, matrix, n + 2, matrix, n + 3, &zero, matrix, ldc);
}

static void products(void) {
  struct fake_handle h = {&marker, 0, 0}, device = {&marker, 1, 0}, pedantic = {&marker, 0, 2}, tf32 = {&marker, 0, 3};
  say("small", dgemm(&h, 100, 100));
  say("slower", dgemm(&h, 300, 300));
  say("large", dgemm(&h, large, 605));
  say("device factors", dgemm(&device, large, 605));
  say("pedantic", dgemm(&pedantic, large, 605));
  say("tf32 in fp64", dgemm(&tf32, large, 605));
  say("wrong ldc", dgemm(&h, large, 1));
  say("too wide", dgemm(&h, large, 777));
  say("captured", dgemm(&h, large + 3, 778)); /* the shape before pauses */
  say("64 bits", cublasDgemm_v2_64(&h, 0, 2, large, large, large, &one, matrix, 601, matrix, 602, &zero, matrix, 603));
  say("strided", cublasDgemmStridedBatched(&h, 0, 0, large, large, large, &one, matrix, 600, 7, matrix, 600, 8, &zero,
                                           matrix, 600, 9, 3));
  say("strided with beta", cublasDgemmStridedBatched(&h, 0, 0, large, large, large, &one, matrix, 600, 7, matrix, 600,
                                                     8, &one, matrix, 600, 9, 3));
  say("typed", cublasGemmEx(&h, 0, 0, large, large, large, &one, matrix, f64, 600, matrix, f64, 600, &zero, matrix, f64,
                            600, compute_64f, -1));
  say("half", cublasGemmEx(&h, 0, 0, large, large, large, &one, matrix, f16, 600, matrix, f16, 600, &zero, matrix, f16,
                           600, 68, -1));
  say("typed pedantic", cublasGemmEx(&h, 0, 0, large, large, large, &one, matrix, f64, 600, matrix, f64, 600, &zero,
                                     matrix, f64, 600, pedantic_64f, -1));
}

static void known_shapes(void) {
  struct fake_handle h = {&marker, 0, 0}, device = {&marker, 1, 0};
  int i;
  for (i = 0; i < 50; ++i) dgemm(&h, 300, 300);
  for (i = 0; i < 50; ++i) dgemm(&device, 300, 300);
  say("wrong ldc", dgemm(&h, 300, 1));
  for (i = 0; i < 3; ++i)
    cublasDgemm_v2(&h, 0, 0, large, large, large, &zero, matrix, large, matrix, large, &one, matrix, large);
  cublasDgemm_v2(&h, 0, 0, large, large, large, &zero, matrix, 1, matrix, large, &one, matrix, large);
}

static void level3(void) {
  struct fake_handle h = {&marker, 0, 0}, device = {&marker, 1, 0};
  say("trsm", cublasDtrsm_v2(&h, 1, 1, 1, 1, 1500, 1200, &one, matrix, 1201, matrix, 1501));
  say("trsm device factors", cublasDtrsm_v2(&device, 0, 0, 0, 0, 1500, 1200, &one, matrix, 1501, matrix, 1501));
  say("syrk", cublasDsyrk_v2(&h, 0, 0, 1100, 512, &one, matrix, 1100, &zero, matrix, 1101));
  say("syrk passed on", cublasDsyrk_v2(&h, 1, 1, 700, 700, &one, matrix, 700, &zero, matrix, 700));
}

static void forms(void) {
  struct fake_handle h = {&marker, 0, 0};
  const int ops[] = {0, 1}, sizes[] = {10, large}, lds[] = {large, large};
  const double factors[] = {1, 2};
  const double* arrays[1] = {matrix};
  double* results[1] = {matrix};
  const float ones[] = {1, 1};
  say("syrkx", cublasDsyrkx(&h, 1, 0, 1200, 512, &one, matrix, 1200, matrix, 1201, &one, matrix, 1202));
  say("herkx", cublasZherkx(&h, 0, 2, 1200, 512, factors, matrix, 512, matrix, 513, &one, matrix, 1202));
  say("herkx transposed", cublasZherkx(&h, 0, 1, 1200, 512, factors, matrix, 512, matrix, 513, &one, matrix, 1202));
  say("syrkEx", cublasCsyrkEx(&h, 0, 1, 1200, 512, ones, matrix, 4, 512, ones, matrix, 4, 1200));
  say("syrkEx of bytes", cublasCsyrkEx(&h, 0, 1, 1200, 512, ones, matrix, 7, 512, ones, matrix, 4, 1200));
  say("batch of trsm", cublasDtrsmBatched(&h, 1, 0, 1, 0, large, large, &one, arrays, large, results, large, 1));
  say("Hgemm", cublasHgemm(&h, 0, 1, large, large, large, ones, matrix, large, matrix, large, ones, matrix, large));
  say("groups", cublasDgemmGroupedBatched(&h, ops, ops, sizes, sizes, sizes, factors, arrays, lds, arrays, lds, factors,
                                          results, lds, 2, ops));
  say("Xt", cublasXtDgemm(&h, 0, 1, large, large, large, &one, matrix, large, matrix, large, &one, matrix, large));
}

static void first_interface(void) {
  const struct fake_complex two = {2, 3}, four = {4, 5};
  cublasDgemm('t', 'C', large, 601, 602, 2, matrix, 602, matrix, 603, 3, matrix, 604);
  cublasZgemm('N', 'c', large, 601, 602, two, matrix, 605, matrix, 606, four, matrix, 607);
  cublasZtrsm('r', 'u', 'c', 'u', 1500, 1200, two, matrix, 1201, matrix, 1501);
  cublasDgemm('n', 'n', 100, 100, 100, 2, matrix, 100, matrix, 100, 3, matrix, 100);
  cublasZgemm('n', 'x', large, 601, 602, two, matrix, 605, matrix, 606, four, matrix, 607);
  say("default stream", cublasSetKernelStream(NULL));
  cublasDgemm('n', 'n', large, large, large, 2, matrix, 608, matrix, 609, 3, matrix, 610);
  say("another stream", cublasSetKernelStream(&marker));
  cublasDgemm('n', 'n', large, large, large, 2, matrix, 608, matrix, 609, 3, matrix, 610);
}

static char memory[4096] __attribute__((aligned(256)));

static void* another_thread(void* handle) {
  say("another thread", dgemm(handle, large, 605));
  return NULL;
}

static void workspaces(void) {
  struct fake_handle h = {&marker, 0, 0}, other = {&marker, 0, 0};
  struct fake_layout a = {f64, 602, large, 602, 1, 0, 0}, b = {f64, 602, 601, 602, 1, 0, 0},
                     d = {f64, large, 601, 605, 1, 0, 0};
  struct fake_product plain = {compute_64f, f64, 1, 1, NULL, NULL, 0};
  pthread_t id;
  say("none", dgemm(&h, large, 605));
  cublasSetWorkspace_v2(&h, memory, 2048);
  say("enough", dgemm(&h, large, 605));
  say("larger", dgemm(&h, 1000, 1000));
  say("enough again", dgemm(&h, large, 605));
  say("another handle", dgemm(&other, large, 605));
  say("batch of two", cublasDgemmStridedBatched(&h, 0, 0, large, large, large, &one, matrix, 600, 7, matrix, 600, 8,
                                                &zero, matrix, 600, 9, 2));
  say("batch of three", cublasDgemmStridedBatched(&h, 0, 0, large, large, large, &one, matrix, 600, 7, matrix, 600, 8,
                                                  &zero, matrix, 600, 9, 3));
  say("level 3", cublasDsyrk_v2(&h, 0, 0, 1100, 512, &one, matrix, 1100, &zero, matrix, 1101));
  cublasSetStream_v2(&h, &marker);
  say("after another stream", dgemm(&h, large, 605));
  cublasSetWorkspace_v2(&h, memory, 999);
  say("too few bytes", dgemm(&h, large, 605));
  cublasSetWorkspace_v2(&h, memory + 16, 2048);
  say("not aligned", dgemm(&h, large, 605));
  cublasSetWorkspace_v2(&h, memory, 2048);
  say("one thread", dgemm(&h, large, 605));
  pthread_create(&id, NULL, another_thread, &h);
  pthread_join(id, NULL);
  say("after another thread", dgemm(&h, large, 605));
  cublasSetWorkspace_v2(&h, memory, 2048);
  say("given again", dgemm(&h, large, 605));
  cublasDestroy_v2(&h);
  say("handle of the same address", dgemm(&h, large, 605));
  say("matmul with one", cublasLtMatmul(&h, &plain, &one, matrix, &a, matrix, &b, &one, matrix, &d, matrix, &d, NULL,
                                        memory, 2048, &marker));
}

static void settings(void) {
  struct fake_handle h = {&marker, 0, 0};
  say("workspace", cublasSetWorkspace_v2(&h, memory, 2048));
  say("stream", cublasSetStream_v2(&h, &marker));
  say("end", cublasDestroy_v2(&h));
}

/* As XLA has it: the library by its name, each function by its own. */
static void looked_up(void) {
  struct fake_handle h = {&marker, 0, 0};
  void* library = dlopen("libcublas.so.13", RTLD_NOW | RTLD_LOCAL);
  int (*gemm)(void*, int, int, int, int, int, const double*, const double*, int, const double*, int, const double*,
              double*, int) = NULL;
  *(void**)&gemm = dlsym(library, "cublasDgemm_v2");
  say("looked up", gemm(&h, 1, 0, large, large + 1, large + 2, &one, matrix, 602, matrix, 603, &zero, matrix, 605));
  say("small and looked up", gemm(&h, 0, 0, 100, 100, 100, &one, matrix, 100, matrix, 100, &zero, matrix, 100));
  say("absent", dlsym(library, "cublasHgemmBatched") != NULL);
  void* (*underneath)(void*, const char*) = NULL; /* as libvernier has it */
  *(void**)&underneath = dlsym(RTLD_DEFAULT, "vernier_underneath");
  if (underneath == NULL) return;
  *(void**)&gemm = underneath(library, "cublasDgemm_v2");
  say("looked up by libvernier",
      gemm(&h, 1, 0, large, large + 1, large + 2, &one, matrix, 602, matrix, 603, &zero, matrix, 605));
}

__attribute__((weak)) int cublasHgemmBatched(void*, int, int, int, int, int, const void*, const void*, int, const void*,
                                             int, const void*, void*, int, int);

/* A function that this cuBLAS lacks, looked up by hand and by a reference that may stay open. */
static void absent(void) {
  struct fake_handle h = {&marker, 0, 0};
  const int by_default = dlsym(RTLD_DEFAULT, "cublasHgemmBatched") != NULL;
  printf("by default: %d, %s\n", by_default, dlerror() != NULL ? "told why" : "not told why");
  const int in_program = dlsym(dlopen(NULL, RTLD_LAZY), "cublasHgemmBatched") != NULL;
  printf("in the program: %d, %s\n", in_program, dlerror() != NULL ? "told why" : "not told why");
  say("linked", cublasHgemmBatched != NULL);
  if (cublasHgemmBatched == NULL) return;
  for (const char* what = "batch of halves"; what != NULL; what = what[0] == 'b' ? "once more" : NULL)
    say(what,
        cublasHgemmBatched(&h, 0, 0, large, large, large, &one, matrix, large, matrix, large, &zero, matrix, large, 2));
}

static void matmul(void) {
  struct fake_handle h = {&marker, 0, 0};
  struct fake_layout a = {f64, 602, large, 602, 1, 0, 0}, b = {f64, 602, 601, 602, 1, 0, 0},
                     d = {f64, large, 601, 605, 1, 0, 0};
  struct fake_layout c = d, few = {f64, 602, 600, 602, 1, 0, 0};
  struct fake_product plain = {compute_64f, f64, 1, 1, NULL, NULL, 0}, bias = {compute_64f, f64, 1, 4, NULL, NULL, 0};
  double other[1];
  say("matmul",
      cublasLtMatmul(&h, &plain, &one, matrix, &a, matrix, &b, &one, matrix, &c, matrix, &d, NULL, NULL, 0, &marker));
  say("matmul, C apart, beta 0",
      cublasLtMatmul(&h, &plain, &one, matrix, &a, matrix, &b, &zero, other, &c, matrix, &d, NULL, NULL, 0, &marker));
  say("matmul, C apart",
      cublasLtMatmul(&h, &plain, &one, matrix, &a, matrix, &b, &one, other, &c, matrix, &d, NULL, NULL, 0, &marker));
  say("matmul with a bias that is missing",
      cublasLtMatmul(&h, &bias, &one, matrix, &a, matrix, &b, &one, matrix, &c, matrix, &d, NULL, NULL, 0, &marker));
  say("matmul of sizes that do not fit",
      cublasLtMatmul(&h, &plain, &one, matrix, &a, matrix, &few, &one, matrix, &c, matrix, &d, NULL, NULL, 0, &marker));
  a.rows = b.rows = 62, a.columns = d.rows = 60, b.columns = d.columns = 61;
  fake_questions = 0;
  cublasLtMatmul(&h, &plain, &one, matrix, &a, matrix, &b, &one, matrix, &d, matrix, &d, NULL, NULL, 0, &marker);
  say("questions about a small one", fake_questions);
}

/* A is 602 x 600, B 602 x 601 and D 600 x 601, each by columns, or by rows where its order says so. */
static int matmul_of(struct fake_product* p, struct fake_layout a, struct fake_layout b, struct fake_layout d) {
  struct fake_handle h = {&marker, 0, 0};
  return cublasLtMatmul(&h, p, &one, matrix, &a, matrix, &b, &one, matrix, &d, matrix, &d, NULL, NULL, 0, &marker);
}

static void epilogues(void) {
  const struct fake_layout a = {f64, 602, large, 602, 1, 0, 0}, b = {f64, 602, 601, 603, 1, 0, 0},
                           d = {f64, large, 601, 605, 1, 0, 0};
  struct fake_product p = {compute_64f, f64, 1, 0, matrix, matrix, 607};
  const int known[] = {2, 4, 6, 32, 36, 160, 164, 192, 208, 256, 512}, left[] = {130, 134, 136, 152, 3};
  size_t i;
  for (i = 0; i < sizeof known / sizeof *known; ++i) {
    p.epilogue = known[i];
    printf("epilogue %d\n", known[i]);
    say("taken", matmul_of(&p, a, b, d));
  }
  for (i = 0; i < sizeof left / sizeof *left; ++i) {
    p.epilogue = left[i];
    printf("epilogue %d ", left[i]);
    say("returned", matmul_of(&p, a, b, d));
  }
  p.epilogue = 160;
  p.ld_auxiliary = 599;
  say("auxiliary too narrow", matmul_of(&p, a, b, d));
}

static void orders(void) {
  const struct fake_layout a = {f64, 602, large, 602, 1, 0, 0}, b = {f64, 602, 601, 603, 1, 0, 0},
                           d = {f64, large, 601, 605, 1, 0, 0};
  const struct fake_layout a_rows = {f64, 602, large, 611, 1, 0, 1}, b_rows = {f64, 602, 601, 612, 1, 0, 1},
                           d_rows = {f64, large, 601, 613, 1, 0, 1};
  struct fake_product p = {compute_64f, f64, 1, 1, NULL, NULL, 0}, bias = {compute_64f, f64, 1, 4, matrix, NULL, 0};
  say("all by rows", matmul_of(&p, a_rows, b_rows, d_rows));
  say("A by rows", matmul_of(&p, a_rows, b, d));
  say("D by rows", matmul_of(&p, a, b, d_rows));
  say("bias by rows", matmul_of(&bias, a_rows, b_rows, d_rows));
}

static void wide(void) {
  struct fake_handle h = {&marker, 0, 0};
  int i;
  for (i = 1; i <= 7; ++i) {
    printf("call %d ", i);
    say("returned", dgemm(&h, large, 779));
  }
  say("other data", dgemm(&h, large, 605)); /* the eighth of this shape: passed on as well */
  say("another shape", dgemm(&h, large + 1, 605));
}

static void wide_floats(void) {
  static const float ones[1] = {1};
  static float floats[1];
  struct fake_handle h = {&marker, 0, 0};
  int i;
  for (i = 1; i <= 7; ++i) {
    printf("call %d ", i);
    say("returned",
        cublasSgemm_v2(&h, 0, 0, large, large, large, ones, floats, large, floats, large, ones, floats, 779));
  }
}

enum { threads = 8, rounds = 50 };

static void* one_thread(void* wrong) {
  struct fake_handle h = {&marker, 0, 0};
  int i;
  for (i = 0; i < rounds; ++i) *(int*)wrong += dgemm(&h, large, 605) != 0;
  return NULL;
}

static void in_threads(void) {
  pthread_t id[threads];
  int wrong[threads] = {0}, i, sum = 0;
  for (i = 0; i < threads; ++i) pthread_create(&id[i], NULL, one_thread, &wrong[i]);
  for (i = 0; i < threads; ++i) {
    pthread_join(id[i], NULL);
    sum += wrong[i];
  }
  say("not taken", sum);
}

static void xla(void) {
  void* plugin = dlopen("xla_cuda_plugin.so", RTLD_NOW | RTLD_LOCAL);
  const char* (*flags)(void) = NULL;
  if (plugin != NULL) *(void**)&flags = dlsym(plugin, "GetPjrtApi");
  printf("XLA's flags: [%s]\n", flags != NULL ? flags() : "no plugin");
}

/* Handles of the cuBLAS that this module is linked to. */
static void own_handles(void) {
  void *h = NULL, *lt = NULL;
  struct fake_layout a = {f64, 602, large, 602, 1, 0, 0}, b = {f64, 602, 601, 602, 1, 0, 0},
                     d = {f64, large, 601, 605, 1, 0, 0};
  struct fake_product plain = {compute_64f, f64, 1, 1, NULL, NULL, 0};
  int i;
  for (i = 0; i < 2; ++i) { /* the second one may have the address of the first */
    say("create", cublasCreate_v2(&h));
    say("stream", cublasSetStream_v2(h, &marker));
    say("workspace", cublasSetWorkspace_v2(h, memory, 2048));
    say("large", dgemm(h, large, 605));
    say("small", dgemm(h, 100, 100));
    say("64 bits", cublasDgemm_v2_64(h, 0, 2, large, large, large, &one, matrix, 601, matrix, 602, &zero, matrix, 603));
    say("Hgemm", cublasHgemm(h, 0, 1, large, large, large, &one, matrix, large, matrix, large, &one, matrix, large));
    say("destroy", cublasDestroy_v2(h));
  }
  say("Lt create", cublasLtCreate(&lt));
  say("matmul", cublasLtMatmul(lt, &plain, &one, matrix, &a, matrix, &b, &zero, matrix, &d, matrix, &d, NULL, memory,
                               2048, &marker));
  say("Lt destroy", cublasLtDestroy(lt));
}

int run(const char* what);
int run(const char* what) {
  setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
  if (strcmp(what, "products") == 0) products();
  if (strcmp(what, "level3") == 0) level3();
  if (strcmp(what, "known") == 0) known_shapes();
  if (strcmp(what, "forms") == 0) forms();
  if (strcmp(what, "first") == 0) first_interface();
  if (strcmp(what, "workspaces") == 0) workspaces();
  if (strcmp(what, "settings") == 0) settings();
  if (strcmp(what, "lookedup") == 0) looked_up();
  if (strcmp(what, "absent") == 0) absent();
  if (strcmp(what, "matmul") == 0) matmul();
  if (strcmp(what, "epilogues") == 0) epilogues();
  if (strcmp(what, "orders") == 0) orders();
  if (strcmp(what, "wide") == 0) wide();
  if (strcmp(what, "widefloats") == 0) wide_floats();
  if (strcmp(what, "xla") == 0) xla();
  if (strcmp(what, "threads") == 0) in_threads();
  if (strcmp(what, "handles") == 0) own_handles();
  return 0;
}

#ifndef AS_MODULE
int main(int argc, char** argv) { return run(argc > 1 ? argv[1] : ""); }
#endif
