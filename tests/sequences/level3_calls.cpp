// Products of which one matrix is symmetric or triangular, or the result is, and triangular systems.
#include <algorithm>
#include <cmath>
#include <limits>

#include "sequences/session.hpp"
#include "support/matrix.hpp"
#include "vernier/vernier_cuda.h"

namespace vernier::sequences {
namespace {

using test::joined;

struct Settings {
  Type type;
  vernier_side side;
  vernier_uplo uplo;
  vernier_diag diag;
  vernier_op op;
  bool conjugate;  // hemm, herk, her2k
  std::int64_t m, n, k;
  Kind kind, other;

  bool left() const { return side == VERNIER_LEFT; }
  bool holds(std::int64_t i, std::int64_t j) const { return uplo == VERNIER_UPPER ? i <= j : i >= j; }
  Complex mirrored(Complex x) const { return conjugate ? std::conj(x) : x; }
};

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Settings random_settings(Environment& e, Type type) {
  Random& r = e.random;
  const auto kind = [&] { return static_cast<Kind>(r.integer(0, finite_kinds - 1)); };
  Settings s{type,
             one_of<vernier_side>(r, {VERNIER_LEFT, VERNIER_RIGHT}),
             one_of<vernier_uplo>(r, {VERNIER_LOWER, VERNIER_UPPER}),
             one_of<vernier_diag>(r, {VERNIER_UNIT, VERNIER_NON_UNIT}),
             e.op(),
             type.complex() && chance(r, 0.5),
             chance(r, 0.5) ? r.integer(60, 140) : e.dimension(),
             e.dimension(),
             0,
             kind(),
             one_of<Kind>(r, {Kind::normal, Kind::integer, kind()})};
  s.k = std::min<std::int64_t>(e.inner(s.m, s.n), 400);
  return s;
}

std::string words_of(const Settings& s, const Handle& h, const char* routine) {
  return joined(routine, " ", static_cast<char>(s.type.letter), s.conjugate ? " conjugate" : "", " contract ",
                h.promise.text ? h.promise.text : "-", " engine ", h.engine, " ", static_cast<char>(s.side),
                static_cast<char>(s.uplo), static_cast<char>(s.op), static_cast<char>(s.diag), " ", s.m, " x ", s.n,
                " x ", s.k);
}

Complex finite_factor(Environment& e, Type type) {
  for (;;)
    if (const Complex x = e.factor(type); std::isfinite(x.real()) && std::isfinite(x.imag())) return x;
}

Matrix random_c(Environment& e, Type type, std::int64_t m, std::int64_t n) {
  return random_matrix(e.random, type, one_of<Kind>(e.random, {Kind::normal, Kind::nan, Kind::zero}), m, n);
}

// x with NaN where nothing may be read.
Matrix hidden(const Settings& s, Matrix x, bool diagonal_too) {
  for (std::int64_t j = 0; j < x.columns(); ++j)
    for (std::int64_t i = 0; i < x.rows(); ++i)
      if (!s.holds(i, j) || (diagonal_too && i == j)) x(i, j) = {nan, s.type.complex() ? nan : 0};
  return x;
}

void judge_call(Environment& e, Handle& h, const Settings& s, vernier_status status, const std::string& call,
                std::vector<Block*> operands, Block& c, std::int64_t m, std::int64_t n, Judged judged, bool triangle) {
  for (Block* block : operands) {
    block->fetch();
    expect(block->is_unchanged(), call, "wrote an operand");
  }
  c.fetch();
  if (!succeeded(h, status, call)) return expect(c.is_unchanged(), call, "an error, and the output was written");
  const auto chosen = [&](std::int64_t i, std::int64_t j) { return s.holds(i, j); };
  vernier_report report{};
  if (vernier_get_report(h, &report) != VERNIER_SUCCESS) throw Fault(call + ": no report");
  judged.alpha_first = e.gpu && std::string(report.scheme) == "native";  // cuBLAS's symm multiplies B by alpha
  judge(e.random, h.promise, s.type, judged, c, m, n, 20, joined(call, ", ", report.scheme, " ", report.engine), 0,
        triangle ? std::function<bool(std::int64_t, std::int64_t)>(chosen) : nullptr);
}

void symmetric(Environment& e, Handle& h, const Settings& s, const std::string& where) {
  const std::int64_t order = s.left() ? s.m : s.n;
  Matrix full = random_matrix(e.random, s.type, s.kind, order, order);
  for (std::int64_t j = 0; j < order; ++j)
    for (std::int64_t i = 0; i < order; ++i)
      if (!s.holds(i, j))
        full(i, j) = s.mirrored(full(j, i));
      else if (i == j && s.conjugate)
        full(i, j).imag(0);
  const Matrix other = random_matrix(e.random, s.type, s.other, s.m, s.n);
  Block a = e.block({hidden(s, full, false)}), b = e.block({other}), c = e.block({random_c(e, s.type, s.m, s.n)});
  const Complex alpha = finite_factor(e, s.type), beta = finite_factor(e, s.type);
  const Scalar one(s.type, alpha), two(s.type, beta);
  const auto routine =
      s.conjugate ? (e.gpu ? vernier_cuda_hemm : vernier_hemm) : (e.gpu ? vernier_cuda_symm : vernier_symm);
  const vernier_status status = Surroundings(e.surroundings).of([&] {
    return routine(h, s.type.letter, s.side, s.uplo, s.m, s.n, one.data(), a.data(), a.ld(), b.data(), b.ld(),
                   two.data(), c.data(), c.ld());
  });
  const Element of_full = [&](auto i, auto j) { return full(i, j); },
                of_other = [&](auto i, auto j) { return other(i, j); };
  judge_call(e, h, s, status, where + words_of(s, h, "symm") + joined(", alpha ", words(alpha), ", beta ", words(beta)),
             {&a, &b}, c, s.m, s.n, {s.left() ? of_full : of_other, s.left() ? of_other : of_full, order, alpha, beta},
             false);
}

// syrk, herk, syr2k, her2k and gemmt: C of order m, of which one triangle is written.
void updates(Environment& e, Handle& h, Settings s, const std::string& where) {
  const auto routine = e.random.integer(0, 2);  // one matrix, two matrices, gemmt
  if (routine < 2 && s.type.complex()) s.op = s.op == VERNIER_OP_N ? s.op : s.conjugate ? VERNIER_OP_C : VERNIER_OP_T;
  const Matrix x = random_matrix(e.random, s.type, s.kind, s.m, s.k),
               y = random_matrix(e.random, s.type, s.other, s.m, s.k);
  Matrix old = random_c(e, s.type, s.m, s.m);
  for (std::int64_t i = 0; i < s.m && s.conjugate && routine < 2; ++i) old(i, i).imag(0);
  Complex alpha = finite_factor(e, s.type), beta = finite_factor(e, s.type);
  const bool real_alpha = s.conjugate && routine == 0, real_beta = s.conjugate && routine < 2;
  if (real_alpha) alpha.imag(0);
  if (real_beta) beta.imag(0);
  const Type real{s.type.single() ? VERNIER_S : VERNIER_D};
  const Scalar one(real_alpha ? real : s.type, alpha), two(real_beta ? real : s.type, beta);
  const vernier_op opb = e.op();
  Block a = e.block({applied(s.op, x)}),
        b = e.block({routine == 2 ? applied(opb, applied(VERNIER_OP_T, y)) : applied(s.op, y)}), c = e.block({old});
  const std::string call = where +
                           words_of(s, h,
                                    routine == 0   ? "syrk"
                                    : routine == 1 ? "syr2k"
                                                   : "gemmt") +
                           joined(", alpha ", words(alpha), ", beta ", words(beta));
  const Surroundings thread(e.surroundings);
  vernier_status status = VERNIER_SUCCESS;
  Judged judged{[&](auto i, auto l) { return x(i, l); }, [&](auto l, auto j) { return y(j, l); }, s.k, alpha, beta};
  if (routine == 0) {
    const auto f =
        s.conjugate ? (e.gpu ? vernier_cuda_herk : vernier_herk) : (e.gpu ? vernier_cuda_syrk : vernier_syrk);
    status = thread.of([&] {
      return f(h, s.type.letter, s.uplo, s.op, s.m, s.k, one.data(), a.data(), a.ld(), two.data(), c.data(), c.ld());
    });
    judged.y = [&](auto l, auto j) { return s.mirrored(x(j, l)); };
  } else if (routine == 1) {
    const auto f =
        s.conjugate ? (e.gpu ? vernier_cuda_her2k : vernier_her2k) : (e.gpu ? vernier_cuda_syr2k : vernier_syr2k);
    status = thread.of([&] {
      return f(h, s.type.letter, s.uplo, s.op, s.m, s.k, one.data(), a.data(), a.ld(), b.data(), b.ld(), two.data(),
               c.data(), c.ld());
    });
    judged.x = [&](auto i, auto l) { return l < s.k ? x(i, l) : y(i, l - s.k); };
    judged.y = [&](auto l, auto j) { return s.mirrored(l < s.k ? y(j, l) : x(j, l - s.k)); };
    judged.k = 2 * s.k;
  } else {
    status = thread.of([&] {
      return (e.gpu ? vernier_cuda_gemmt : vernier_gemmt)(h, s.type.letter, s.uplo, s.op, opb, s.m, s.k, one.data(),
                                                          a.data(), a.ld(), b.data(), b.ld(), two.data(), c.data(),
                                                          c.ld());
    });
  }
  judge_call(e, h, s, status, call, {&a, &b}, c, s.m, s.m, judged, true);
  for (std::int64_t i = 0; i < s.m && status == VERNIER_SUCCESS && real_beta; ++i)
    expect(c.at(i, i).imag() == 0, call, "a diagonal that is not real");
}

// Rows and columns of the triangle op(A), as a routine reads it.
Matrix triangle(const Settings& s, const Matrix& x) {
  Matrix full = x;
  for (std::int64_t j = 0; j < x.columns(); ++j)
    for (std::int64_t i = 0; i < x.rows(); ++i)
      if (!s.holds(i, j))
        full(i, j) = 0;
      else if (i == j && s.diag == VERNIER_UNIT)
        full(i, j) = 1;
  return applied(s.op, full);
}

void times_triangle(Environment& e, Handle& h, const Settings& s, const std::string& where) {
  const std::int64_t order = s.left() ? s.m : s.n;
  const Matrix stored = random_matrix(e.random, s.type, s.kind, order, order), full = triangle(s, stored),
               other = random_matrix(e.random, s.type, s.other, s.m, s.n);
  Block a = e.block({hidden(s, stored, s.diag == VERNIER_UNIT)}), b = e.block({other});
  const Complex alpha = finite_factor(e, s.type);
  const Scalar one(s.type, alpha);
  const vernier_status status = Surroundings(e.surroundings).of([&] {
    return e.gpu ? vernier_cuda_trmm(h, s.type.letter, s.side, s.uplo, s.op, s.diag, s.m, s.n, one.data(), a.data(),
                                     a.ld(), b.data(), b.ld(), b.data(), b.ld())
                 : vernier_trmm(h, s.type.letter, s.side, s.uplo, s.op, s.diag, s.m, s.n, one.data(), a.data(), a.ld(),
                                b.data(), b.ld());
  });
  const Element of_full = [&](auto i, auto j) { return full(i, j); },
                of_other = [&](auto i, auto j) { return other(i, j); };
  judge_call(e, h, s, status, where + words_of(s, h, "trmm") + ", alpha " + words(alpha), {&a}, b, s.m, s.n,
             {s.left() ? of_full : of_other, s.left() ? of_other : of_full, order, alpha, 0}, false);
}

// A triangle near the unit matrix, so that solutions stay small: op(A) X = alpha B within the residual of substitution.
void solve_triangle(Environment& e, Handle& h, const Settings& s, const std::string& where) {
  const std::int64_t order = s.left() ? s.m : s.n;
  Matrix stored = random_matrix(e.random, s.type, Kind::normal, order, order);
  for (std::int64_t j = 0; j < order; ++j)
    for (std::int64_t i = 0; i < order; ++i)
      stored(i, j) = s.type.rounded(i == j ? Complex(one_of<double>(e.random, {1, -1, 2, 0.7}))
                                           : stored(i, j) * (0.2 / std::sqrt(static_cast<double>(order))));
  const Matrix full = triangle(s, stored),
               b = random_matrix(e.random, s.type,
                                 one_of<Kind>(e.random, {Kind::normal, Kind::integer, Kind::zero_lines}), s.m, s.n);
  Block a = e.block({hidden(s, stored, s.diag == VERNIER_UNIT)}), x = e.block({b});
  const Complex alpha = finite_factor(e, s.type);
  const Scalar one(s.type, alpha);
  const std::string call = where + words_of(s, h, "trsm") + ", alpha " + words(alpha);
  const vernier_status status = Surroundings(e.surroundings).of([&] {
    return (e.gpu ? vernier_cuda_trsm : vernier_trsm)(h, s.type.letter, s.side, s.uplo, s.op, s.diag, s.m, s.n,
                                                      one.data(), a.data(), a.ld(), x.data(), x.ld());
  });
  a.fetch(), x.fetch();
  expect(a.is_unchanged() && x.is_unchanged_outside(), call, "wrote an operand, or outside of X");
  if (!succeeded(h, status, call)) return expect(x.is_unchanged(), call, "an error, and X was written");
  const double rounding = s.type.single() ? 0x1p-24 : 0x1p-53, size = static_cast<double>(order);
  const double unit = h.promise.bits > 0 ? std::max(rounding, std::ldexp(1.0, -h.promise.bits)) : rounding;
  const double share = 2 * unit * (size + 2 * std::log2(size + 2) + 2) * (s.type.complex() ? 3 : 1);
  for (int entries = s.m * s.n > 0 && std::abs(alpha) < 1e30 ? 20 : 0; entries > 0; --entries) {
    const std::int64_t i = e.random.integer(0, s.m - 1), j = e.random.integer(0, s.n - 1);
    std::complex<long double> residual = -std::complex<long double>(alpha) * std::complex<long double>(b(i, j));
    double bound = 4 * unit * std::abs(alpha * b(i, j)) + (s.type.single() ? 1e-37 : 1e-300);
    for (std::int64_t l = 0; l < order; ++l) {
      const Complex f = s.left() ? full(i, l) : full(l, j), v = s.left() ? x.at(l, j) : x.at(i, l);
      residual += std::complex<long double>(f) * std::complex<long double>(v);
      bound += share * std::abs(f) * std::abs(v);
    }
    if (!(std::abs(residual) <= bound))
      throw Fault(
          joined(call, ": residual ", static_cast<double>(std::abs(residual)), " at ", i, ", ", j, ", bound ", bound));
  }
}

}  // namespace

void call_level3(Environment& e, Handle& h, const std::string& where) {
  const Type type = e.type();
  e.settle(h, type, true);
  const Settings s = random_settings(e, type);
  const auto routine = e.random.integer(0, 5);
  if (routine < 1) return symmetric(e, h, s, where);
  if (routine < 4) return updates(e, h, s, where);
  if (routine < 5) return times_triangle(e, h, s, where);
  solve_triangle(e, h, s, where);
}

}  // namespace vernier::sequences
