// trmm and trsm: halves of A by gemm, blocks on the diagonal by the BLAS underneath or by substitution.
#include "blas/native_level3.hpp"
#include "blas/native_threads.hpp"
#include "blas/substitution.hpp"
#include "blas/triangle.hpp"
#include "blas/update.hpp"

namespace vernier {
namespace {

// Orders of the blocks on the diagonal: the BLAS underneath is fast, plain substitution is not.
constexpr std::int64_t native_block = 256, substitution_block = 64;

template <class T>
struct Triangular {
  const char* routine;
  bool solve;
  Side side;
  Uplo uplo;
  Op op;
  Diag diag;
  std::int64_t m, n;
  T alpha;
  const T* a;
  std::int64_t lda;
  T* b;
  std::int64_t ldb;
  const Options& options;

  std::int64_t order() const { return side == Side::left ? m : n; }
  std::int64_t others() const { return side == Side::left ? n : m; }
  bool lower() const { return (uplo == Uplo::lower) == (op == Op::none); }  // op(A)
};

template <class T>
void check(const Triangular<T>& p) {
  check_triangular(p.routine, p.side, p.uplo, p.op, p.diag, p.m, p.n, p.alpha, p.a, p.lda, p.b, p.ldb, p.b, p.ldb);
  check_routine_options(p.routine, p.options);
  check_not_exact(p.routine, p.options);
  if (asks_for_more_than<T>(p.options.contract))
    fail(Status::unsupported, "{}: contract {}: expected one of at most {} bits, the precision of the type", p.routine,
         p.options.contract.text(), std::numeric_limits<RealType<T>>::digits);
}

// X, m x n, becomes op(A) X, op(A)^-1 X, or these from the right; products read the untouched B of the call.
template <class T>
class Recursion {
 public:
  Recursion(const Triangular<T>& problem, T* x, RoutineReport& report)
      : p_(problem), x_(x), options_(inner_options(problem.options)), report_(report) {}

  void run() { run(0, p_.order()); }

 private:
  bool reproducible() const { return options_.contract.reproducible; }

  void run(std::int64_t begin, std::int64_t end) {
    if (end - begin <= (reproducible() ? substitution_block : native_block)) return diagonal_block(begin, end);
    const std::int64_t middle = begin + ((end - begin) / 2 + 63) / 64 * 64;
    // op(A) couples the two halves of X one way: lower from the left and upper from the right take the first half to
    // the second.
    const bool forwards = p_.lower() == (p_.side == Side::left);
    if (!p_.solve) {
      run(begin, middle);
      run(middle, end);
      forwards ? couple(begin, middle, middle, end) : couple(middle, end, begin, middle);
    } else if (forwards) {
      run(begin, middle);
      couple(begin, middle, middle, end);
      run(middle, end);
    } else {
      run(middle, end);
      couple(middle, end, begin, middle);
      run(begin, middle);
    }
  }

  // X(to) += or -= the product of op(A)'s block and B(from) or X(from).
  void couple(std::int64_t from, std::int64_t from_end, std::int64_t to, std::int64_t to_end) {
    const T sign = p_.solve ? T{-1} : T{1};
    const std::int64_t k = from_end - from, size = to_end - to;
    const T* source = p_.solve ? x_ : p_.b;
    const std::int64_t ld = p_.solve ? p_.m : p_.ldb;
    if (p_.side == Side::left)
      report_.add(gemm<T>(p_.op, Op::none, size, p_.n, k, sign, block(to, from), p_.lda, source + from, ld, T{1},
                          x_ + to, p_.m, options_));
    else
      report_.add(gemm<T>(Op::none, p_.op, p_.m, size, k, sign, source + from * ld, ld, block(from, to), p_.lda, T{1},
                          x_ + to * p_.m, p_.m, options_));
  }

  const T* block(std::int64_t i, std::int64_t j) const {  // of op(A), in A
    return p_.op == Op::none ? p_.a + i + j * p_.lda : p_.a + j + i * p_.lda;
  }

  void diagonal_block(std::int64_t begin, std::int64_t end) {
    const std::int64_t size = end - begin;
    T* x = p_.side == Side::left ? x_ + begin : x_ + begin * p_.m;
    if (!reproducible() && fits_native({p_.m, p_.n, p_.lda})) return native_block_of(begin, static_cast<int>(size), x);
    const TriangularBlock<T> a(p_.uplo, p_.op, p_.diag, size, block(begin, begin), p_.lda);
    substitute(p_.side, a, p_.solve, p_.others(), x, p_.m, usable_threads(options_.threads));
  }

  void native_block_of(std::int64_t begin, int size, T* x) {
    const bool left = p_.side == Side::left;
    const int m = left ? size : static_cast<int>(p_.m), n = left ? static_cast<int>(p_.n) : size;
    const NativeThreads setting(options_.threads);
    (p_.solve ? native_trsm<T> : native_trmm<T>)(p_.side, p_.uplo, p_.op, p_.diag, m, n, T{1}, block(begin, begin),
                                                 static_cast<int>(p_.lda), x, static_cast<int>(p_.m));
  }

  const Triangular<T>& p_;
  T* x_;
  Options options_;
  RoutineReport& report_;
};

// out = factor in, m x n.
template <class T>
void scaled_copy(const Triangular<T>& p, T factor, const T* in, std::int64_t ld_in, T* out, std::int64_t ld_out) {
#pragma omp parallel for schedule(static) num_threads(usable_threads(p.options.threads))
  for (std::int64_t j = 0; j < p.n; ++j) {
    const FloatingEnvironment environment;
    for (std::int64_t i = 0; i < p.m; ++i)
      out[i + j * ld_out] = factor == T{1} ? in[i + j * ld_in] : times(factor, in[i + j * ld_in]);
  }
}

// The plan where A is a single block on the diagonal.
template <class T>
Plan one_block(const Triangular<T>& p) {
  Plan plan = explain<T>(Op::none, Op::none, p.m, p.n, 0, p.options);
  plan.k = p.order();
  plan.reason = "A is one block on the diagonal: no product is needed";
  return plan;
}

template <class T>
Report triangular(const Triangular<T>& p) {
  RoutineReport report(p.routine);
  check(p);
  const Plan plan = explain<T>(Op::none, Op::none, p.m, p.n, p.order(), p.options);
  if (plan.scheme == "none" || p.alpha == T{0}) {
    for (std::int64_t j = 0; j < p.n; ++j) std::fill_n(p.b + j * p.ldb, p.m, T{0});
    return report.finished(explain<T>(Op::none, Op::none, p.m, p.n, 0, p.options));
  }
  if (plan.scheme == "native" && fits_native({p.m, p.n, p.lda, p.ldb})) {
    const NativeThreads setting(p.options.threads);
    (p.solve ? native_trsm<T> : native_trmm<T>)(p.side, p.uplo, p.op, p.diag, static_cast<int>(p.m),
                                                static_cast<int>(p.n), p.alpha, p.a, static_cast<int>(p.lda), p.b,
                                                static_cast<int>(p.ldb));
    return report.finished(plan);
  }
  const Scratch<T> x(p.m, p.n);
  scaled_copy(p, p.solve ? p.alpha : T{1}, p.b, p.ldb, x.data(), p.m);
  Recursion<T>(p, x.data(), report).run();
  scaled_copy(p, p.solve ? T{1} : p.alpha, x.data(), p.m, p.b, p.ldb);
  return report.any_product() ? report.finished() : report.finished(one_block(p));
}

}  // namespace

template <class T>
Report trmm(Side side, Uplo uplo, Op op, Diag diag, std::int64_t m, std::int64_t n, T alpha, const T* A,
            std::int64_t lda, T* B, std::int64_t ldb, const Options& options) {
  return triangular<T>({"trmm", false, side, uplo, op, diag, m, n, alpha, A, lda, B, ldb, options});
}

template <class T>
Report trsm(Side side, Uplo uplo, Op op, Diag diag, std::int64_t m, std::int64_t n, T alpha, const T* A,
            std::int64_t lda, T* B, std::int64_t ldb, const Options& options) {
  return triangular<T>({"trsm", true, side, uplo, op, diag, m, n, alpha, A, lda, B, ldb, options});
}

#define VERNIER_INSTANTIATE(T)                                                                                        \
  template Report trmm(Side, Uplo, Op, Diag, std::int64_t, std::int64_t, T, const T*, std::int64_t, T*, std::int64_t, \
                       const Options&);                                                                               \
  template Report trsm(Side, Uplo, Op, Diag, std::int64_t, std::int64_t, T, const T*, std::int64_t, T*, std::int64_t, \
                       const Options&);
VERNIER_INSTANTIATE(float)
VERNIER_INSTANTIATE(double)
VERNIER_INSTANTIATE(std::complex<float>)
VERNIER_INSTANTIATE(std::complex<double>)
#undef VERNIER_INSTANTIATE

}  // namespace vernier
