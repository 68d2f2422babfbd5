// symm and hemm, syrk, herk, syr2k and her2k on a GPU, as on a CPU (symm.cpp, rank_update.cpp): fill in the other
// triangle; halve the triangle of the result; take one product for both terms.
#include "blas/device_elements.cuh"
#include "blas/routine_cuda.hpp"
#include "number/complex.hpp"

namespace vernier::cuda {
namespace {

// Where no other machine's bits are asked for: smaller squares gain nothing over cuBLAS.
constexpr TriangleCut gpu_cut{1024, 128};

template <class T>
__device__ T real_part(T x) {
  if constexpr (is_complex<T>)
    return T(x.real());
  else
    return x;
}

template <class T>
__device__ T conjugate_of(T x) {
  if constexpr (is_complex<T>)
    return T(x.real(), -x.imag());
  else
    return x;
}

__device__ inline bool is_stored(Uplo uplo, std::int64_t i, std::int64_t j) {
  return uplo == Uplo::lower ? i >= j : i <= j;
}

template <class T>
__global__ void fill(Elements size, bool hermitian, Uplo uplo, const T* a, std::int64_t lda, T* out) {
  for_each_element(size, [&](std::int64_t i, std::int64_t j) {
    const bool stored = is_stored(uplo, i, j);
    const T value = stored ? a[i + j * lda] : a[j + i * lda];
    out[i + j * size.rows] = !hermitian ? value : i == j ? real_part(value) : stored ? value : conjugate_of(value);
  });
}

// C = alpha X + beta C on the triangle, or with alpha X^T (its conjugate where Hermitian) added.
template <class T>
__global__ void update_triangle(Elements size, bool hermitian, bool both, Uplo uplo, T alpha, const T* x, T beta, T* c,
                                std::int64_t ldc) {
  for_each_element(size, [&](std::int64_t i, std::int64_t j) {
    if (!is_stored(uplo, i, j)) return;
    T& out = c[i + j * ldc];
    const bool real = hermitian && i == j;
    T rest = real ? real_part(out) : out, factor = beta;
    if (both) {
      const T mirrored = x[j + i * size.rows];
      rest = hermitian ? updated(conjugate_of(alpha), conjugate_of(mirrored), beta, rest)
                       : updated(alpha, mirrored, beta, rest);
      factor = T{1};
    }
    const T result =
        alpha == T{0} ? (beta == T{0} ? T{0} : times(beta, rest)) : updated(alpha, x[i + j * size.rows], factor, rest);
    out = real ? real_part(result) : result;
  });
}

Op transposed(Op op, bool hermitian) {
  return op != Op::none ? Op::none : hermitian ? Op::conjugate_transpose : Op::transpose;
}

template <class T>
struct Update {
  const char* routine;
  bool hermitian, both;  // both: A B^T and B A^T
  Uplo uplo;
  Op op;
  std::int64_t n, k;
  T alpha;
  const T* a;
  std::int64_t lda;
  const T* b;
  std::int64_t ldb;
  T beta;
  T* c;
  std::int64_t ldc;
};

template <class T>
void check_arguments(Update<T>& p, const Options& options) {
  check_choice(p.routine, "uplo", p.uplo);
  require(vernier::valid(p.op), "{}: op = {}: expected none, transpose or conjugate_transpose", p.routine,
          static_cast<int>(p.op));
  const Op turned = transposed(Op::none, p.hermitian);
  if constexpr (is_complex<T>)
    require(p.op == Op::none || p.op == turned, "{}: op = {}: expected none or {}", p.routine, static_cast<char>(p.op),
            p.hermitian ? "conjugate_transpose" : "transpose");
  if (p.op != Op::none) p.op = turned;
  check_dimension(p.routine, "n", p.n);
  check_dimension(p.routine, "k", p.k);
  check_leading(p.routine, "lda", p.lda, p.op == Op::none ? p.n : p.k);
  if (p.both) check_leading(p.routine, "ldb", p.ldb, p.op == Op::none ? p.n : p.k);
  check_leading(p.routine, "ldc", p.ldc, p.n);
  const bool reads = p.n > 0 && p.k > 0 && p.alpha != T{0};
  check_pointer(p.routine, "A", reads, p.a);
  check_pointer(p.routine, "B", reads, p.b);
  check_pointer(p.routine, "C", p.n > 0, p.c);
  check_routine_options(p.routine, options);
}

// The triangle of op(A) op(A)^T, halved into squares on the diagonal and rectangles beside it.
template <class T>
class Triangle {
 public:
  Triangle(const Update<T>& p, T* out, const Options& options, RoutineReport& report)
      : p_(p), out_(out), options_(inner_options(options)), report_(report) {}

  void square(std::int64_t begin, std::int64_t end) {
    const TriangleCut& cut = options_.contract.reproducible ? common_cut : gpu_cut;
    if (end - begin <= cut.whole) return rectangle(begin, end, begin, end);
    const std::int64_t middle = cut.middle(begin, end);
    square(begin, middle);
    square(middle, end);
    if (p_.uplo == Uplo::lower)
      rectangle(middle, end, begin, middle);
    else
      rectangle(begin, middle, middle, end);
  }

  void rectangle(std::int64_t i0, std::int64_t i1, std::int64_t j0, std::int64_t j1) {
    const T one{1}, zero{0};
    const auto at = [&](const T* x, std::int64_t ld, std::int64_t i) { return p_.op == Op::none ? x + i : x + i * ld; };
    report_.add(gemm<T>(p_.op, transposed(p_.op, p_.hermitian), i1 - i0, j1 - j0, p_.k, &one, at(p_.a, p_.lda, i0),
                        p_.lda, at(p_.b, p_.ldb, j0), p_.ldb, &zero, out_ + i0 + j0 * p_.n, p_.n, options_));
  }

 private:
  const Update<T>& p_;
  T* out_;
  Options options_;
  RoutineReport& report_;
};

template <class T>
Report update(Update<T> p, const Options& options) {
  RoutineReport report(p.routine);
  check_arguments(p, options);
  const Plan nothing = explain<T>(Op::none, Op::none, p.n, p.n, 0, options);
  const cudaStream_t stream = stream_of(options);
  const bool reads = p.n > 0 && p.k > 0 && p.alpha != T{0};
  if (p.n == 0) return report.finished(nothing);
  const auto add = [&](const T* x) {
    launch_elements("update_triangle", update_triangle<T>, {p.n, p.n}, stream, p.hermitian, p.both && reads, p.uplo,
                    reads ? p.alpha : T{0}, x, p.beta, p.c, p.ldc);
  };
  if (!reads) {
    add(nullptr);
    return report.finished(nothing);
  }
  check_capture<T>(p.n, p.n, p.k, options);
  const DeviceScratch<T> x(p.n, p.n, stream);
  Triangle<T> triangle(p, x.data(), options, report);
  p.both ? triangle.rectangle(0, p.n, 0, p.n) : triangle.square(0, p.n);
  add(x.data());
  return report.finished();
}

template <class T>
Report symmetric_product(const char* routine, bool hermitian, Side side, Uplo uplo, std::int64_t m, std::int64_t n,
                         T alpha, const T* A, std::int64_t lda, const T* B, std::int64_t ldb, T beta, T* C,
                         std::int64_t ldc, const Options& options) {
  RoutineReport report(routine);
  check_choice(routine, "side", side);
  check_choice(routine, "uplo", uplo);
  check_dimension(routine, "m", m);
  check_dimension(routine, "n", n);
  const std::int64_t order = side == Side::left ? m : n;
  check_leading(routine, "lda", lda, order);
  check_leading(routine, "ldb", ldb, m);
  check_leading(routine, "ldc", ldc, m);
  const bool writes = m > 0 && n > 0, reads = writes && alpha != T{0};
  check_pointer(routine, "A", reads, A);
  check_pointer(routine, "B", reads, B);
  check_pointer(routine, "C", writes, C);
  check_routine_options(routine, options);
  const Options inner = inner_options(options);
  if (!reads) {
    report.add(
        gemm<T>(Op::none, Op::none, m, n, 0, &alpha, A, std::max<std::int64_t>(m, 1), B, 1, &beta, C, ldc, inner));
    return report.finished();
  }
  check_capture<T>(m, n, order, options);
  const DeviceScratch<T> full(order, order, stream_of(options));
  launch_elements("fill", fill<T>, {order, order}, stream_of(options), hermitian, uplo, A, lda, full.data());
  if (side == Side::left)
    report.add(gemm<T>(Op::none, Op::none, m, n, m, &alpha, full.data(), m, B, ldb, &beta, C, ldc, inner));
  else
    report.add(gemm<T>(Op::none, Op::none, m, n, n, &alpha, B, ldb, full.data(), n, &beta, C, ldc, inner));
  return report.finished();
}

}  // namespace

template <class T>
Report symm(Side side, Uplo uplo, std::int64_t m, std::int64_t n, T alpha, const T* A, std::int64_t lda, const T* B,
            std::int64_t ldb, T beta, T* C, std::int64_t ldc, const Options& options) {
  return symmetric_product("symm", false, side, uplo, m, n, alpha, A, lda, B, ldb, beta, C, ldc, options);
}

template <class T>
Report hemm(Side side, Uplo uplo, std::int64_t m, std::int64_t n, T alpha, const T* A, std::int64_t lda, const T* B,
            std::int64_t ldb, T beta, T* C, std::int64_t ldc, const Options& options) {
  return symmetric_product("hemm", is_complex<T>, side, uplo, m, n, alpha, A, lda, B, ldb, beta, C, ldc, options);
}

template <class T>
Report syrk(Uplo uplo, Op op, std::int64_t n, std::int64_t k, T alpha, const T* A, std::int64_t lda, T beta, T* C,
            std::int64_t ldc, const Options& options) {
  return update<T>({"syrk", false, false, uplo, op, n, k, alpha, A, lda, A, lda, beta, C, ldc}, options);
}

template <class T>
Report herk(Uplo uplo, Op op, std::int64_t n, std::int64_t k, Real<T> alpha, const T* A, std::int64_t lda, Real<T> beta,
            T* C, std::int64_t ldc, const Options& options) {
  return update<T>({"herk", is_complex<T>, false, uplo, op, n, k, T(alpha), A, lda, A, lda, T(beta), C, ldc}, options);
}

template <class T>
Report syr2k(Uplo uplo, Op op, std::int64_t n, std::int64_t k, T alpha, const T* A, std::int64_t lda, const T* B,
             std::int64_t ldb, T beta, T* C, std::int64_t ldc, const Options& options) {
  return update<T>({"syr2k", false, true, uplo, op, n, k, alpha, A, lda, B, ldb, beta, C, ldc}, options);
}

template <class T>
Report her2k(Uplo uplo, Op op, std::int64_t n, std::int64_t k, T alpha, const T* A, std::int64_t lda, const T* B,
             std::int64_t ldb, Real<T> beta, T* C, std::int64_t ldc, const Options& options) {
  return update<T>({"her2k", is_complex<T>, true, uplo, op, n, k, alpha, A, lda, B, ldb, T(beta), C, ldc}, options);
}

#define VERNIER_INSTANTIATE(T)                                                                                       \
  template Report symm(Side, Uplo, std::int64_t, std::int64_t, T, const T*, std::int64_t, const T*, std::int64_t, T, \
                       T*, std::int64_t, const Options&);                                                            \
  template Report hemm(Side, Uplo, std::int64_t, std::int64_t, T, const T*, std::int64_t, const T*, std::int64_t, T, \
                       T*, std::int64_t, const Options&);                                                            \
  template Report syrk(Uplo, Op, std::int64_t, std::int64_t, T, const T*, std::int64_t, T, T*, std::int64_t,         \
                       const Options&);                                                                              \
  template Report herk(Uplo, Op, std::int64_t, std::int64_t, Real<T>, const T*, std::int64_t, Real<T>, T*,           \
                       std::int64_t, const Options&);                                                                \
  template Report syr2k(Uplo, Op, std::int64_t, std::int64_t, T, const T*, std::int64_t, const T*, std::int64_t, T,  \
                        T*, std::int64_t, const Options&);                                                           \
  template Report her2k(Uplo, Op, std::int64_t, std::int64_t, T, const T*, std::int64_t, const T*, std::int64_t,     \
                        Real<T>, T*, std::int64_t, const Options&);
VERNIER_INSTANTIATE(float)
VERNIER_INSTANTIATE(double)
VERNIER_INSTANTIATE(std::complex<float>)
VERNIER_INSTANTIATE(std::complex<double>)
#undef VERNIER_INSTANTIATE

}  // namespace vernier::cuda
