// The CBLAS symbols of level 3: cblas_dgemm with integers of 32 bits, cblas_dgemm64_ (OpenBLAS) and cblas_dgemm_64
// (the reference, MKL) with 64; the same of the OpenBLAS in the wheels of NumPy and SciPy, scipy_cblas_dgemm64_.
//
// A matrix by rows is its transpose by columns; each routine below turns its call accordingly.
#include <type_traits>
#include <utility>

#include "level3_calls.hpp"
#include "symbol.hpp"

namespace vernier::interpose {
namespace {

constexpr int by_rows = 101, by_columns = 102;

// An order that is none makes the call invalid: it is passed on to be complained about.
bool known(int order) { return order == by_rows || order == by_columns; }

char op_letter(int op, vernier_type type) {
  const bool real = type == VERNIER_S || type == VERNIER_D;
  return op == 111 ? 'N' : op == 112 ? 'T' : op == 113 ? (real ? 'T' : 'C') : 0;
}
char uplo_letter(int uplo, bool rows) {
  if (uplo != 121 && uplo != 122) return 0;
  return (uplo == 121) != rows ? 'U' : 'L';
}
char side_letter(int side, bool rows) {
  if (side != 141 && side != 142) return 0;
  return (side == 141) != rows ? 'L' : 'R';
}
char diag_letter(int diag) { return diag == 131 ? 'N' : diag == 132 ? 'U' : 0; }

// The transpose that takes A to A^T by columns, for updates: N to T or C and back.
char turned(char op, bool hermitian) { return op == 0 ? 0 : op != 'N' ? 'N' : hermitian ? 'C' : 'T'; }

// A factor as CBLAS has it: real ones by value, complex ones by address.
template <class Scalar>
const void* address(const Scalar& factor) {
  if constexpr (std::is_pointer_v<Scalar>)
    return factor;
  else
    return &factor;
}

// By columns: a product by rows is that of the transposed.
template <class Int, class Scalar>
Call product(vernier_type type, int order, int opa, int opb, Int m, Int n, Int k, const Scalar& alpha, const void* a,
             Int lda, const void* b, Int ldb, const Scalar& beta, void* c, Int ldc) {
  Call call{.routine = Routine::gemm,
            .type = type,
            .uplo = known(order) ? 'L' : '\0',
            .opa = op_letter(opa, type),
            .opb = op_letter(opb, type),
            .m = m,
            .n = n,
            .k = k,
            .alpha = address(alpha),
            .a = a,
            .lda = lda,
            .b = b,
            .ldb = ldb,
            .beta = address(beta),
            .c = c,
            .ldc = ldc};
  if (order == by_rows) {
    std::swap(call.opa, call.opb);
    std::swap(call.m, call.n);
    std::swap(call.a, call.b);
    std::swap(call.lda, call.ldb);
  }
  return call;
}

// What of it decides where it goes.
template <class Int>
Product sizes(vernier_type type, int order, int opa, int opb, Int m, Int n, Int k, Int lda, Int ldb, Int ldc) {
  const char a = known(order) ? op_letter(opa, type) : '\0', b = op_letter(opb, type);
  return order == by_rows ? Product{type, b, a, n, m, k, ldb, lda, ldc} : Product{type, a, b, m, n, k, lda, ldb, ldc};
}

template <class Int, class Scalar>
[[gnu::noinline]] void gemm(Symbol& symbol, vernier_type type, int order, int opa, int opb, Int m, Int n, Int k,
                            Scalar alpha, const void* a, Int lda, const void* b, Int ldb, Scalar beta, void* c,
                            Int ldc) {
  const auto make = [&] { return product(type, order, opa, opb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc); };
  if (!symbol.take(m, n, k, make)) symbol.pass_on(order, opa, opb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

template <class Int, class Scalar>
void gemmt(Symbol& symbol, vernier_type type, int order, int uplo, int opa, int opb, Int n, Int k, Scalar alpha,
           const void* a, Int lda, const void* b, Int ldb, Scalar beta, void* c, Int ldc) {
  const auto make = [&] {
    Call call = product(type, order, opa, opb, n, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    call.routine = Routine::gemmt;
    call.uplo = known(order) ? uplo_letter(uplo, order == by_rows) : '\0';
    return call;
  };
  if (!symbol.take(n, n, k, make)) symbol.pass_on(order, uplo, opa, opb, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

template <class Int, class Scalar>
void symm(Symbol& symbol, Routine routine, vernier_type type, int order, int side, int uplo, Int m, Int n, Scalar alpha,
          const void* a, Int lda, const void* b, Int ldb, Scalar beta, void* c, Int ldc) {
  const bool rows = order == by_rows;
  const Call call =
      symmetric_call(routine, type, known(order) ? side_letter(side, rows) : '\0', uplo_letter(uplo, rows),
                     rows ? n : m, rows ? m : n, address(alpha), a, lda, b, ldb, address(beta), c, ldc);
  if (!symbol.take(call)) symbol.pass_on(order, side, uplo, m, n, alpha, a, lda, b, ldb, beta, c, ldc);
}

template <class Int, class Scalar>
void rank_k(Symbol& symbol, Routine routine, vernier_type type, int order, int uplo, int op, Int n, Int k, Scalar alpha,
            const void* a, Int lda, Scalar beta, void* c, Int ldc) {
  const auto call = [&] {
    const bool rows = order == by_rows;
    const char given = op_letter(op, type);
    return update_call(routine, type, known(order) ? uplo_letter(uplo, rows) : '\0',
                       rows ? turned(given, routine == Routine::herk) : given, n, k, address(alpha), a, lda, nullptr, 0,
                       address(beta), c, ldc);
  };
  if (!symbol.take(n, n, k, call)) symbol.pass_on(order, uplo, op, n, k, alpha, a, lda, beta, c, ldc);
}

// By rows her2k is alpha conj(A) B^T + ... transposed, which is the same with the conjugate of alpha.
template <class R>
struct Conjugate {
  R parts[2];
  explicit Conjugate(const void* z) : parts{static_cast<const R*>(z)[0], -static_cast<const R*>(z)[1]} {}
};

template <class Int, class Alpha, class Beta>
void rank_2k(Symbol& symbol, Routine routine, vernier_type type, int order, int uplo, int op, Int n, Int k, Alpha alpha,
             const void* a, Int lda, const void* b, Int ldb, Beta beta, void* c, Int ldc) {
  const bool rows = order == by_rows, hermitian = routine == Routine::her2k;
  const char given = op_letter(op, type);
  Call call =
      update_call(routine, type, known(order) ? uplo_letter(uplo, rows) : '\0', rows ? turned(given, hermitian) : given,
                  n, k, address(alpha), a, lda, b, ldb, address(beta), c, ldc);
  bool done;
  if constexpr (std::is_floating_point_v<Beta> && std::is_pointer_v<Alpha>) {  // her2k
    const Conjugate<Beta> conjugate(alpha);
    if (rows) call.alpha = conjugate.parts;
    done = symbol.take(call);
  } else {
    done = symbol.take(call);
  }
  if (!done) symbol.pass_on(order, uplo, op, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

template <class Int, class Scalar>
void triangular(Symbol& symbol, Routine routine, vernier_type type, int order, int side, int uplo, int op, int diag,
                Int m, Int n, Scalar alpha, const void* a, Int lda, void* b, Int ldb) {
  const bool rows = order == by_rows;
  const Call call = triangular_call(routine, type, known(order) ? side_letter(side, rows) : '\0',
                                    uplo_letter(uplo, rows), op_letter(op, type), diag_letter(diag), rows ? n : m,
                                    rows ? m : n, address(alpha), a, lda, nullptr, 0, b, ldb);
  if (!symbol.take(call)) symbol.pass_on(order, side, uplo, op, diag, m, n, alpha, a, lda, b, ldb);
}

}  // namespace
}  // namespace vernier::interpose

using namespace vernier::interpose;

#define VERNIER_SYMBOL extern "C" __attribute__((visibility("default"))) void
#define VERNIER_STATE(NAME) static constinit Symbol symbol(#NAME)

#define VERNIER_GEMM(NAME, TYPE, SCALAR, INT)                                                                 \
  VERNIER_SYMBOL NAME(int order, int opa, int opb, INT m, INT n, INT k, SCALAR alpha, const void* a, INT lda, \
                      const void* b, INT ldb, SCALAR beta, void* c, INT ldc) {                                \
    VERNIER_STATE(NAME);                                                                                      \
    const auto product = [&] { return sizes(TYPE, order, opa, opb, m, n, k, lda, ldb, ldc); };                \
    if (symbol.goes_on_at_once(m, n, k, product))                                                             \
      return symbol.go_on(order, opa, opb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                     \
    gemm(symbol, TYPE, order, opa, opb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                        \
  }
#define VERNIER_GEMMT(NAME, TYPE, SCALAR, INT)                                                                   \
  VERNIER_SYMBOL NAME(int order, int uplo, int opa, int opb, INT n, INT k, SCALAR alpha, const void* a, INT lda, \
                      const void* b, INT ldb, SCALAR beta, void* c, INT ldc) {                                   \
    VERNIER_STATE(NAME);                                                                                         \
    gemmt(symbol, TYPE, order, uplo, opa, opb, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                       \
  }
#define VERNIER_SYMM(NAME, ROUTINE, TYPE, SCALAR, INT)                                                   \
  VERNIER_SYMBOL NAME(int order, int side, int uplo, INT m, INT n, SCALAR alpha, const void* a, INT lda, \
                      const void* b, INT ldb, SCALAR beta, void* c, INT ldc) {                           \
    VERNIER_STATE(NAME);                                                                                 \
    symm(symbol, Routine::ROUTINE, TYPE, order, side, uplo, m, n, alpha, a, lda, b, ldb, beta, c, ldc);  \
  }
#define VERNIER_RANK_K(NAME, ROUTINE, TYPE, SCALAR, INT)                                                            \
  VERNIER_SYMBOL NAME(int order, int uplo, int op, INT n, INT k, SCALAR alpha, const void* a, INT lda, SCALAR beta, \
                      void* c, INT ldc) {                                                                           \
    VERNIER_STATE(NAME);                                                                                            \
    rank_k(symbol, Routine::ROUTINE, TYPE, order, uplo, op, n, k, alpha, a, lda, beta, c, ldc);                     \
  }
#define VERNIER_RANK_2K(NAME, ROUTINE, TYPE, SCALAR, BETA, INT)                                                       \
  VERNIER_SYMBOL NAME(int order, int uplo, int op, INT n, INT k, SCALAR alpha, const void* a, INT lda, const void* b, \
                      INT ldb, BETA beta, void* c, INT ldc) {                                                         \
    VERNIER_STATE(NAME);                                                                                              \
    rank_2k(symbol, Routine::ROUTINE, TYPE, order, uplo, op, n, k, alpha, a, lda, b, ldb, beta, c, ldc);              \
  }
#define VERNIER_TRIANGULAR(NAME, ROUTINE, TYPE, SCALAR, INT)                                                      \
  VERNIER_SYMBOL NAME(int order, int side, int uplo, int op, int diag, INT m, INT n, SCALAR alpha, const void* a, \
                      INT lda, void* b, INT ldb) {                                                                \
    VERNIER_STATE(NAME);                                                                                          \
    triangular(symbol, Routine::ROUTINE, TYPE, order, side, uplo, op, diag, m, n, alpha, a, lda, b, ldb);         \
  }

#define VERNIER_REAL_AND_COMPLEX(P, TYPE, SCALAR, SUFFIX, INT)        \
  VERNIER_GEMM(P##gemm##SUFFIX, TYPE, SCALAR, INT)                    \
  VERNIER_GEMMT(P##gemmt##SUFFIX, TYPE, SCALAR, INT)                  \
  VERNIER_SYMM(P##symm##SUFFIX, symm, TYPE, SCALAR, INT)              \
  VERNIER_RANK_K(P##syrk##SUFFIX, syrk, TYPE, SCALAR, INT)            \
  VERNIER_RANK_2K(P##syr2k##SUFFIX, syr2k, TYPE, SCALAR, SCALAR, INT) \
  VERNIER_TRIANGULAR(P##trmm##SUFFIX, trmm, TYPE, SCALAR, INT)        \
  VERNIER_TRIANGULAR(P##trsm##SUFFIX, trsm, TYPE, SCALAR, INT)
#define VERNIER_COMPLEX(P, TYPE, REAL, SUFFIX, INT)           \
  VERNIER_SYMM(P##hemm##SUFFIX, hemm, TYPE, const void*, INT) \
  VERNIER_RANK_K(P##herk##SUFFIX, herk, TYPE, REAL, INT)      \
  VERNIER_RANK_2K(P##her2k##SUFFIX, her2k, TYPE, const void*, REAL, INT)
#define VERNIER_ALL(PREFIX, SUFFIX, INT)                                   \
  VERNIER_REAL_AND_COMPLEX(PREFIX##s, VERNIER_S, float, SUFFIX, INT)       \
  VERNIER_REAL_AND_COMPLEX(PREFIX##d, VERNIER_D, double, SUFFIX, INT)      \
  VERNIER_REAL_AND_COMPLEX(PREFIX##c, VERNIER_C, const void*, SUFFIX, INT) \
  VERNIER_REAL_AND_COMPLEX(PREFIX##z, VERNIER_Z, const void*, SUFFIX, INT) \
  VERNIER_COMPLEX(PREFIX##c, VERNIER_C, float, SUFFIX, INT)                \
  VERNIER_COMPLEX(PREFIX##z, VERNIER_Z, double, SUFFIX, INT)

VERNIER_ALL(cblas_, , std::int32_t)
VERNIER_ALL(cblas_, 64_, std::int64_t)
VERNIER_ALL(cblas_, _64, std::int64_t)
VERNIER_ALL(scipy_cblas_, , std::int32_t)
VERNIER_ALL(scipy_cblas_, 64_, std::int64_t)
