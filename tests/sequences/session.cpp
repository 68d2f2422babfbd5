#include "sequences/session.hpp"

#if VERNIER_X86
#include <xmmintrin.h>
#endif

#include <algorithm>
#include <cfenv>
#include <cmath>

#include "support/matrix.hpp"
#include "vernier/vernier_cuda.h"

namespace vernier::sequences {
namespace {

bool is_finite(Complex x) { return std::isfinite(x.real()) && std::isfinite(x.imag()); }

// The real numbers that an entry is made of; none where a complex entry has factors or data of which no bound speaks.
std::vector<Number> numbers_of(Type type, const Judged& j, std::int64_t row, std::int64_t column, Complex before,
                               Complex result) {
  Number re{
      {},           {}, j.alpha.real(), j.beta.real(), before.real(), result.real(), type.single(), type.complex(),
      j.alpha_first},
      im = re;
  im.before = before.imag(), im.result = result.imag();
  bool special = !is_finite(j.alpha) || !is_finite(j.beta) || j.alpha.imag() != 0 || j.beta.imag() != 0 ||
                 (j.beta != 0.0 && !is_finite(before));
  for (std::int64_t l = 0; l < j.k; ++l) {
    const Complex x = j.x(row, l), y = j.y(l, column);
    special = special || !is_finite(x) || !is_finite(y);
    re.x.push_back(x.real()), re.y.push_back(y.real());
    if (!type.complex()) continue;
    im.x.insert(im.x.end(), {x.real(), x.imag()}), im.y.insert(im.y.end(), {y.imag(), y.real()});
    re.x.push_back(-x.imag()), re.y.push_back(y.imag());
  }
  if (!type.complex()) return {re};
  return special ? std::vector<Number>{} : std::vector<Number>{re, im};
}

// A short sum, to be seen by itself.
std::string terms_of(const Number& n) {
  std::string text;
  for (std::size_t l = 0; l < n.x.size() && n.x.size() <= 6; ++l)
    text += test::joined(l == 0 ? ", of " : " + ", std::hexfloat, n.x[l], " * ", n.y[l]);
  return text + test::joined(" behind ", std::hexfloat, n.before);
}

}  // namespace

Surroundings::Surroundings(Random& random)
    : rounding_(one_of<int>(random, {FE_TONEAREST, FE_TONEAREST, FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO})),
      flushing_(one_of<unsigned>(random, {0, 0, 0, 0x8000, 0x8040})) {}

vernier_status Surroundings::of(const std::function<vernier_status()>& call) const {
  std::fenv_t before;
  std::fegetenv(&before);
  std::fesetround(rounding_);
#if VERNIER_X86
  _mm_setcsr(_mm_getcsr() | flushing_);
  const vernier_status status = call();
  const bool stayed = std::fegetround() == rounding_ && (_mm_getcsr() & 0x8040) == flushing_;
#else
  const vernier_status status = call();
  const bool stayed = std::fegetround() == rounding_;
#endif
  std::fesetenv(&before);
  if (!stayed) throw Fault("a call changed the rounding mode, or how subnormal numbers are taken");
  return status;
}

Handle::Handle() {
  if (vernier_create(&handle_) != VERNIER_SUCCESS) throw Fault("no handle");
}

std::string words(Complex x) { return test::joined(x.real(), x.imag() != 0 ? test::joined("+", x.imag(), "i") : ""); }

std::int64_t Environment::dimension() {
  const double x = random.uniform();
  if (big && x > 0.3) return random.integer(100, 420);
  return x < 0.04   ? 0
         : x < 0.1  ? 1
         : x < 0.7  ? random.integer(2, 20)
         : x < 0.97 ? random.integer(20, 70)
                    : random.integer(70, 300);
}

std::int64_t Environment::inner(std::int64_t m, std::int64_t n) {
  const double x = random.uniform(), most = big ? 3e7 : 3e6;
  const std::int64_t k = x < 0.04   ? 0
                         : x < 0.8  ? random.integer(1, 40)
                         : x < 0.98 ? random.integer(40, 400)
                                    : random.integer(1000, 20000);
  const auto fits = static_cast<std::int64_t>(most / static_cast<double>(std::max<std::int64_t>(m * n, 1)));
  return std::min(k, std::max<std::int64_t>(fits, 1));
}

Type Environment::type() {
  return {one_of<vernier_type>(random, {VERNIER_S, VERNIER_D, VERNIER_D, VERNIER_D, VERNIER_C, VERNIER_Z})};
}

Complex Environment::factor(Type type) {
  std::vector<double> usual = {0.0, -0.0, 1, -1, 2, 0.5, random.normal(), 1e-3};
  if (chance(random, 0.06)) {
    const double infinity = INFINITY;
    usual = {NAN, infinity, -infinity, type.single() ? 1e38 : 1e300, type.single() ? 0x1p-149 : 0x1p-1074};
  }
  const double re = one_of(random, usual);
  usual.insert(usual.end(), 2, 0.0);
  return type.rounded({re, type.complex() ? one_of(random, usual) : 0});
}

Block Environment::block(const std::vector<Matrix>& x) {
  return Block(x, one_of<std::int64_t>(random, {0, 0, 1, 5}), random.integer(0, 2), gpu);
}

void Environment::settle(Handle& h, Type type, bool level3) {
  if (chance(random, 0.25)) vernier_set_threads(h, one_of<int>(random, {0, 1, 2, 3, 7}));
  h.digits = type.single() ? 24 : 53;
  if (chance(random, 0.1)) {
    const auto limit = one_of<std::size_t>(random, {0, 0, std::size_t{1} << 20, 1 << 16, 1 << 26});
    vernier_set_workspace_limit(h, limit);
    h.limited = limit != 0;
  }
  if (chance(random, 0.3)) {
    h.engine = gpu ? one_of<std::string>(random, {"", "", "native", "sm90_int8", "cublas_int8", "mma_int8"})
                   : one_of<std::string>(random, {"", "", "portable", "avx2", "native"});
    const auto set = gpu ? vernier_cuda_set_engine : vernier_set_engine;
    if (set(h, h.engine.c_str()) != VERNIER_SUCCESS) set(h, nullptr), h.engine.clear();
  }
  std::vector<Promise> list = promises(static_cast<char>(type.letter));
  if (level3) std::erase_if(list, [](const Promise& p) { return p.bits == 0; });
  h.promise = one_of(random, list);
  vernier_set_next_contract(h, nullptr);
  const bool once = chance(random, 0.5) && h.promise.text != nullptr;  // null takes the contract of one call back
  if (once) vernier_set_contract(h, one_of(random, list).text);
  const vernier_status status = (once ? vernier_set_next_contract : vernier_set_contract)(h, h.promise.text);
  if (status != VERNIER_SUCCESS) throw Fault(test::joined("contract ", h.promise.text, ": ", vernier_last_error(h)));
}

// Any data are served then: by the native product where nothing else serves.
bool is_always_kept(const Handle& h) {
  const bool alone = h.promise.text != nullptr && std::string(h.promise.text).find('+') != std::string::npos;
  return !alone && h.promise.bits != 0 && h.promise.bits <= h.digits;
}

bool succeeded(Handle& h, vernier_status status, const std::string& call) {
  if (status == VERNIER_SUCCESS) return ++h.served, true;
  const std::string message = vernier_last_error(h);
  const bool beyond = status == VERNIER_BOUND_NOT_MET || message.find("cannot keep contract") != std::string::npos;
  const bool may_be =
      beyond ? !is_always_kept(h)
             : status == VERNIER_UNSUPPORTED || (status == VERNIER_OUT_OF_MEMORY && h.limited) ||
                   (status == VERNIER_INVALID_ARGUMENT && message.find("workspace: ") != std::string::npos);
  if (!may_be) throw Fault(call + ": " + vernier_status_name(status) + ": " + message);
  return false;
}

void judge(Random& random, const Promise& promise, Type type, const Judged& judged, const Block& c, std::int64_t m,
           std::int64_t n, int entries, const std::string& call, std::int64_t matrix,
           const std::function<bool(std::int64_t, std::int64_t)>& chosen) {
  expect(c.is_unchanged_outside(), call, "wrote outside of C");
  if (chosen)
    expect(c.is_unchanged_where([&](auto i, auto j) { return !chosen(i, j); }), call, "wrote the other triangle");
  for (; entries > 0 && m * n > 0; --entries) {
    const std::int64_t i = random.integer(0, m - 1), j = random.integer(0, n - 1);
    if (chosen && !chosen(i, j)) continue;
    const std::vector<Number> numbers = numbers_of(type, judged, i, j, c.before(i, j, matrix), c.at(i, j, matrix));
    if (promise.bits != 0 && std::any_of(numbers.begin(), numbers.end(), may_overflow)) continue;
    for (const Number& number : numbers)
      if (const std::string fault = fault_of(promise, number); !fault.empty())
        throw Fault(test::joined(call, ": entry ", i, ", ", j, " of matrix ", matrix, " ", fault, terms_of(number)));
  }
}

}  // namespace vernier::sequences
