// gemm, batches, prepared operands, and calls with one wrong argument.
#include <algorithm>
#include <cmath>

#include "sequences/session.hpp"
#include "support/matrix.hpp"
#include "vernier/vernier_cuda.h"

namespace vernier::sequences {
namespace {

using test::joined;

struct Product {
  Type type;
  vernier_op opa, opb;
  std::int64_t m, n, k;
  Complex alpha, beta;
  std::vector<Matrix> x, y;  // op(A), op(B)
};

Matrix stored(vernier_op op, const Matrix& x) { return applied(op, x); }

std::vector<Matrix> all_stored(vernier_op op, const std::vector<Matrix>& list) {
  std::vector<Matrix> out;
  for (const Matrix& x : list) out.push_back(stored(op, x));
  return out;
}

Product random_product(Environment& e, Type type, std::int64_t count) {
  Random& r = e.random;
  Product p{type, e.op(), e.op(), e.dimension(), e.dimension(), 0, e.factor(type), e.factor(type), {}, {}};
  p.k = e.inner(p.m * count, p.n);
  const auto kind = static_cast<Kind>(r.integer(0, kinds - 1));
  const Kind other = one_of<Kind>(r, {kind, Kind::normal, Kind::integer, static_cast<Kind>(r.integer(0, kinds - 1))});
  for (std::int64_t i = 0; i < count; ++i) {
    p.x.push_back(random_matrix(r, type, kind, p.m, p.k));
    p.y.push_back(random_matrix(r, type, other, p.k, p.n));
  }
  return p;
}

std::string words_of(const Product& p, const Handle& h, const char* call) {
  return joined(call, " ", static_cast<char>(p.type.letter), " contract ", h.promise.text ? h.promise.text : "-",
                " engine ", h.engine, " ", static_cast<char>(p.opa), static_cast<char>(p.opb), " ", p.m, " x ", p.n,
                " x ", p.k, ", alpha ", words(p.alpha), ", beta ", words(p.beta));
}

struct Blocks {
  Block a, b, c;
};

Blocks blocks_of(Environment& e, const Product& p) {
  std::vector<Matrix> c;
  for (std::size_t i = 0; i < p.x.size(); ++i)
    c.push_back(random_matrix(
        e.random, p.type,
        one_of<Kind>(e.random, {Kind::normal, Kind::integer, Kind::nan, Kind::infinite, Kind::zero, Kind::denormal}),
        p.m, p.n));
  return {e.block(all_stored(p.opa, p.x)), e.block(all_stored(p.opb, p.y)), e.block(c)};
}

void judge_product(Environment& e, const Handle& h, const Product& p, Blocks& blocks, vernier_status status,
                   const std::string& call) {
  for (Block* block : {&blocks.a, &blocks.b, &blocks.c}) block->fetch();
  expect(blocks.a.is_unchanged() && blocks.b.is_unchanged(), call, "wrote an operand");
  if (!succeeded(h, status, call)) {
    const bool some = p.x.size() > 1 && status == VERNIER_BOUND_NOT_MET;  // products of a batch that are done stay done
    return expect(some || blocks.c.is_unchanged(), call, "an error, and C was written");
  }
  for (std::size_t i = 0; i < p.x.size(); ++i)
    judge(e.random, h.promise, p.type,
          {[&](auto row, auto l) { return p.x[i](row, l); }, [&](auto l, auto column) { return p.y[i](l, column); },
           p.k, p.alpha, p.beta},
          blocks.c, p.m, p.n, p.x.size() > 1 ? 12 : 30, call, static_cast<std::int64_t>(i));
}

void plain(Environment& e, Handle& h, Type type, const std::string& where) {
  const Product p = random_product(e, type, 1);
  Blocks o = blocks_of(e, p);
  const Scalar alpha(type, p.alpha), beta(type, p.beta);
  const vernier_status status =
      (e.gpu ? vernier_cuda_gemm : vernier_gemm)(h, type.letter, p.opa, p.opb, p.m, p.n, p.k, alpha.data(), o.a.data(),
                                                 o.a.ld(), o.b.data(), o.b.ld(), beta.data(), o.c.data(), o.c.ld());
  judge_product(e, h, p, o, status, where + words_of(p, h, "gemm"));
}

void wrong(Environment& e, Handle& h, Type type, const std::string& where) {
  const Product p = random_product(e, type, 1);
  Blocks o = blocks_of(e, p);
  const Scalar alpha(type, p.alpha), beta(type, p.beta);
  const int what = static_cast<int>(e.random.integer(0, 5));
  const vernier_status status = (e.gpu ? vernier_cuda_gemm : vernier_gemm)(
      h, what == 0 ? static_cast<vernier_type>(3) : type.letter, what == 1 ? static_cast<vernier_op>(77) : p.opa, p.opb,
      what == 2 ? -1 : p.m, p.n, p.k, alpha.data(), what == 3 ? nullptr : o.a.data(), what == 4 ? 0 : o.a.ld(),
      o.b.data(), o.b.ld(), beta.data(), o.c.data(), what == 5 ? std::max<std::int64_t>(1, p.m) - 1 : o.c.ld());
  const std::string call = where + words_of(p, h, "gemm") + joined(", wrong argument ", what);
  const bool unread = what == 3 && (p.m * p.n * p.k == 0 || p.alpha == 0.0);
  expect(unread || status == VERNIER_INVALID_ARGUMENT, call, "was taken");
  o.c.fetch();
  expect(status == VERNIER_SUCCESS || o.c.is_unchanged(), call, "an error, and C was written");
}

void batch(Environment& e, Handle& h, Type type, const std::string& where) {
  const Product p = random_product(e, type, e.random.integer(1, 4));
  if (p.m * p.n * p.k == 0) return;
  Blocks o = blocks_of(e, p);
  const Scalar alpha(type, p.alpha), beta(type, p.beta);
  const auto count = static_cast<std::int64_t>(p.x.size());
  const vernier_status status = (e.gpu ? vernier_cuda_gemm_strided_batched : vernier_gemm_strided_batched)(
      h, type.letter, p.opa, p.opb, p.m, p.n, p.k, alpha.data(), o.a.data(), o.a.ld(), o.a.stride(), o.b.data(),
      o.b.ld(), o.b.stride(), beta.data(), o.c.data(), o.c.ld(), o.c.stride(), count);
  judge_product(e, h, p, o, status, where + words_of(p, h, joined("batch of ", count).c_str()));
}

void prepared(Environment& e, Handle& h, Type type, const std::string& where) {
  const Product p = random_product(e, type, 1);
  if (p.m * p.n * p.k == 0) return;
  Blocks o = blocks_of(e, p);
  const Scalar alpha(type, p.alpha), beta(type, p.beta);
  const bool left = chance(e.random, 0.5);
  const Block& kept = left ? o.a : o.b;
  const std::string call = where + words_of(p, h, left ? "prepared left" : "prepared right");
  vernier_prepared operand = nullptr;
  const Promise promise = h.promise;
  vernier_status status = (e.gpu ? vernier_cuda_prepare : vernier_prepare)(
      h, type.letter, left ? VERNIER_LEFT : VERNIER_RIGHT, left ? p.opa : p.opb, left ? p.m : p.k, left ? p.k : p.n,
      kept.data(), kept.ld(), &operand);
  if (status == VERNIER_SUCCESS) {
    vernier_set_contract(h, promise.text);  // preparing was the one call that a contract was for
    status = left ? (e.gpu ? vernier_cuda_gemm_prepared_left : vernier_gemm_prepared_left)(
                        h, operand, p.opb, p.m, p.n, p.k, alpha.data(), o.b.data(), o.b.ld(), beta.data(), o.c.data(),
                        o.c.ld())
                  : (e.gpu ? vernier_cuda_gemm_prepared_right : vernier_gemm_prepared_right)(
                        h, p.opa, operand, p.m, p.n, p.k, alpha.data(), o.a.data(), o.a.ld(), beta.data(), o.c.data(),
                        o.c.ld());
  } else {
    expect(status == VERNIER_INVALID_ARGUMENT || !succeeded(h, status, call), call, "no operand");
    status = VERNIER_UNSUPPORTED;
  }
  judge_product(e, h, p, o, status, call);
  vernier_destroy_prepared(operand);
}

}  // namespace

void call_gemm(Environment& e, Handle& h, const std::string& where) {
  const Type type = e.type();
  e.settle(h, type, false);
  const auto call = e.random.integer(0, 9);
  (call < 5 ? plain : call < 7 ? prepared : call < 9 ? batch : wrong)(e, h, type, where);
}

}  // namespace vernier::sequences
