// The Python module vernier._vernier: products of two matrices that lie in the memory of the CPU.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <exception>
#include <string>
#include <vernier/vernier.hpp>

namespace nb = nanobind;

namespace {

using Input = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;
using Output = nb::ndarray<nb::ndim<2>, nb::device::cpu>;

// A matrix as the column-major gemm sees it: where rows are contiguous, memory holds the transpose.
struct Layout {
  bool by_rows;
  std::int64_t leading;
};

template <class Array>
Layout layout_of(const Array& x, const char* name) {
  const auto rows = static_cast<std::int64_t>(x.shape(0)), columns = static_cast<std::int64_t>(x.shape(1));
  const auto fits = [](std::int64_t inner, std::int64_t inner_stride, std::int64_t outer, std::int64_t outer_stride) {
    return (inner <= 1 || inner_stride == 1) && (outer <= 1 || outer_stride >= std::max<std::int64_t>(1, inner));
  };
  const auto leading = [](std::int64_t inner, std::int64_t outer, std::int64_t stride) {
    return outer <= 1 ? std::max<std::int64_t>(1, inner) : stride;
  };
  if (rows == 0 || columns == 0) return {true, std::max<std::int64_t>(1, columns)};  // strides say nothing then
  if (fits(columns, x.stride(1), rows, x.stride(0))) return {true, leading(columns, rows, x.stride(0))};
  if (fits(rows, x.stride(0), columns, x.stride(1))) return {false, leading(rows, columns, x.stride(1))};
  throw nb::value_error((std::string(name) + " has strides that no leading dimension describes").c_str());
}

// C = A B for C by columns; C^T = B^T A^T for C by rows, which swaps the operands and leaves each op what it says.
template <class T>
vernier::Report run(const Input& a, const Input& b, const Output& c, const vernier::Options& options) {
  const Layout of_a = layout_of(a, "a"), of_b = layout_of(b, "b"), of_c = layout_of(c, "out");
  const auto m = static_cast<std::int64_t>(a.shape(0)), k = static_cast<std::int64_t>(a.shape(1));
  const auto n = static_cast<std::int64_t>(b.shape(1));
  const auto* A = static_cast<const T*>(a.data());
  const auto* B = static_cast<const T*>(b.data());
  auto* C = static_cast<T*>(c.data());
  const auto op = [&](const Layout& x) {
    return x.by_rows == of_c.by_rows ? vernier::Op::none : vernier::Op::transpose;
  };
  const nb::gil_scoped_release others_may_run;
  if (of_c.by_rows)
    return vernier::gemm<T>(op(of_b), op(of_a), n, m, k, T(1), B, of_b.leading, A, of_a.leading, T(0), C, of_c.leading,
                            options);
  return vernier::gemm<T>(op(of_a), op(of_b), m, n, k, T(1), A, of_a.leading, B, of_b.leading, T(0), C, of_c.leading,
                          options);
}

void check_shapes(const Input& a, const Input& b, const Output& c) {
  if (a.dtype() != b.dtype() || a.dtype() != c.dtype()) throw nb::type_error("a, b and out must have one dtype");
  if (a.shape(1) != b.shape(0) || c.shape(0) != a.shape(0) || c.shape(1) != b.shape(1))
    throw nb::value_error("the shapes of a, b and out do not fit");
}

vernier::Report product(const Input& a, const Input& b, const Output& c, const std::string& contract,
                        const std::string& engine, int threads) {
  check_shapes(a, b, c);
  vernier::Options options{.engine = engine, .threads = threads};
  const bool single = a.dtype() == nb::dtype<float>() || a.dtype() == nb::dtype<std::complex<float>>();
  if (!contract.empty())
    options.contract = vernier::Contract::parse(contract);
  else
    options.contract = single ? vernier::Contract::fp32() : vernier::Contract::fp64();
  if (a.dtype() == nb::dtype<float>()) return run<float>(a, b, c, options);
  if (a.dtype() == nb::dtype<double>()) return run<double>(a, b, c, options);
  if (a.dtype() == nb::dtype<std::complex<float>>()) return run<std::complex<float>>(a, b, c, options);
  if (a.dtype() == nb::dtype<std::complex<double>>()) return run<std::complex<double>>(a, b, c, options);
  throw nb::type_error("dtype must be float32, float64, complex64 or complex128");
}

void translate(const std::exception_ptr& thrown, void* bound_not_met) {
  try {
    std::rethrow_exception(thrown);
  } catch (const vernier::Error& error) {
    PyObject* type = PyExc_RuntimeError;
    if (error.status() == vernier::Status::bound_not_met) type = static_cast<PyObject*>(bound_not_met);
    if (error.status() == vernier::Status::out_of_memory) type = PyExc_MemoryError;
    if (error.status() == vernier::Status::invalid_argument || error.status() == vernier::Status::unsupported)
      type = PyExc_ValueError;
    PyErr_SetString(type, error.what());
  }
}

}  // namespace

NB_MODULE(_vernier, m) {
  PyObject* bound_not_met = PyErr_NewExceptionWithDoc(
      "vernier.BoundNotMet", "The data ask for more than the scheme can hold, and the contract forbids a fallback.",
      PyExc_ArithmeticError, nullptr);
  m.attr("BoundNotMet") = nb::steal(bound_not_met);
  nb::register_exception_translator(translate, bound_not_met);

  nb::class_<vernier::Report>(m, "Report", "What was done for one product.")
      .def_prop_ro("scheme", [](const vernier::Report& r) { return r.plan.scheme; })
      .def_prop_ro("engine", [](const vernier::Report& r) { return r.plan.engine; })
      .def_prop_ro("reason", [](const vernier::Report& r) { return r.plan.reason; })
      .def_prop_ro("contract", [](const vernier::Report& r) { return r.plan.contract.text(); })
      .def_prop_ro("log2_bound", [](const vernier::Report& r) { return r.plan.log2_bound; })
      .def_ro("fallback", &vernier::Report::fallback)
      .def_ro("seconds", &vernier::Report::seconds)
      .def("json", &vernier::Report::json, "One JSON object with all fields.")
      .def("__repr__", &vernier::Report::text);

  m.def("product", &product, nb::arg("a"), nb::arg("b"), nb::arg("c"), nb::arg("contract"), nb::arg("engine"),
        nb::arg("threads"));
  m.def("version", [] { return std::string(vernier::version()); });
}
