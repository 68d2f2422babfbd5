#include "lapack.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <complex>
#include <type_traits>
#include <vernier/cuda_lapack.hpp>
#include <vernier/lapack.hpp>

#include "gil.hpp"
#include "multiply.hpp"
#include "pickled.hpp"

namespace vernier::python {
namespace {

// A matrix, or a vector as a matrix of one column. Complex ones lie on the CPU: GPUs have no complex factorisations.
struct Operand {
  Array array;
  Matrix matrix;
  std::int64_t rows = 0, columns = 1;

  explicit Operand(nb::handle x) {
    if (!describe(x, array) || array.dimensions < 1 || array.dimensions > 2)
      throw nb::type_error("expected a matrix or vector of float32, float64, complex64 or complex128");
    if (is_complex(array.kind) && array.device != on_cpu)
      throw nb::type_error("a complex matrix on a GPU: complex systems are solved on the CPU; copy it there");
    rows = array.shape[0], columns = array.dimensions == 2 ? array.shape[1] : 1;
    const std::int64_t shape[] = {rows, columns};
    const std::int64_t strides[] = {array.strides[0], array.dimensions == 2 ? array.strides[1] : rows};
    if (!array.regular || !as_matrix(array.data, shape, strides, matrix))
      throw nb::value_error("expected a matrix by rows or by columns");
    if (matrix.by_rows && (rows <= 1 || columns <= 1)) {  // either way then, if columns follow one another
      if (rows == 0 || columns == 0 || (columns == 1 && (rows == 1 || array.strides[0] == 1)))
        matrix = {array.data, false, std::max<std::int64_t>(1, rows)};
      if (rows <= 1 && columns > 1 && array.strides[1] == 1) matrix = {array.data, false, 1};
    }
  }
  template <class T>
  T* data() const {
    return static_cast<T*>(matrix.data);
  }
  void by_columns(const char* name) const {
    if (matrix.by_rows) throw nb::value_error((std::string(name) + " must lie by columns").c_str());
  }
};

std::int64_t* pivots_at(std::uintptr_t address) { return reinterpret_cast<std::int64_t*>(address); }

Request request_of(const Operand& a, const std::string& contract) {
  Request request{.contract = contract_of(contract, a.array.kind)};
  request.stream = stream_of(a.array);
  return request;
}
vernier::Options on_cpu_with(const Request& r) { return {.contract = r.contract}; }
cuda::Options on_gpu_with(const Request& r) { return {.contract = r.contract, .stream = r.stream}; }

// f(T{}, options), options of a CPU or a GPU.
template <class F>
auto dispatch(const Operand& a, const std::string& contract, F&& f) {
  const Request request = request_of(a, contract);
  const WithoutGil others_may_run;
  return with_type(a.array.kind, [&](auto zero) {
    if constexpr (std::is_floating_point_v<decltype(zero)>)  // complex ones lie on the CPU
      if (a.array.device != on_cpu) return f(zero, on_gpu_with(request));
    return f(zero, on_cpu_with(request));
  });
}

std::int64_t factor_lu(nb::handle matrix, std::uintptr_t pivots, const std::string& contract) {
  const Operand a(matrix);
  a.by_columns("a");
  return dispatch(a, contract, [&](auto zero, const auto& options) {
    using T = decltype(zero);
    return getrf<T>(a.rows, a.columns, a.data<T>(), a.matrix.leading, pivots_at(pivots), options);
  });
}

void solve_lu(nb::handle factors, std::uintptr_t pivots, nb::handle right, bool transposed,
              const std::string& contract) {
  const Operand a(factors), b(right);
  a.by_columns("factors"), b.by_columns("b");
  dispatch(a, contract, [&](auto zero, const auto& options) {
    using T = decltype(zero);
    getrs<T>(transposed ? Op::transpose : Op::none, a.rows, b.columns, a.data<T>(), a.matrix.leading, pivots_at(pivots),
             b.data<T>(), b.matrix.leading, options);
    return 0;
  });
}

std::int64_t factor_cholesky(nb::handle matrix, const std::string& contract) {
  const Operand a(matrix);
  a.by_columns("a");
  return dispatch(a, contract, [&](auto zero, const auto& options) {
    using T = decltype(zero);
    return potrf<T>(Uplo::lower, a.rows, a.data<T>(), a.matrix.leading, options);
  });
}

void solve_cholesky(nb::handle factor, nb::handle right, const std::string& contract) {
  const Operand a(factor), b(right);
  a.by_columns("factor"), b.by_columns("b");
  dispatch(a, contract, [&](auto zero, const auto& options) {
    using T = decltype(zero);
    potrs<T>(Uplo::lower, a.rows, b.columns, a.data<T>(), a.matrix.leading, b.data<T>(), b.matrix.leading, options);
    return 0;
  });
}

template <class E, std::size_t count>
E by_name(const char* what, const std::string& text, const E (&all)[count]) {
  std::string names;
  for (const E value : all) {
    if (text == to_string(value)) return value;
    names += (names.empty() ? "" : ", ") + std::string(to_string(value));
  }
  throw nb::value_error((std::string(what) + " is '" + text + "'; expected one of " + names).c_str());
}

SolveOptions options_of(const std::string& factors, const std::string& refinement, double tolerance, bool condition,
                        bool forward_error, bool componentwise_error, const std::string& contract, Kind kind) {
  SolveOptions options{.tolerance = tolerance,
                       .condition = condition,
                       .componentwise_error = componentwise_error,
                       .forward_error = forward_error};
  constexpr Factors all[] = {Factors::automatic, Factors::bf16, Factors::fp16, Factors::fp32, Factors::fp64};
  constexpr Refinement ways[] = {Refinement::automatic, Refinement::classical, Refinement::gmres};
  options.factors = by_name("factors", factors, all);
  options.refinement = by_name("refinement", refinement, ways);
  if (!contract.empty()) options.contract = contract_of(contract, kind);
  return options;
}

SolveReport solve_system(nb::handle matrix, nb::handle right, nb::handle solution, const SolveOptions& options) {
  const Operand a(matrix), b(right), x(solution);
  b.by_columns("b"), x.by_columns("x");
  void* stream = stream_of(a.array);
  const Op op = a.matrix.by_rows ? Op::transpose : Op::none;
  const WithoutGil others_may_run;
  return with_type(a.array.kind, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_floating_point_v<T>)
      if (a.array.device != on_cpu)
        return cuda::solve<T>(op, a.rows, b.columns, a.data<T>(), a.matrix.leading, b.data<T>(), b.matrix.leading,
                              x.data<T>(), x.matrix.leading, options, stream);
    return solve<T>(op, a.rows, b.columns, a.data<T>(), a.matrix.leading, b.data<T>(), b.matrix.leading, x.data<T>(),
                    x.matrix.leading, options);
  });
}

// Of an answer whose backward errors were measured outside of the library.
SolveReport certificate_of(const std::vector<double>& errors, const std::string& dtype, std::int64_t n) {
  const bool single = dtype == "float32" || dtype == "complex64";
  SolveReport report;
  report.type = std::string(dtype[0] == 'c' ? "complex " : "") + (single ? "float" : "double");
  report.n = n, report.nrhs = static_cast<std::int64_t>(errors.size());
  report.factors = single ? Factors::fp32 : Factors::fp64;
  report.tolerance = std::max(4.0, std::sqrt(static_cast<double>(n))) * (single ? 0x1p-24 : 0x1p-53);
  for (const double error : errors) {
    const bool ok = error <= report.tolerance;
    report.columns.push_back(
        {.backward_error = error, .componentwise_error = -1, .forward_error = -1, .corrections = 0, .ok = ok});
    if (!ok) report.verdict = Verdict::above_tolerance;
  }
  return report;
}

void bind_certificate(nb::module_& m) {
  nb::class_<SolveColumn> column(m, "SolveColumn", "What is known of the solution for one right-hand side.");
  column.def_ro("backward_error", &SolveColumn::backward_error, "max |b - A x| / (|A| max |x| + max |b|), measured")
      .def_ro("componentwise_error", &SolveColumn::componentwise_error, "-1: not asked for")
      .def_ro("forward_error", &SolveColumn::forward_error, "an estimate; -1: not asked for")
      .def_ro("corrections", &SolveColumn::corrections)
      .def_ro("gmres_steps", &SolveColumn::gmres_steps)
      .def_ro("ok", &SolveColumn::ok);
  pickled_by<&SolveColumn::backward_error, &SolveColumn::componentwise_error, &SolveColumn::forward_error,
             &SolveColumn::corrections, &SolveColumn::gmres_steps, &SolveColumn::ok>(column);
  nb::class_<SolveReport> report(m, "Certificate", "What was done for a linear system, and how good the solution is.");
  report
      .def_prop_ro(
          "verdict", [](const SolveReport& r) { return to_string(r.verdict); }, "'ok', 'above tolerance', ...")
      .def_prop_ro("ok", [](const SolveReport& r) { return r.verdict == Verdict::ok; })
      .def_prop_ro("factors", [](const SolveReport& r) { return to_string(r.factors); })
      .def_prop_ro("backward_error", &SolveReport::largest_backward_error, "the largest of all columns")
      .def_ro("tolerance", &SolveReport::tolerance)
      .def_ro("condition", &SolveReport::condition, "an estimate; 0: none was needed")
      .def_ro("info", &SolveReport::info, "i > 0: the i-th pivot is zero")
      .def_ro("columns", &SolveReport::columns)
      .def_ro("gmres", &SolveReport::gmres)
      .def_ro("fallback", &SolveReport::fallback)
      .def_ro("reason", &SolveReport::reason)
      .def_ro("seconds", &SolveReport::seconds)
      .def("json", &SolveReport::json, "One JSON object with all fields.")
      .def("__repr__", &SolveReport::text);
  pickled_by<&SolveReport::verdict, &SolveReport::info, &SolveReport::type, &SolveReport::n, &SolveReport::nrhs,
             &SolveReport::factors, &SolveReport::gmres, &SolveReport::equilibrated, &SolveReport::fallback,
             &SolveReport::reason, &SolveReport::tolerance, &SolveReport::condition, &SolveReport::columns,
             &SolveReport::seconds, &SolveReport::seconds_factor, &SolveReport::seconds_refine>(report);
}

}  // namespace

void bind_lapack(nb::module_& m) {
  bind_certificate(m);
  m.def("certificate", &certificate_of, nb::arg("errors"), nb::arg("dtype"), nb::arg("n"));
  m.def("factor_lu", &factor_lu, nb::arg("a"), nb::arg("pivots"), nb::arg("contract"));
  m.def("solve_lu", &solve_lu, nb::arg("factors"), nb::arg("pivots"), nb::arg("b"), nb::arg("transposed"),
        nb::arg("contract"));
  m.def("factor_cholesky", &factor_cholesky, nb::arg("a"), nb::arg("contract"));
  m.def("solve_cholesky", &solve_cholesky, nb::arg("factor"), nb::arg("b"), nb::arg("contract"));
  m.def(
      "solve",
      [](nb::handle a, nb::handle b, nb::handle x, const std::string& factors, const std::string& refinement,
         double tolerance, bool condition, bool forward_error, bool componentwise_error, const std::string& contract) {
        return solve_system(a, b, x,
                            options_of(factors, refinement, tolerance, condition, forward_error, componentwise_error,
                                       contract, Operand(a).array.kind));
      },
      nb::arg("a"), nb::arg("b"), nb::arg("x"), nb::arg("factors"), nb::arg("refinement"), nb::arg("tolerance"),
      nb::arg("condition"), nb::arg("forward_error"), nb::arg("componentwise_error"), nb::arg("contract"));
}

}  // namespace vernier::python
