#include "call.hpp"

namespace vernier::interpose {
namespace {

bool complex_type(vernier_type type) { return type == VERNIER_C || type == VERNIER_Z; }

template <class R>
bool is_zero(const void* x, bool complex) {
  const R* parts = static_cast<const R*>(x);
  return parts[0] == 0 && (!complex || parts[1] == 0);
}

bool alpha_is_zero(const Call& call) {
  if (call.device_factors) return false;
  const bool complex = complex_type(call.type) && call.routine != Routine::herk;  // whose alpha is real
  const bool single = call.type == VERNIER_S || call.type == VERNIER_C;
  return single ? is_zero<float>(call.alpha, complex) : is_zero<double>(call.alpha, complex);
}

// Of complex rank-k updates each takes one of the two transposes.
bool update_op(const Call& call) {
  if (!complex_type(call.type)) return call.opa != 0;
  const bool hermitian =
      call.routine == Routine::herk || call.routine == Routine::her2k || call.routine == Routine::herkx;
  return call.opa == 'N' || call.opa == (hermitian ? 'C' : 'T');
}

bool valid_update(const Call& call) {
  const std::int64_t rows = call.opa == 'N' ? call.n : call.k;
  const bool two = call.routine != Routine::syrk && call.routine != Routine::herk;
  return call.uplo != 0 && update_op(call) && holds(call.lda, rows) && (!two || holds(call.ldb, rows)) &&
         holds(call.ldc, call.n);
}

bool valid_product(const Call& c) {
  return c.uplo != 0 && valid(Product{c.type, c.opa, c.opb, c.m, c.n, c.k, c.lda, c.ldb, c.ldc});
}

}  // namespace

const char* name(Routine routine) {
  constexpr const char* names[routine_count] = {"gemm",  "symm", "hemm", "syrk",  "herk",  "syr2k",
                                                "her2k", "trmm", "trsm", "gemmt", "syrkx", "herkx"};
  return names[static_cast<int>(routine)];
}

bool valid(const Call& call) {
  if (call.m < 0 || call.n < 0 || call.k < 0 || call.count < 0) return false;
  switch (call.routine) {
    case Routine::gemm:
    case Routine::gemmt:
      return valid_product(call);
    case Routine::symm:
    case Routine::hemm:
      return call.side != 0 && call.uplo != 0 && holds(call.lda, call.k) && holds(call.ldb, call.m) &&
             holds(call.ldc, call.m);
    case Routine::syrk:
    case Routine::herk:
    case Routine::syr2k:
    case Routine::her2k:
    case Routine::syrkx:
    case Routine::herkx:
      return valid_update(call);
    case Routine::trmm:
    case Routine::trsm:
      return call.side != 0 && call.uplo != 0 && call.opa != 0 && call.diag != 0 && holds(call.lda, call.k) &&
             (call.b == nullptr || holds(call.ldb, call.m)) && holds(call.ldc, call.m);
  }
  return false;
}

bool trivial(const Call& call) {
  return call.m == 0 || call.n == 0 || call.k == 0 || call.count == 0 || alpha_is_zero(call);
}

}  // namespace vernier::interpose
