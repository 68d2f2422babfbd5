// The Python module vernier._vernier. What people call is in the package; this is what it stands on.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <exception>
#include <string>
#include <vernier/cuda.hpp>
#include <vernier/vernier.hpp>

#include "beyond.hpp"
#include "jax_ffi.hpp"
#include "lapack.hpp"
#include "matmul.hpp"
#include "models.hpp"
#include "multiply.hpp"
#include "pickled.hpp"
#include "prepared.hpp"

namespace vernier::python {
namespace {

PyObject* bound_not_met = nullptr;

PyObject* type_of(const Error& error) {
  switch (error.status()) {
    case Status::bound_not_met:
      return bound_not_met;
    case Status::out_of_memory:
      return PyExc_MemoryError;
    case Status::invalid_argument:
    case Status::unsupported:
      return PyExc_ValueError;
    default:
      return PyExc_RuntimeError;
  }
}

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    PyErr_SetString(type_of(error), error.what());
  }
}

Kind kind_named(const std::string& dtype) {
  for (const Kind kind : {Kind::float32, Kind::float64, Kind::complex64, Kind::complex128})
    if (dtype == name_of(kind)) return kind;
  throw nb::type_error(("dtype is " + dtype + "; expected float32, float64, complex64 or complex128").c_str());
}

void bind_reports(nb::module_& m) {
  nb::class_<Plan> plan(m, "Plan", "Every decision about one product, before any work.");
  plan.def_ro("scheme", &Plan::scheme, "'residues', 'bf16x6', 'split', 'native' or 'none'")
      .def_ro("engine", &Plan::engine)
      .def_ro("reason", &Plan::reason)
      .def_ro("moduli", &Plan::moduli, "int8 products of an ordinary entry")
      .def_ro("log2_bound", &Plan::log2_bound)
      .def_ro("workspace", &Plan::workspace, "bytes")
      .def_prop_ro("contract", [](const Plan& p) { return p.contract.text(); })
      .def("json", &Plan::json, "One JSON object with all fields.")
      .def("__repr__", &Plan::text);
  pickled_by<&Plan::routine, &Plan::type, &Plan::m, &Plan::n, &Plan::k, &Plan::contract, &Plan::scheme, &Plan::engine,
             &Plan::reason, &Plan::threads, &Plan::moduli, &Plan::log2_modulus_product, &Plan::log2_bound,
             &Plan::k_block, &Plan::m_block, &Plan::n_block, &Plan::workspace>(plan);
  nb::class_<Report> report(m, "Report", "What was done for one product, or for a batch of them.");
  report.def_ro("plan", &Report::plan)
      .def_prop_ro("scheme", [](const Report& r) { return r.plan.scheme; })
      .def_prop_ro("engine", [](const Report& r) { return r.plan.engine; })
      .def_prop_ro("reason", [](const Report& r) { return r.plan.reason; })
      .def_prop_ro("contract", [](const Report& r) { return r.plan.contract.text(); })
      .def_prop_ro(
          "log2_bound", [](const Report& r) { return r.plan.log2_bound; },
          "log2 of the proven c in |T - AB| <= c |A||B|")
      .def_ro("fallback", &Report::fallback, "the conventional product was taken for the data's sake")
      .def_ro("native_k", &Report::native_k, "the least of k that native products of parts of C took; 0: all")
      .def_ro("seconds", &Report::seconds)
      .def("json", &Report::json, "One JSON object with all fields.")
      .def("__repr__", &Report::text);
  pickled_by<&Report::plan, &Report::wide_rows, &Report::wide_columns, &Report::wide_moduli, &Report::span_a,
             &Report::span_b, &Report::nonfinite_rows, &Report::nonfinite_columns, &Report::undecided,
             &Report::accumulated, &Report::bounded, &Report::fallback, &Report::native_k, &Report::seconds,
             &Report::seconds_statistics, &Report::seconds_residues, &Report::seconds_products,
             &Report::seconds_recombine, &Report::seconds_bound, &Report::seconds_undecided>(report);
}

nb::list listed(const std::vector<EngineInfo>& engines) {
  nb::list all;
  for (const auto& e : engines) all.append(nb::make_tuple(e.name, e.description, e.supported, e.missing));
  return all;
}

void bind_machine(nb::module_& m) {
  m.def("version", [] { return std::string(version()); });
  m.def("engines", [] { return listed(engines()); });
  m.def("part_engines", [] { return listed(part_engines()); });
  m.def("gpu_engines", [] { return listed(cuda::engines()); });
  m.def("default_engine", &default_engine);
  m.def("native_blas", &native_blas);
  m.def("cuda_compiled", &cuda_compiled);
  m.def("device_name", &cuda::device_name);
  m.def("release_workspace", &release_workspace);
  m.def(
      "explain",
      [](const std::string& dtype, bool on_gpu, std::int64_t rows, std::int64_t columns, std::int64_t inner,
         const std::string& contract, const std::string& engine, int threads) {
        const Kind kind = kind_named(dtype);
        return explain(kind, on_gpu, rows, columns, inner,
                       {.contract = contract_of(contract, kind), .engine = engine, .threads = threads});
      },
      nb::arg("dtype"), nb::arg("on_gpu"), nb::arg("m"), nb::arg("n"), nb::arg("k"), nb::arg("contract"),
      nb::arg("engine"), nb::arg("threads"));
}

}  // namespace

NB_MODULE(_vernier, m) {
  nb::set_leak_warnings(false);  // of reports that a program keeps to its end
  bound_not_met = PyErr_NewExceptionWithDoc(
      "vernier.BoundNotMet", "The data ask for more than the scheme can hold, and the contract forbids a fallback.",
      PyExc_ArithmeticError, nullptr);
  m.attr("BoundNotMet") = nb::borrow(bound_not_met);
  nb::register_exception_translator(translate, nullptr);
  bind_reports(m);
  bind_machine(m);
  bind_lapack(m);
  bind_beyond(m);
  bind_prepared(m);
  bind_models(m);
  bind_jax(m);
  m.def("matmul", &matmul, nb::arg("a").none(), nb::arg("b").none(), nb::arg("contract").none(), nb::arg("out").none(),
        nb::arg("report"), nb::arg("engine"), nb::arg("threads"), nb::arg("progress").none());
  m.def(
      "check_contract", [](const std::string& text) { return Contract::parse(text).text(); }, nb::arg("text"));
  m.def("push_record", &push_record, nb::arg("reports"));
  m.def("pop_record", &pop_record);
}

}  // namespace vernier::python
