// gemm, batches, prepared operands, and calls with one wrong argument.
#include <algorithm>
#include <cmath>
#include <memory>

#include "sequences/manner.hpp"
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

// A contract that promises bits has the same on a GPU as here.
void expect_bits_of_the_cpu(const Handle& asked, const Product& p, const Blocks& blocks, const std::string& call) {
  const std::string contract = asked.promise.text != nullptr ? asked.promise.text : "";
  const bool promised = contract.find("reproducible") != std::string::npos || contract.find("exact") == 0;
  if (!promised || p.type.complex() || asked.engine == "native") return;
  Handle cpu;
  vernier_set_contract(cpu, contract.c_str());
  const Scalar alpha(p.type, p.alpha), beta(p.type, p.beta);
  Matrix old(p.type, p.m, p.n);
  for (std::int64_t j = 0; j < p.n; ++j)
    for (std::int64_t i = 0; i < p.m; ++i) old(i, j) = blocks.c.before(i, j);
  Block a({p.x[0]}, 0, 0, false), b({p.y[0]}, 0, 0, false), c({old}, 0, 0, false);
  const vernier_status status =
      vernier_gemm(cpu, p.type.letter, VERNIER_OP_N, VERNIER_OP_N, p.m, p.n, p.k, alpha.data(), a.data(), a.ld(),
                   b.data(), b.ld(), beta.data(), c.data(), c.ld());
  expect(status == VERNIER_SUCCESS, call, "the CPU refuses what the GPU made");
  for (std::int64_t j = 0; j < p.n; ++j)
    for (std::int64_t i = 0; i < p.m; ++i) {
      const double x = blocks.c.at(i, j).real(), y = c.at(i, j).real();
      expect(std::isnan(x) ? std::isnan(y) : x == y && std::signbit(x) == std::signbit(y), call,
             "other bits than the CPU's");
    }
}

void judge_product(Environment& e, Handle& h, const Product& p, Blocks& blocks, vernier_status status,
                   const Manner& manner, const std::string& call) {
  for (Block* block : {&blocks.a, &blocks.b, &blocks.c}) block->fetch();
  expect(blocks.a.is_unchanged() && blocks.b.is_unchanged(), call, "wrote an operand");
  if (!succeeded(h, status, call)) {
    const bool some = p.x.size() > 1 && status == VERNIER_BOUND_NOT_MET;  // products of a batch that are done stay done
    return expect(some || blocks.c.is_unchanged(), call, "an error, and C was written");
  }
  if (manner.left_c_alone(call)) return expect(blocks.c.is_unchanged(), call, "too wide, and C was written");
  vernier_report report{};
  if (vernier_get_report(h, &report) != VERNIER_SUCCESS) throw Fault(call + ": no report");
  const std::string told =
      joined(call, ", ", report.scheme, " ", report.engine, " ", report.moduli, ", fallback ", report.fallback);
  // cuBLAS multiplies A by alpha where k is 1.
  const bool alpha_first = e.gpu && std::string(report.scheme) == "native" && p.k == 1;
  for (std::size_t i = 0; i < p.x.size(); ++i)
    judge(e.random, h.promise, p.type,
          {[&](auto row, auto l) { return p.x[i](row, l); }, [&](auto l, auto column) { return p.y[i](l, column); },
           p.k, p.alpha, p.beta, alpha_first},
          blocks.c, p.m, p.n, p.x.size() > 1 ? 12 : 30, told, static_cast<std::int64_t>(i));
  if (e.gpu && p.x.size() == 1) expect_bits_of_the_cpu(h, p, blocks, told);
}

void plain(Environment& e, Handle& h, Type type, const std::string& where) {
  Product p = random_product(e, type, 1);
  Blocks o = blocks_of(e, p);
  Manner manner(e, h, type, p.alpha, p.beta, true);
  const std::string call = where + words_of(p, h, "gemm") + manner.words();
  const vernier_status status = manner.run([&] {
    return (e.gpu ? vernier_cuda_gemm : vernier_gemm)(h, type.letter, p.opa, p.opb, p.m, p.n, p.k, manner.alpha(),
                                                      o.a.data(), o.a.ld(), o.b.data(), o.b.ld(), manner.beta(),
                                                      o.c.data(), o.c.ld());
  });
  if (!manner.captured()) return judge_product(e, h, p, o, status, manner, call);
  for (int launches = 0; launches < 3; ++launches) {  // of other data each time
    if (launches > 0) {
      p.x[0] = random_matrix(e.random, type, static_cast<Kind>(e.random.integer(0, kinds - 1)), p.m, p.k);
      o.a.put(stored(p.opa, p.x[0]));
      o.c.put(random_matrix(e.random, type, Kind::normal, p.m, p.n));
    }
    manner.launch();
    judge_product(e, h, p, o, status, manner, joined(call, ", launch ", launches));
  }
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
  Manner manner(e, h, type, p.alpha, p.beta, false);
  const auto count = static_cast<std::int64_t>(p.x.size());
  const vernier_status status = manner.run([&] {
    return (e.gpu ? vernier_cuda_gemm_strided_batched : vernier_gemm_strided_batched)(
        h, type.letter, p.opa, p.opb, p.m, p.n, p.k, manner.alpha(), o.a.data(), o.a.ld(), o.a.stride(), o.b.data(),
        o.b.ld(), o.b.stride(), manner.beta(), o.c.data(), o.c.ld(), o.c.stride(), count);
  });
  if (manner.captured()) manner.launch();
  judge_product(e, h, p, o, status, manner,
                where + words_of(p, h, joined("batch of ", count).c_str()) + manner.words());
}

void prepared(Environment& e, Handle& h, Type type, const std::string& where) {
  const Product p = random_product(e, type, 1);
  if (p.m * p.n * p.k == 0) return;
  Blocks o = blocks_of(e, p);
  Manner manner(e, h, type, p.alpha, p.beta, true);
  const bool left = chance(e.random, 0.5);
  const Block& kept = left ? o.a : o.b;
  const std::string call = where + words_of(p, h, left ? "prepared left" : "prepared right") + manner.words();
  vernier_prepared operand = nullptr;
  const Promise promise = h.promise;
  vernier_status status = (e.gpu ? vernier_cuda_prepare : vernier_prepare)(
      h, type.letter, left ? VERNIER_LEFT : VERNIER_RIGHT, left ? p.opa : p.opb, left ? p.m : p.k, left ? p.k : p.n,
      kept.data(), kept.ld(), &operand);
  if (status != VERNIER_SUCCESS)
    return expect(status == VERNIER_INVALID_ARGUMENT || !succeeded(h, status, call), call, "no operand");
  const std::shared_ptr<vernier_prepared_operand> owner(operand, vernier_destroy_prepared);
  vernier_set_contract(h, promise.text);  // preparing was the one call that a contract was for
  status = manner.run([&] {
    return left ? (e.gpu ? vernier_cuda_gemm_prepared_left : vernier_gemm_prepared_left)(
                      h, operand, p.opb, p.m, p.n, p.k, manner.alpha(), o.b.data(), o.b.ld(), manner.beta(), o.c.data(),
                      o.c.ld())
                : (e.gpu ? vernier_cuda_gemm_prepared_right : vernier_gemm_prepared_right)(
                      h, p.opa, operand, p.m, p.n, p.k, manner.alpha(), o.a.data(), o.a.ld(), manner.beta(), o.c.data(),
                      o.c.ld());
  });
  if (manner.captured()) manner.launch();
  judge_product(e, h, p, o, status, manner, call);
}

}  // namespace

void call_gemm(Environment& e, Handle& h, const std::string& where) {
  const Type type = e.type();
  e.settle(h, type, false);
  const auto call = e.random.integer(0, 9);
  (call < 5 ? plain : call < 7 ? prepared : call < 9 ? batch : wrong)(e, h, type, where);
}

}  // namespace vernier::sequences
