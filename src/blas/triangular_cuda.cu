// trmm and trsm on a GPU: halves of A by gemm, blocks on the diagonal by cuBLAS.
#include "blas/device_elements.cuh"
#include "blas/routine_cuda.hpp"
#include "blas/triangle.hpp"
#include "cuda/cublas.hpp"

namespace vernier::cuda {
namespace {

// Order of the blocks on the diagonal: products of halves that are smaller gain nothing over cuBLAS.
constexpr std::int64_t native_block = 1024;

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
  const T* b;
  std::int64_t ldb;
  T* c;
  std::int64_t ldc;
  const Options& options;

  std::int64_t order() const { return side == Side::left ? m : n; }
  bool lower() const { return (uplo == Uplo::lower) == (op == Op::none); }  // op(A)
};

template <class T>
void check_arguments(const Triangular<T>& p) {
  check_triangular(p.routine, p.side, p.uplo, p.op, p.diag, p.m, p.n, p.alpha, p.a, p.lda, p.b, p.ldb, p.c, p.ldc);
  check_routine_options(p.routine, p.options);
  const Contract& contract = p.options.contract;
  if (asks_for_more_than<T>(contract) || contract.reproducible)
    fail(Status::unsupported, "{}: contract {}: on a GPU expected one of at most {} bits that is not reproducible",
         p.routine, contract.text(), std::numeric_limits<RealType<T>>::digits);
}

// X, m x n, becomes op(A) X, op(A)^-1 X, or these from the right; products read the untouched B of the call.
template <class T>
class Recursion {
 public:
  Recursion(const Triangular<T>& problem, T* x, Cublas& cublas, RoutineReport& report)
      : p_(problem), x_(x), options_(inner_options(problem.options)), cublas_(cublas), report_(report) {}

  void run(std::int64_t begin, std::int64_t end) {
    if (end - begin <= native_block) return diagonal_block(begin, end - begin);
    const std::int64_t middle = begin + ((end - begin) / 2 + 127) / 128 * 128;
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

 private:
  // X(to) += or -= the product of op(A)'s block and B(from) or X(from).
  void couple(std::int64_t from, std::int64_t from_end, std::int64_t to, std::int64_t to_end) {
    const T sign = p_.solve ? T{-1} : T{1}, one{1};
    const std::int64_t k = from_end - from, size = to_end - to;
    const T* source = p_.solve ? x_ : p_.b;
    const std::int64_t ld = p_.solve ? p_.m : p_.ldb;
    if (p_.side == Side::left)
      report_.add(gemm<T>(p_.op, Op::none, size, p_.n, k, &sign, block(to, from), p_.lda, source + from, ld, &one,
                          x_ + to, p_.m, options_));
    else
      report_.add(gemm<T>(Op::none, p_.op, p_.m, size, k, &sign, source + from * ld, ld, block(from, to), p_.lda, &one,
                          x_ + to * p_.m, p_.m, options_));
  }

  const T* block(std::int64_t i, std::int64_t j) const {  // of op(A), in A
    return p_.op == Op::none ? p_.a + i + j * p_.lda : p_.a + j + i * p_.lda;
  }

  void diagonal_block(std::int64_t begin, std::int64_t size) {
    const bool left = p_.side == Side::left;
    const std::int64_t m = left ? size : p_.m, n = left ? p_.n : size;
    const T one{1};
    T* x = left ? x_ + begin : x_ + begin * p_.m;
    cublas_.set_stream(stream_of(options_));  // a product in between may have set another mode
    cublas_.set_pointer_mode(CUBLAS_POINTER_MODE_HOST);
    if (p_.solve)
      cublas_.trsm(p_.side, p_.uplo, p_.op, p_.diag, m, n, &one, block(begin, begin), p_.lda, x, p_.m);
    else
      cublas_.trmm(p_.side, p_.uplo, p_.op, p_.diag, m, n, &one, block(begin, begin), p_.lda, x, p_.m, x, p_.m);
  }

  const Triangular<T>& p_;
  T* x_;
  Options options_;
  Cublas& cublas_;
  RoutineReport& report_;
};

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
  check_arguments(p);
  const Plan nothing = explain<T>(Op::none, Op::none, p.m, p.n, 0, p.options);
  if (p.m == 0 || p.n == 0) return report.finished(nothing);
  const cudaStream_t stream = stream_of(p.options);
  const auto copy = [&](T factor, const T* in, std::int64_t ld_in, T* out, std::int64_t ld_out) {
    update_on_device(p.m, p.n, DeviceFactor<T>{factor}, in, ld_in, DeviceFactor<T>{}, out, ld_out, stream);
  };
  if (p.alpha == T{0}) {
    check(cudaMemset2DAsync(p.c, static_cast<std::size_t>(p.ldc) * sizeof(T), 0,
                            static_cast<std::size_t>(p.m) * sizeof(T), static_cast<std::size_t>(p.n), stream),
          "cudaMemset2DAsync");
    return report.finished(nothing);
  }
  check_without_host<T>(p.m, p.n, p.order(), p.options);
  const DeviceScratch<T> x(p.m, p.n, stream);
  copy(p.solve ? p.alpha : T{1}, p.b, p.ldb, x.data(), p.m);
  Recursion<T>(p, x.data(), thread_cublas(), report).run(0, p.order());
  copy(p.solve ? T{1} : p.alpha, x.data(), p.m, p.c, p.ldc);
  return report.any_product() ? report.finished() : report.finished(one_block(p));
}

}  // namespace

template <class T>
Report trmm(Side side, Uplo uplo, Op op, Diag diag, std::int64_t m, std::int64_t n, T alpha, const T* A,
            std::int64_t lda, const T* B, std::int64_t ldb, T* C, std::int64_t ldc, const Options& options) {
  return triangular<T>({"trmm", false, side, uplo, op, diag, m, n, alpha, A, lda, B, ldb, C, ldc, options});
}

template <class T>
Report trsm(Side side, Uplo uplo, Op op, Diag diag, std::int64_t m, std::int64_t n, T alpha, const T* A,
            std::int64_t lda, T* B, std::int64_t ldb, const Options& options) {
  return triangular<T>({"trsm", true, side, uplo, op, diag, m, n, alpha, A, lda, B, ldb, B, ldb, options});
}

#define VERNIER_INSTANTIATE(T)                                                                                        \
  template Report trmm(Side, Uplo, Op, Diag, std::int64_t, std::int64_t, T, const T*, std::int64_t, const T*,         \
                       std::int64_t, T*, std::int64_t, const Options&);                                               \
  template Report trsm(Side, Uplo, Op, Diag, std::int64_t, std::int64_t, T, const T*, std::int64_t, T*, std::int64_t, \
                       const Options&);
VERNIER_INSTANTIATE(float)
VERNIER_INSTANTIATE(double)
VERNIER_INSTANTIATE(std::complex<float>)
VERNIER_INSTANTIATE(std::complex<double>)
#undef VERNIER_INSTANTIATE

}  // namespace vernier::cuda
