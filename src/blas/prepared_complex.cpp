// Prepared complex operands: what they hold is real, and so are their products.
#include <algorithm>

#include "base/workspace.hpp"
#include "blas/complex_expansion.hpp"
#include "blas/complex_gemm.hpp"
#include "blas/prepared_arguments.hpp"
#include "blas/prepared_operand.hpp"

namespace vernier {
namespace {

constexpr const char* routine = "PreparedOperand";

// Vectors of a right operand before those of (Im; -Re).
std::int64_t second_half(std::int64_t columns) { return round_up(columns, strip_size); }

template <class R>
std::complex<R> entry(Op op, const std::complex<R>* x, std::int64_t ldx, std::int64_t i, std::int64_t j) {
  const std::complex<R> z = op == Op::none ? x[i + j * ldx] : x[j + i * ldx];
  return op == Op::conjugate_transpose ? std::conj(z) : z;
}

template <class R>
std::shared_ptr<const PreparedData<R>> left_parts(Op op, std::int64_t rows, std::int64_t columns,
                                                  const std::complex<R>* x, std::int64_t ldx, const Options& options) {
  const Workspace memory(size_product({2 * rows, 2 * columns}) * sizeof(R));
  R* expanded = reinterpret_cast<R*>(memory.data());
  expand(op, rows, columns, x, ldx, expanded, usable_threads(options.threads));
  return std::make_shared<const PreparedData<R>>(Side::left, op == Op::none ? Op::none : Op::transpose, 2 * rows,
                                                 2 * columns, expanded, op == Op::none ? 2 * rows : 2 * columns,
                                                 options);
}

template <class R>
std::shared_ptr<const PreparedData<R>> right_parts(Op op, std::int64_t rows, std::int64_t columns,
                                                   const std::complex<R>* x, std::int64_t ldx, const Options& options) {
  const std::int64_t vectors = second_half(columns) + columns;
  const Workspace memory(size_product({2 * rows, vectors}) * sizeof(R));
  R* expanded = reinterpret_cast<R*>(memory.data());
  std::fill_n(expanded, 2 * rows * vectors, R{});
#pragma omp parallel for schedule(static) num_threads(usable_threads(options.threads))
  for (std::int64_t j = 0; j < columns; ++j) {
    R *first = expanded + 2 * rows * j, *second = first + 2 * rows * second_half(columns);
    for (std::int64_t l = 0; l < rows; ++l) {
      const std::complex<R> z = entry(op, x, ldx, l, j);
      first[2 * l] = z.real();
      first[2 * l + 1] = z.imag();
      second[2 * l] = z.imag();
      second[2 * l + 1] = -z.real();
    }
  }
  return std::make_shared<const PreparedData<R>>(Side::right, Op::none, 2 * rows, vectors, expanded, 2 * rows, options);
}

}  // namespace

template <class R>
PreparedData<std::complex<R>>::PreparedData(Side side, Op op, std::int64_t rows, std::int64_t columns,
                                            const std::complex<R>* X, std::int64_t ldx, const Options& options)
    : PreparedFacts{side, rows, columns, options.contract} {
  check_preparation(side, op, rows, columns, X, ldx);
  check_options(routine, options);
  if (rows == 0 || columns == 0)
    parts = std::make_shared<const PreparedData<R>>(side, Op::none, 0, 0, nullptr, 1, options);
  else
    parts = (side == Side::left ? left_parts<R> : right_parts<R>)(op, rows, columns, X, ldx, options);
  engine = parts->engine;
  moduli = parts->moduli;
  bytes = parts->bytes;
}

namespace {

// Without the operands.
template <class R>
struct ComplexCall : ComplexProblem<R> {
  const Options& options;

  bool real_factors() const { return this->alpha.imag() == 0 && this->beta.imag() == 0; }
  int threads() const { return usable_threads(options.threads); }
};

// With op(A) prepared, both parts of an entry of T are rows side by side, as in C.
template <class R>
PreparedReport with_left(const PreparedFactors<R>& factors, const ComplexCall<R>& call) {
  const auto [m, n, k] = call.shape();
  const ProductShape real{2 * m, n, 2 * k};
  if (call.real_factors())
    return prepared_product<R>(factors, real, call.alpha.real(), call.beta.real(), reinterpret_cast<R*>(call.c),
                               2 * call.ldc, call.options);
  const Workspace memory(size_product({m, n}) * sizeof(std::complex<R>));
  auto* t = reinterpret_cast<std::complex<R>*>(memory.data());
  const PreparedReport report =
      prepared_product<R>(factors, real, R{1}, R{0}, reinterpret_cast<R*>(t), 2 * m, call.options);
  update<R>(call, call.threads(), [&, rows = m](auto i, auto j) { return t[i + j * rows]; });
  return report;
}

// With op(B) alone, they are columns apart.
template <class R>
PreparedReport with_right(Op opa, const std::complex<R>* a, std::int64_t lda, const PreparedData<R>& b,
                          const ComplexCall<R>& call) {
  const auto [m, n, k] = call.shape();
  const std::int64_t columns = second_half(n) + n;
  const Workspace memory((size_product({m, 2 * k}) + size_product({m, columns})) * sizeof(R));
  R *parts = reinterpret_cast<R*>(memory.data()), *t = parts + 2 * m * k;
#pragma omp parallel for schedule(static) num_threads(call.threads())
  for (std::int64_t l = 0; l < call.k; ++l)
    for (std::int64_t i = 0; i < call.m; ++i) {
      const std::complex<R> z = entry(opa, a, lda, i, l);
      parts[i + 2 * l * call.m] = z.real();
      parts[i + (2 * l + 1) * call.m] = -z.imag();
    }
  const PreparedReport report = prepared_product<R>({{nullptr, &b}, {rows_of(Op::none, parts, m, 2 * k, m)}},
                                                    {m, columns, 2 * k}, R{1}, R{0}, t, m, call.options);
  const std::int64_t second = m * second_half(n), rows = m;
  update<R>(call, call.threads(), [&](auto i, auto j) {
    return std::complex<R>{t[i + j * rows], t[i + j * rows + second]};
  });
  return report;
}

// The report is told as that of complex matrices.
template <class R, class Product>
PreparedReport told(const ComplexCall<R>& call, bool a_is_there, bool b_is_there, const Product& product) {
  return product_or_update(call, {a_is_there, b_is_there}, call.options, [&](PreparedReport& report) {
    report = product();
    relabel(report.plan, call.m, call.n, call.k);
  });
}

// A caller's B for a prepared A: (Re; Im) of an element in rows side by side, as complex numbers lie by columns.
template <class R>
PreparedReport with_left_alone(const PreparedData<R>& a, Op opb, const std::complex<R>* b, std::int64_t ldb,
                               const ComplexCall<R>& call) {
  const auto [m, n, k] = call.shape();
  if (opb == Op::none)
    return with_left<R>({{&a}, {{}, columns_of(Op::none, reinterpret_cast<const R*>(b), n, 2 * k, 2 * ldb)}}, call);
  const Workspace memory(size_product({n, 2 * k}) * sizeof(R));
  R* parts = reinterpret_cast<R*>(memory.data());
  part_columns(b, n, k, ldb, opb == Op::conjugate_transpose, parts, call.threads());
  return with_left<R>({{&a}, {{}, columns_of(Op::transpose, parts, n, 2 * k, n)}}, call);
}

}  // namespace

template <class T>
PreparedReport gemm(const PreparedOperand<T>& A, Op opb, std::int64_t m, std::int64_t n, std::int64_t k,
                    Scalar<T> alpha, const T* B, std::int64_t ldb, Scalar<T> beta, T* C, std::int64_t ldc,
                    const Options& options) {
  check_left_product(A, opb, m, n, k, ldb, ldc, options);
  const ComplexCall<RealType<T>> call{{.m = m, .n = n, .k = k, .alpha = alpha, .beta = beta, .c = C, .ldc = ldc},
                                      options};
  return told(call, true, B != nullptr, [&] { return with_left_alone(*A.data().parts, opb, B, ldb, call); });
}

template <class T>
PreparedReport gemm(Op opa, const PreparedOperand<T>& B, std::int64_t m, std::int64_t n, std::int64_t k,
                    Scalar<T> alpha, const T* A, std::int64_t lda, Scalar<T> beta, T* C, std::int64_t ldc,
                    const Options& options) {
  check_right_product(opa, B, m, n, k, lda, ldc, options);
  const ComplexCall<RealType<T>> call{{.m = m, .n = n, .k = k, .alpha = alpha, .beta = beta, .c = C, .ldc = ldc},
                                      options};
  return told(call, A != nullptr, true, [&] { return with_right(opa, A, lda, *B.data().parts, call); });
}

template <class T>
PreparedReport gemm(const PreparedOperand<T>& A, const PreparedOperand<T>& B, std::int64_t m, std::int64_t n,
                    std::int64_t k, Scalar<T> alpha, Scalar<T> beta, T* C, std::int64_t ldc, const Options& options) {
  check_prepared_product(A, B, m, n, k, ldc, options);
  const ComplexCall<RealType<T>> call{{.m = m, .n = n, .k = k, .alpha = alpha, .beta = beta, .c = C, .ldc = ldc},
                                      options};
  return told(call, true, true, [&] {
    return with_left<RealType<T>>({{A.data().parts.get(), B.data().parts.get()}, {}}, call);
  });
}

#define VERNIER_INSTANTIATE(T)       \
  template class PreparedOperand<T>; \
  VERNIER_PREPARED_PRODUCTS(T, T)
VERNIER_INSTANTIATE(std::complex<float>)
VERNIER_INSTANTIATE(std::complex<double>)
#undef VERNIER_INSTANTIATE

}  // namespace vernier
