#include "lapack/level3.hpp"

#include <algorithm>
#include <limits>
#include <new>
#include <type_traits>

#include "base/environment.hpp"
#include "base/status.hpp"
#include "bf16x6/blocking.hpp"
#include "number/complex.hpp"
#include "product/native/native.hpp"
#include "product/plan/method.hpp"

namespace vernier {
namespace {

// Orders up to which a triangle is not divided: by the BLAS underneath, and by our own loops where nothing else may
// touch the bits.
constexpr std::int64_t native_triangle = 128, own_triangle = 16;

// Operations below which gemm is not asked what it would do, and below which a second thread is not worth its start:
// with one at 2^19, panels of 2048 x 64 took 0.21 ms on two threads and 0.15 ms on one.
constexpr double operations_for_gemm = 1 << 24, operations_for_threads = 1 << 24;

// Inner dimensions below which conversions and recombination cost the integer engines their lead. AMX, two cores,
// 3584 x 512 x 512: 360 GFLOP/s against 414 in fp32, 221 against 214 in fp64.
template <class T>
constexpr std::int64_t shortest_for_gemm = std::is_same_v<RealType<T>, float> ? 768 : 512;

// The same for bf16 parts, which need neither; what they do not hold goes natively there.
constexpr std::int64_t shortest_for_bf16x6 = 32;
constexpr double operations_for_parts = 1 << 23;

template <class T>
double operations(const ProductShape& p) {  // real ones
  return (is_complex<T> ? 8.0 : 2.0) * p.multiplications();
}

// body(first, count) for pieces of [0, n) that begin at multiples of 16.
template <class Body>
void in_pieces(int threads, std::int64_t n, Body body) {
  const std::int64_t pieces = std::clamp<std::int64_t>(n / 16, 1, threads);
  const std::int64_t length = (n + pieces * 16 - 1) / (pieces * 16) * 16;
  if (pieces == 1) {
    body(std::int64_t{0}, n);
    return;
  }
#pragma omp parallel for num_threads(static_cast <int>(pieces)) schedule(static)
  for (std::int64_t p = 0; p < pieces; ++p) {
    const FloatingEnvironment environment;
    const std::int64_t first = p * length;
    if (first < n) body(first, std::min(length, n - first));
  }
}

// The first half of a triangle, a multiple of 32 so that the products have even sides.
std::int64_t half(std::int64_t n) { return n < 64 ? n / 2 : (n / 2 + 31) / 32 * 32; }

}  // namespace

template <class T>
Level3<T>::Level3(const Options& options, WorkMeter* meter)
    : options_(options), threads_(usable_threads(options.threads)), meter_(meter) {
  explain<T>(Op::none, Op::none, 0, 0, 0, options);  // throws on options that gemm would not take
  require(options.workspace == nullptr, "workspace: only gemm takes one of the caller's");
  if (options.contract.kind == Contract::Kind::exact)
    fail(Status::unsupported, "contract exact: only gemm and its batches keep it");
  options_.threads = threads_;
  options_.progress = {};
}

template <class T>
bool Level3<T>::through_gemm(const GemmCall<T>& p) const {
  if (alone_) return false;
  if (reproducible()) return true;
  if (options_.contract.bits_asked > std::numeric_limits<RealType<T>>::digits)
    return true;  // the BLAS underneath cannot keep it
  if (options_.engine.empty() && (p.k < shortest_for_gemm<T> || operations<T>(p.shape()) < operations_for_gemm))
    return false;
  return explain<T>(p.opa, p.opb, p.m, p.n, p.k, options_).scheme != "native";
}

template <class T>
bool Level3<T>::may_fail() const {
  return native_use<T>(options_.contract) == NativeUse::never;
}

template <class T>
bool Level3<T>::subtract_by_parts(const GemmCall<T>& p) const {
  if constexpr (std::is_same_v<T, float>) {
    if (p.k >= shortest_for_bf16x6 && operations<T>(p.shape()) >= operations_for_parts)
      return gemm_by_bf16x6(p, options_);
  }
  return false;
}

template <class T>
void Level3<T>::subtract_natively(const GemmCall<T>& p) const {
  native_gemm_in_parts(p, threads_);
}

template <class T>
void Level3<T>::subtract_product(const GemmCall<T>& call) const {
  if (call.shape().empty()) return;
  subtract_somehow(call);
  if (meter_ != nullptr) meter_->add(operations<T>(call.shape()));
}

template <class T>
void Level3<T>::subtract_somehow(const GemmCall<T>& p) const {
  try {
    if (through_gemm(p)) {
      gemm<T>(p.opa, p.opb, p.m, p.n, p.k, p.alpha, p.a, p.lda, p.b, p.ldb, p.beta, p.c, p.ldc, options_);
      return;
    }
    if (subtract_by_parts(p)) return;
  } catch (const std::bad_alloc&) {
    if (may_fail()) throw;
  } catch (const Error& error) {
    if (may_fail() || error.status() != Status::out_of_memory) throw;
  }
  subtract_natively(p);
}

template <class T>
void Level3<T>::solve(Triangle t, std::int64_t m, std::int64_t n, const T* a, std::int64_t lda, T* b,
                      std::int64_t ldb) const {
  const bool left = t.side == Side::left;
  const std::int64_t order = left ? m : n, others = left ? n : m;
  if (m == 0 || n == 0) return;
  if (order <= (reproducible() ? own_triangle : native_triangle)) {
    const NativeThreads one(1);
    const bool unit_lower =
        !reproducible() && left && t.uplo == Uplo::lower && t.op == Op::none && t.diag == Diag::unit;
    const int threads = operations<T>({order, order, others}) < operations_for_threads ? 1 : threads_;
    in_pieces(threads, others, [&](std::int64_t first, std::int64_t count) {
      T* part = left ? b + first * ldb : b + first;
      if (unit_lower)
        solve_small_unit_lower(m, count, a, lda, part, ldb);
      else
        solve_small_triangle(t, left ? m : count, left ? count : n, a, lda, part, ldb, reproducible());
    });
    return;
  }
  // The part of the triangle that does not depend on the other comes first.
  const bool stored_lower = t.uplo == Uplo::lower, lower = stored_lower == (t.op == Op::none);
  const bool first_half_first = lower == left;
  const std::int64_t h = half(order), r = order - h;
  const T *a11 = a, *a22 = a + h + h * lda;
  const T* off_diagonal = stored_lower ? a + h : a + h * lda;
  T *b1 = b, *b2 = left ? b + h : b + h * ldb;
  const auto solve_half = [&](bool first) {
    solve(t, left ? (first ? h : r) : m, left ? n : (first ? h : r), first ? a11 : a22, lda, first ? b1 : b2, ldb);
  };
  const T* known = first_half_first ? b1 : b2;
  T* open = first_half_first ? b2 : b1;
  const std::int64_t solved = first_half_first ? h : r, rest = order - solved;
  solve_half(first_half_first);
  if (left)
    subtract_product({t.op, Op::none, rest, n, solved, -1, off_diagonal, lda, known, ldb, 1, open, ldb});
  else
    subtract_product({Op::none, t.op, m, rest, solved, -1, known, ldb, off_diagonal, lda, 1, open, ldb});
  solve_half(!first_half_first);
}

template <class T>
void Level3<T>::subtract_square(Uplo uplo, std::int64_t n, std::int64_t k, const T* a, std::int64_t lda, T* c,
                                std::int64_t ldc) const {
  if (n == 0 || k == 0) return;
  const bool lower = uplo == Uplo::lower;
  if (n <= (reproducible() ? own_triangle : native_triangle)) {
    const NativeThreads one(1);
    subtract_small_square(uplo, n, k, a, lda, c, ldc, reproducible());
    return;
  }
  constexpr Op adjoint = is_complex<T> ? Op::conjugate_transpose : Op::transpose;
  const std::int64_t h = half(n);
  const T* second = lower ? a + h : a + h * lda;
  subtract_square(uplo, h, k, a, lda, c, ldc);
  subtract_square(uplo, n - h, k, second, lda, c + h + h * ldc, ldc);
  if (lower)
    subtract_product({Op::none, adjoint, n - h, h, k, -1, second, lda, a, lda, 1, c + h, ldc});
  else
    subtract_product({adjoint, Op::none, h, n - h, k, -1, a, lda, second, lda, 1, c + h * ldc, ldc});
}

template class Level3<float>;
template class Level3<double>;
template class Level3<std::complex<float>>;
template class Level3<std::complex<double>>;

}  // namespace vernier
