#include "beyond.hpp"

#include <nanobind/stl/string.h>

#include <complex>
#include <string>
#include <vernier/quad.hpp>
#include <vernier/verified.hpp>

#include "gil.hpp"
#include "matmul.hpp"
#include "multiply.hpp"
#include "pickled.hpp"

namespace vernier::python {
namespace {

using Complex = std::complex<double>;

// A matrix of double or complex numbers; or of dd, as an array with one dimension more for hi and lo, and of complex dd
// with two: part of the number, hi or lo. Those lie by rows, without gaps.
struct Numbers {
  Array array;
  Matrix matrix;
  std::int64_t rows = 0, columns = 0;
  bool dd = false, complex = false;

  Numbers(nb::handle x, bool is_dd) : dd(is_dd) {
    const bool known = describe(x, array) && array.regular;
    complex = known && (dd ? array.dimensions == 4 : array.kind == Kind::complex128);
    const int expected = dd ? (complex ? 4 : 3) : 2;
    const Kind kind = complex && !dd ? Kind::complex128 : Kind::float64;
    if (!known || array.kind != kind || array.dimensions != expected)
      throw nb::type_error("expected a matrix of float64, of complex128, or of hi and lo");
    rows = array.shape[0], columns = array.shape[1];
    if (dd)
      matrix = {array.data, true, std::max<std::int64_t>(1, columns)};
    else if (!as_matrix(array.data, array.shape, array.strides, matrix))
      throw nb::value_error("expected a matrix by rows or by columns");
  }
  Op op() const { return matrix.by_rows ? Op::none : Op::transpose; }  // as a factor of a product by rows
  template <class T>
  T* data() const {
    return static_cast<T*>(matrix.data);
  }
};

struct Machine {
  std::string engine;
  int threads = 0;
};

// C = A B by rows, which is C^T = B^T A^T by columns.
template <class TA, class TB, class TC>
QuadReport multiplied(const Numbers& a, const Numbers& b, const Numbers& c, const QuadOptions& options) {
  const auto* A = a.data<const TA>();
  const auto* B = b.data<const TB>();
  auto* C = c.data<TC>();
  const std::int64_t m = c.rows, n = c.columns, k = a.columns;
  if (a.array.device == on_cpu)
    return quad_gemm<TB, TA, TC>(b.op(), a.op(), n, m, k, 1, B, b.matrix.leading, A, a.matrix.leading, 0, C,
                                 c.matrix.leading, options);
  return cuda::quad_gemm<TB, TA, TC>(b.op(), a.op(), n, m, k, 1, B, b.matrix.leading, A, a.matrix.leading, 0, C,
                                     c.matrix.leading, options);
}

nb::object quad_matmul(nb::handle left, nb::handle right, nb::handle result, bool left_dd, bool right_dd,
                       const std::string& contract, const Machine& machine) {
  const Numbers a(left, left_dd), b(right, right_dd), c(result, true);
  QuadOptions options{.contract = QuadContract::parse(contract), .engine = machine.engine, .threads = machine.threads};
  options.stream = stream_of(a.array);
  const auto run = [&] {
    const WithoutGil others_may_run;
    if (a.complex) {
      if (a.dd) return multiplied<complex_dd, complex_dd, complex_dd>(a, b, c, options);
      return multiplied<Complex, Complex, complex_dd>(a, b, c, options);
    }
    if (a.dd && b.dd) return multiplied<dd, dd, dd>(a, b, c, options);
    if (a.dd) return multiplied<dd, double, dd>(a, b, c, options);
    if (b.dd) return multiplied<double, dd, dd>(a, b, c, options);
    return multiplied<double, double, dd>(a, b, c, options);
  };
  const nb::object report = nb::cast(run());
  note(report);
  return report;
}

// By columns: what Python hands over by rows is the transpose.
QuadSolveReport quad_solve_system(nb::handle matrix, nb::handle right, nb::handle solution, bool matrix_dd,
                                  bool right_dd, int threads, bool verified) {
  const Numbers a(matrix, matrix_dd), b(right, right_dd), x(solution, true);
  if (a.array.device != on_cpu || a.complex || b.complex)
    throw nb::type_error("solve: a real matrix on the CPU is expected");
  const QuadOptions options{.threads = threads, .verified = verified};
  const std::int64_t n = a.rows, nrhs = b.rows;
  const auto with = [&](const auto* A, const auto* B) {
    return quad_solve(n, nrhs, A, a.matrix.leading, B, b.matrix.leading, x.data<dd>(), x.matrix.leading, options);
  };
  const WithoutGil others_may_run;
  if (a.dd) return with(a.data<const dd>(), b.data<const dd>());
  return b.dd ? with(a.data<const double>(), b.data<const dd>()) : with(a.data<const double>(), b.data<const double>());
}

// The ends or the midpoints and radii of a factor, by rows both.
struct Pair {
  Numbers first;
  const double* second = nullptr;  // radii, or the other ends

  Pair(nb::handle x, nb::handle y, bool ends) : first(x, false) {
    if (y.is_none()) return;
    const Numbers other(y, false);
    if (other.complex != (ends && first.complex) || other.rows != first.rows || other.columns != first.columns ||
        !other.matrix.by_rows || !first.matrix.by_rows || other.matrix.leading != first.matrix.leading ||
        other.array.device != first.array.device)
      throw nb::value_error("expected two matrices of one shape by rows");
    second = other.data<const double>();
  }
};

template <class T>
void intervals(const Pair& a, const Pair& b, const Pair& c, bool ends, const Machine& machine, void* stream) {
  const std::int64_t m = c.first.rows, n = c.first.columns, k = a.first.columns;
  const Op opa = a.first.op(), opb = b.first.op();
  const std::int64_t lda = a.first.matrix.leading, ldb = b.first.matrix.leading, ldc = c.first.matrix.leading;
  const auto *A = a.first.data<const T>(), *B = b.first.data<const T>();
  T* C = c.first.data<T>();
  auto* radii = const_cast<double*>(c.second);
  const auto end = [](const double* x) { return reinterpret_cast<const T*>(x); };
  const auto other = reinterpret_cast<T*>(radii);
  if (a.first.array.device == on_cpu) {
    const vernier::Options options{.engine = machine.engine, .threads = machine.threads};
    if (ends)
      interval_gemm_ends(opb, opa, n, m, k, B, end(b.second), ldb, A, end(a.second), lda, C, other, ldc, options);
    else
      interval_gemm(opb, opa, n, m, k, B, b.second, ldb, A, a.second, lda, C, radii, ldc, options);
    return;
  }
  const cuda::Options options{.engine = machine.engine, .stream = stream};
  if (ends)
    cuda::interval_gemm_ends<T>(opb, opa, n, m, k, B, end(b.second), ldb, A, end(a.second), lda, C, other, ldc,
                                options);
  else
    cuda::interval_gemm<T>(opb, opa, n, m, k, B, b.second, ldb, A, a.second, lda, C, radii, ldc, options);
}

void interval_matmul(nb::handle a, nb::handle other_a, nb::handle b, nb::handle other_b, nb::handle c,
                     nb::handle other_c, bool ends, const Machine& machine) {
  const Pair left(a, other_a, ends), right(b, other_b, ends), result(c, other_c, ends);
  void* stream = stream_of(left.first.array);
  const WithoutGil others_may_run;
  if (left.first.complex)
    intervals<Complex>(left, right, result, ends, machine, stream);
  else
    intervals<double>(left, right, result, ends, machine, stream);
}

// By columns, as quad_solve_system.
VerifiedReport verified_system(nb::handle matrix, nb::handle right, nb::handle low, nb::handle high, int threads) {
  const Numbers a(matrix, false), b(right, false), x(low, false), y(high, false);
  const auto solve = [&](const auto& options, auto&& routine) {
    const WithoutGil others_may_run;
    return routine(a.rows, b.rows, a.data<const double>(), a.matrix.leading, b.data<const double>(), b.matrix.leading,
                   x.data<double>(), y.data<double>(), x.matrix.leading, options);
  };
  if (a.array.device == on_cpu)
    return solve(vernier::Options{.threads = threads},
                 [](const auto&... arguments) { return verified_solve(arguments...); });
  return solve(cuda::Options{.stream = stream_of(a.array)},
               [](const auto&... arguments) { return cuda::verified_solve(arguments...); });
}

Numbers real_matrix(nb::handle x) {
  Numbers a(x, false);
  if (a.complex) throw nb::type_error("a real matrix is expected");
  return a;
}

// routine(options), whose type tells CPU and GPU apart, without Python's lock.
template <class Routine>
VerifiedReport where_it_lies(const Numbers& a, int threads, const Routine& routine) {
  void* const stream = stream_of(a.array);
  const WithoutGil others_may_run;
  if (a.array.device == on_cpu) return routine(vernier::Options{.threads = threads});
  return routine(cuda::Options{.stream = stream});
}

VerifiedReport inverse_of(nb::handle matrix, nb::handle low, nb::handle high, int threads) {
  const Numbers a = real_matrix(matrix), x(low, false), y(high, false);
  return where_it_lies(a, threads, [&](const auto& options) {
    return verified_inverse(a.rows, a.data<const double>(), a.matrix.leading, x.data<double>(), y.data<double>(),
                            x.matrix.leading, options);
  });
}

nb::object determinant_of(nb::handle matrix, int threads) {
  const Numbers a = real_matrix(matrix);
  DeterminantInterval d;
  const VerifiedReport report = where_it_lies(a, threads, [&](const auto& options) {
    return verified_determinant(a.rows, a.data<const double>(), a.matrix.leading, d, options);
  });
  return nb::make_tuple(d.low, d.high, d.exponent, report);
}

nb::object definite_bound(nb::handle matrix, int threads) {
  const Numbers a = real_matrix(matrix);
  double bound = 0;
  const VerifiedReport report = where_it_lies(a, threads, [&](const auto& options) {
    return verified_definite(a.rows, a.data<const double>(), a.matrix.leading, bound, options);
  });
  return nb::make_tuple(bound, report);
}

void bind_reports(nb::module_& m) {
  nb::class_<QuadReport> product(m, "QuadReport", "What was done for one product beyond double.");
  product.def_ro("contract", &QuadReport::contract)
      .def_ro("engine", &QuadReport::engine)
      .def_ro("moduli", &QuadReport::moduli)
      .def_ro("integers", &QuadReport::integers, "exact until its one rounding")
      .def_ro("summed", &QuadReport::summed, "entries whose products were added exactly")
      .def_ro("seconds", &QuadReport::seconds)
      .def("json", &QuadReport::json, "One JSON object with all fields.")
      .def("__repr__", &QuadReport::text);
  pickled_by<&QuadReport::type, &QuadReport::contract, &QuadReport::engine, &QuadReport::m, &QuadReport::n,
             &QuadReport::k, &QuadReport::threads, &QuadReport::moduli, &QuadReport::bits_a, &QuadReport::bits_b,
             &QuadReport::integers, &QuadReport::looked_at, &QuadReport::summed, &QuadReport::seconds>(product);
  nb::class_<QuadSolveReport> solution(m, "QuadSolveReport",
                                       "What was done for a linear system in dd, and how good x is.");
  solution.def_ro("ok", &QuadSolveReport::ok)
      .def_ro("reason", &QuadSolveReport::reason)
      .def_ro("factors", &QuadSolveReport::factors, "'fp64' or 'dd'")
      .def_ro("info", &QuadSolveReport::info, "i > 0: the i-th pivot is zero")
      .def_ro("tolerance", &QuadSolveReport::tolerance)
      .def_ro("backward_error", &QuadSolveReport::backward_error, "an upper bound")
      .def_ro("forward_error", &QuadSolveReport::forward_error, "an estimate; an upper bound if verified")
      .def_ro("verified", &QuadSolveReport::verified)
      .def_ro("seconds", &QuadSolveReport::seconds)
      .def("json", &QuadSolveReport::json, "One JSON object with all fields.")
      .def("__repr__", &QuadSolveReport::text);
  pickled_by<&QuadSolveReport::ok, &QuadSolveReport::reason, &QuadSolveReport::factors, &QuadSolveReport::n,
             &QuadSolveReport::nrhs, &QuadSolveReport::info, &QuadSolveReport::corrections, &QuadSolveReport::tolerance,
             &QuadSolveReport::backward_error, &QuadSolveReport::forward_error, &QuadSolveReport::verified,
             &QuadSolveReport::seconds>(solution);
  nb::class_<VerifiedReport> proof(m, "VerifiedReport", "Was a proof found, and how close was it?");
  proof.def_ro("verified", &VerifiedReport::verified)
      .def_ro("reason", &VerifiedReport::reason, "why not")
      .def_ro("contraction", &VerifiedReport::contraction, "below 1 it proves that the matrix is regular")
      .def_ro("seconds", &VerifiedReport::seconds)
      .def("json", &VerifiedReport::json, "One JSON object with all fields.")
      .def("__repr__", &VerifiedReport::text);
  pickled_by<&VerifiedReport::verified, &VerifiedReport::routine, &VerifiedReport::reason, &VerifiedReport::n,
             &VerifiedReport::nrhs, &VerifiedReport::contraction, &VerifiedReport::seconds>(proof);
}

}  // namespace

void bind_beyond(nb::module_& m) {
  bind_reports(m);
  m.def(
      "quad_matmul",
      [](nb::handle a, nb::handle b, nb::handle c, bool a_dd, bool b_dd, const std::string& contract,
         const std::string& engine, int threads) {
        return quad_matmul(a, b, c, a_dd, b_dd, contract, {engine, threads});
      },
      nb::arg("a"), nb::arg("b"), nb::arg("c"), nb::arg("a_dd"), nb::arg("b_dd"), nb::arg("contract"),
      nb::arg("engine"), nb::arg("threads"));
  m.def("quad_solve", &quad_solve_system, nb::arg("a"), nb::arg("b"), nb::arg("x"), nb::arg("a_dd"), nb::arg("b_dd"),
        nb::arg("threads"), nb::arg("verified"));
  m.def(
      "interval_matmul",
      [](nb::handle a, nb::handle other_a, nb::handle b, nb::handle other_b, nb::handle c, nb::handle other_c,
         bool ends, const std::string& engine, int threads) {
        interval_matmul(a, other_a, b, other_b, c, other_c, ends, {engine, threads});
      },
      nb::arg("a"), nb::arg("other_a").none(), nb::arg("b"), nb::arg("other_b").none(), nb::arg("c"),
      nb::arg("other_c"), nb::arg("ends"), nb::arg("engine"), nb::arg("threads"));
  m.def("verified_solve", &verified_system, nb::arg("a"), nb::arg("b"), nb::arg("low"), nb::arg("high"),
        nb::arg("threads"));
  m.def("verified_inverse", &inverse_of, nb::arg("a"), nb::arg("low"), nb::arg("high"), nb::arg("threads"));
  m.def("verified_determinant", &determinant_of, nb::arg("a"), nb::arg("threads"));
  m.def("verified_definite", &definite_bound, nb::arg("a"), nb::arg("threads"));
}

}  // namespace vernier::python
