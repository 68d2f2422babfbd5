/* A ScaLAPACK that is none of those known: VERNIER_FOREIGN says in what. Its pdgemm_ fills C with 42. */
#include <stdlib.h>
#include <string.h>

static int is(const char* what) {
  const char* asked = getenv("VERNIER_FOREIGN");
  return asked != NULL && strcmp(asked, what) == 0;
}

void pilaver_(int* major, int* minor, int* patch) {
  *major = is("version") || is("version_without_contract") ? 3 : 2;
  *minor = 1;
  *patch = 0;
}

/* The first fields of PBTYP_T, and room for its functions. */
static struct {
  char type;
  int usiz, size;
  char *zero, *one, *negone;
  void (*functions[64])(void);
} table;
static double zero = 0, one = 1, minus_one = -1;

void* PB_Cdtypeset(void) {
  table.type = 'D';
  table.usiz = 8;
  table.size = is("sizes") ? 12 : 8;
  table.zero = (char*)&zero;
  table.one = (char*)&one;
  table.negone = (char*)&minus_one;
  return &table; /* no function stands where it should */
}
void* PB_Cstypeset(void) { return NULL; }
void* PB_Cctypeset(void) { return NULL; }
void* PB_Cztypeset(void) { return NULL; }

void Cblacs_gridinfo(int context, int* rows, int* columns, int* row, int* column) {
  (void)context;
  *rows = *columns = 1;
  *row = *column = 0;
}

/* Called only if the library were taken for one that is known. */
#define NEVER(name) \
  void name(void) { abort(); }
NEVER(Cdgesd2d)
NEVER(Cdgerv2d)
NEVER(Cdgebs2d)
NEVER(Cdgebr2d)
NEVER(Cdgsum2d)
NEVER(Cdgamx2d)
NEVER(PB_CpgemmAB)
NEVER(PB_CpgemmAC)
NEVER(PB_CpgemmBC)

int pilaenv_(const int* context, const char* type) {
  (void)context;
  (void)type;
  return 32;
}

void pdgemm_(const char* opa, const char* opb, const int* m, const int* n, const int* k, const double* alpha,
             const double* a, const int* ia, const int* ja, const int* da, const double* b, const int* ib,
             const int* jb, const int* db, const double* beta, double* c) {
  (void)opa, (void)opb, (void)k, (void)alpha, (void)a, (void)ia, (void)ja, (void)da;
  (void)b, (void)ib, (void)jb, (void)db, (void)beta;
  for (int i = 0; i < *m * *n; ++i) c[i] = 42;
}
