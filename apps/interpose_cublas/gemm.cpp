// cublas?gemm and its batches, as Dgemm, Zgemm3m, GemmEx and their like, with integers of 32 bits or (_64) of 64.
#include "entry.hpp"

namespace vernier::interpose::cublas {
namespace {

template <class Int>
struct Gemm {
  int opa, opb;
  Int m, n, k;
  const void* alpha;
  const void* a;
  Int lda;
  const void* b;
  Int ldb;
  const void* beta;
  void* c;
  Int ldc;
};

template <class Int>
Call call_of(const Gemm<Int>& g, vernier_type type) {
  return {.routine = Routine::gemm,
          .type = type,
          .opa = op_letter(g.opa, type),
          .opb = op_letter(g.opb, type),
          .m = g.m,
          .n = g.n,
          .k = g.k,
          .alpha = g.alpha,
          .a = g.a,
          .lda = g.lda,
          .b = g.b,
          .ldb = g.ldb,
          .beta = g.beta,
          .c = g.c,
          .ldc = g.ldc};
}

template <class Int>
Product product_of(const Gemm<Int>& g, vernier_type type) {
  return {type, op_letter(g.opa, type), op_letter(g.opb, type), g.m, g.n, g.k, g.lda, g.ldb, g.ldc};
}

template <class Int>
bool take(Symbol& symbol, vernier_type type, Handle handle, const Gemm<Int>& g) {
  if (!symbol.concerns(g.m, g.n, g.k)) return false;
  if (is_zero_on_host(handle, type, g.alpha) && symbol.has_nothing_to_multiply(product_of(g, type))) return false;
  Call call = call_of(g, type);
  return offer(symbol, handle, call);
}

template <class Int>
[[gnu::noinline]] Status gemm(Symbol& symbol, vernier_type type, Handle handle, int opa, int opb, Int m, Int n, Int k,
                              const void* alpha, const void* a, Int lda, const void* b, Int ldb, const void* beta,
                              void* c, Int ldc) {
  if (take<Int>(symbol, type, handle, {opa, opb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc})) return success;
  return symbol.pass_on<Status>(handle, opa, opb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

struct Strides {
  std::int64_t a, b, c, count;
};

template <class Int>
bool take_strided(Symbol& symbol, vernier_type type, Handle handle, const Gemm<Int>& g, const Strides& strides) {
  if (!symbol.concerns(g.m, g.n, g.k)) return false;
  Call call = call_of(g, type);
  call.batch = Call::Batch::strided;
  call.stride_a = strides.a;
  call.stride_b = strides.b;
  call.stride_c = strides.c;
  call.count = strides.count;
  return offer(symbol, handle, call);
}

template <class Int>
bool take_addresses(Symbol& symbol, vernier_type type, Handle handle, const Gemm<Int>& g, std::int64_t count) {
  if (!symbol.concerns(g.m, g.n, g.k)) return false;
  Call call = call_of(g, type);
  call.batch = Call::Batch::addresses;
  call.count = count;
  return offer(symbol, handle, call);
}

// The type of a call that names the types of its matrices and, but for the older forms, that of its computation.
template <class Int>
std::optional<vernier_type> common_type(Symbol& symbol, const Gemm<Int>& g, int a, int b, int c, int compute_type) {
  const std::optional<vernier_type> type = type_of(a);
  if (type && a == b && a == c && leaves_it_open(*type, compute_type)) return type;
  if (this_thread.depth == 0) symbol.refuse(call_of(g, VERNIER_S), Reason::mode);
  return std::nullopt;
}

}  // namespace
}  // namespace vernier::interpose::cublas

using namespace vernier::interpose;
using namespace vernier::interpose::cublas;

#define VERNIER_GEMM(NAME, TYPE, INT)                                                                                  \
  VERNIER_SYMBOL NAME(Handle handle, int opa, int opb, INT m, INT n, INT k, const void* alpha, const void* a, INT lda, \
                      const void* b, INT ldb, const void* beta, void* c, INT ldc) {                                    \
    VERNIER_STATE(NAME);                                                                                               \
    const auto product = [&] {                                                                                         \
      return Product{TYPE, op_letter(opa, TYPE), op_letter(opb, TYPE), m, n, k, lda, ldb, ldc};                        \
    };                                                                                                                 \
    if (symbol.goes_on_at_once(m, n, k, product))                                                                      \
      return symbol.go_on<Status>(handle, opa, opb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                     \
    return gemm(symbol, TYPE, handle, opa, opb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                         \
  }
#define VERNIER_STRIDED(NAME, TYPE, INT)                                                                               \
  VERNIER_SYMBOL NAME(Handle handle, int opa, int opb, INT m, INT n, INT k, const void* alpha, const void* a, INT lda, \
                      long long stride_a, const void* b, INT ldb, long long stride_b, const void* beta, void* c,       \
                      INT ldc, long long stride_c, INT count) {                                                        \
    VERNIER_STATE(NAME);                                                                                               \
    if (take_strided<INT>(symbol, TYPE, handle, {opa, opb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc},              \
                          {stride_a, stride_b, stride_c, count}))                                                      \
      return success;                                                                                                  \
    return symbol.pass_on<Status>(handle, opa, opb, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c, ldc,  \
                                  stride_c, count);                                                                    \
  }
#define VERNIER_ADDRESSES(NAME, TYPE, INT)                                                                             \
  VERNIER_SYMBOL NAME(Handle handle, int opa, int opb, INT m, INT n, INT k, const void* alpha, const void* a, INT lda, \
                      const void* b, INT ldb, const void* beta, void* c, INT ldc, INT count) {                         \
    VERNIER_STATE(NAME);                                                                                               \
    if (take_addresses<INT>(symbol, TYPE, handle, {opa, opb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc}, count))    \
      return success;                                                                                                  \
    return symbol.pass_on<Status>(handle, opa, opb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, count);              \
  }
#define VERNIER_TYPED(NAME, COMPUTE, INT)                                                                             \
  VERNIER_SYMBOL NAME(Handle handle, int opa, int opb, INT m, INT n, INT k, const void* alpha, const void* a,         \
                      int type_a, INT lda, const void* b, int type_b, INT ldb, const void* beta, void* c, int type_c, \
                      INT ldc) {                                                                                      \
    VERNIER_STATE(NAME);                                                                                              \
    const Gemm<INT> g{opa, opb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc};                                        \
    const auto type = common_type(symbol, g, type_a, type_b, type_c, COMPUTE);                                        \
    if (type && take(symbol, *type, handle, g)) return success;                                                       \
    return symbol.pass_on<Status>(handle, opa, opb, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta, c, type_c,  \
                                  ldc);                                                                               \
  }

#define VERNIER_ALL_TYPES(SUFFIX, INT)                                 \
  VERNIER_GEMM(cublasSgemm_v2##SUFFIX, VERNIER_S, INT)                 \
  VERNIER_GEMM(cublasDgemm_v2##SUFFIX, VERNIER_D, INT)                 \
  VERNIER_GEMM(cublasCgemm_v2##SUFFIX, VERNIER_C, INT)                 \
  VERNIER_GEMM(cublasZgemm_v2##SUFFIX, VERNIER_Z, INT)                 \
  VERNIER_GEMM(cublasCgemm3m##SUFFIX, VERNIER_C, INT)                  \
  VERNIER_GEMM(cublasZgemm3m##SUFFIX, VERNIER_Z, INT)                  \
  VERNIER_STRIDED(cublasSgemmStridedBatched##SUFFIX, VERNIER_S, INT)   \
  VERNIER_STRIDED(cublasDgemmStridedBatched##SUFFIX, VERNIER_D, INT)   \
  VERNIER_STRIDED(cublasCgemmStridedBatched##SUFFIX, VERNIER_C, INT)   \
  VERNIER_STRIDED(cublasZgemmStridedBatched##SUFFIX, VERNIER_Z, INT)   \
  VERNIER_STRIDED(cublasCgemm3mStridedBatched##SUFFIX, VERNIER_C, INT) \
  VERNIER_ADDRESSES(cublasSgemmBatched##SUFFIX, VERNIER_S, INT)        \
  VERNIER_ADDRESSES(cublasDgemmBatched##SUFFIX, VERNIER_D, INT)        \
  VERNIER_ADDRESSES(cublasCgemmBatched##SUFFIX, VERNIER_C, INT)        \
  VERNIER_ADDRESSES(cublasZgemmBatched##SUFFIX, VERNIER_Z, INT)        \
  VERNIER_ADDRESSES(cublasCgemm3mBatched##SUFFIX, VERNIER_C, INT)      \
  VERNIER_TYPED(cublasSgemmEx##SUFFIX, compute_32f, INT)               \
  VERNIER_TYPED(cublasCgemmEx##SUFFIX, compute_32f, INT)               \
  VERNIER_TYPED(cublasCgemm3mEx##SUFFIX, compute_32f, INT)

VERNIER_ALL_TYPES(, int)
VERNIER_ALL_TYPES(_64, std::int64_t)

#define VERNIER_EX(SUFFIX, INT)                                                                                       \
  VERNIER_SYMBOL cublasGemmEx##SUFFIX(Handle handle, int opa, int opb, INT m, INT n, INT k, const void* alpha,        \
                                      const void* a, int type_a, INT lda, const void* b, int type_b, INT ldb,         \
                                      const void* beta, void* c, int type_c, INT ldc, int compute, int algorithm) {   \
    VERNIER_STATE(cublasGemmEx##SUFFIX);                                                                              \
    const Gemm<INT> g{opa, opb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc};                                        \
    const auto type = common_type(symbol, g, type_a, type_b, type_c, compute);                                        \
    if (type && take(symbol, *type, handle, g)) return success;                                                       \
    return symbol.pass_on<Status>(handle, opa, opb, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta, c, type_c,  \
                                  ldc, compute, algorithm);                                                           \
  }                                                                                                                   \
  VERNIER_SYMBOL cublasGemmStridedBatchedEx##SUFFIX(                                                                  \
      Handle handle, int opa, int opb, INT m, INT n, INT k, const void* alpha, const void* a, int type_a, INT lda,    \
      long long stride_a, const void* b, int type_b, INT ldb, long long stride_b, const void* beta, void* c,          \
      int type_c, INT ldc, long long stride_c, INT count, int compute, int algorithm) {                               \
    VERNIER_STATE(cublasGemmStridedBatchedEx##SUFFIX);                                                                \
    const Gemm<INT> g{opa, opb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc};                                        \
    const auto type = common_type(symbol, g, type_a, type_b, type_c, compute);                                        \
    if (type && take_strided(symbol, *type, handle, g, {stride_a, stride_b, stride_c, count})) return success;        \
    return symbol.pass_on<Status>(handle, opa, opb, m, n, k, alpha, a, type_a, lda, stride_a, b, type_b, ldb,         \
                                  stride_b, beta, c, type_c, ldc, stride_c, count, compute, algorithm);               \
  }                                                                                                                   \
  VERNIER_SYMBOL cublasGemmBatchedEx##SUFFIX(Handle handle, int opa, int opb, INT m, INT n, INT k, const void* alpha, \
                                             const void* a, int type_a, INT lda, const void* b, int type_b, INT ldb,  \
                                             const void* beta, void* c, int type_c, INT ldc, INT count, int compute,  \
                                             int algorithm) {                                                         \
    VERNIER_STATE(cublasGemmBatchedEx##SUFFIX);                                                                       \
    const Gemm<INT> g{opa, opb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc};                                        \
    const auto type = common_type(symbol, g, type_a, type_b, type_c, compute);                                        \
    if (type && take_addresses(symbol, *type, handle, g, count)) return success;                                      \
    return symbol.pass_on<Status>(handle, opa, opb, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta, c, type_c,  \
                                  ldc, count, compute, algorithm);                                                    \
  }

VERNIER_EX(, int)
VERNIER_EX(_64, std::int64_t)
