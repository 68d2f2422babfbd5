// vernier.matmul: a few microseconds from Python's arrays to the library's product and back.
#include "matmul.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "gil.hpp"
#include "shapes.hpp"

namespace vernier::python {
namespace {

thread_local std::vector<PyObject*> open_records;  // lists, kept alive by who opened them

nb::object to_python(const char* module, const char* function) { return nb::module_::import_(module).attr(function); }

// The library calls this between blocks of work, from a thread without the GIL; it must not throw. An interrupt that
// comes within is one behind the product.
std::function<void(double)> progress_of(nb::handle function) {
  if (function.is_none()) return {};
  if (PyCallable_Check(function.ptr()) == 0) to_python("vernier._refuse", "progress")(function);
  return [function, over = std::make_shared<bool>(false)](double fraction) {
    if (*over) return;
    const WithGil gil;
    try {
      function(fraction);
    } catch (nb::python_error& error) {
      *over = error.matches(PyExc_KeyboardInterrupt);
      if (*over)
        PyErr_SetInterrupt();
      else
        error.discard_as_unraisable("vernier: progress");
    }
  };
}

void check_out(nb::handle a, nb::handle b, nb::handle result, const Array& x, const Array& y, const Array& out,
               const Shape& shape) {
  if (out.kind != x.kind) to_python("vernier._refuse", "out_dtype")(result, a);
  if (out.dimensions != shape.dimensions || !std::equal(shape.sizes, shape.sizes + shape.dimensions, out.shape))
    throw nb::value_error(("matmul: out has shape " + shape_text(out.shape, out.dimensions) + "; expected " +
                           shape_text(shape.sizes, shape.dimensions))
                              .c_str());
  if (!out.writable) throw nb::value_error("matmul: out is read-only; give an array that may be written");
  if (meets_itself(out))
    throw nb::value_error("matmul: elements of out share memory; give an array whose elements lie apart");
  for (const bool first : {true, false})
    if (ranges_meet(first ? x : y, out))
      to_python("vernier._refuse", "overlap")(first ? a : b, result, first ? "a" : "b");
}

std::string contract_text(nb::handle contract) {
  std::string text;
  if (contract.is_none()) return text;
  const bool taken = PyUnicode_Check(contract.ptr()) != 0 && nb::try_cast(contract, text);
  if (!taken || text.find('\0') != std::string::npos) to_python("vernier._refuse", "contract")(contract);
  return text;
}

// A contract that can fail for one matrix of a batch after others are done.
bool may_fail(const Contract& contract) {
  return contract.reproducible || contract.fallback == Fallback::none || contract.kind == Contract::Kind::exact;
}

struct Call {
  nb::object a, b, result;
  Array x, y, z;
  Batch batch;
  Request request;
};

// Copies operands, and sets the result aside, until a leading dimension describes each.
void place_all(Call& call, const Shape& shape, bool& aside) {
  char which = 0;
  while (!place(call.x, call.y, call.z, call.batch, which)) {
    if (which == 'c') {
      aside = true;
      call.result = make_empty(call.a, call.x, shape.sizes, shape.dimensions);
      describe(call.result, call.z, true);
    } else {
      nb::object& operand = which == 'a' ? call.a : call.b;
      Array& array = which == 'a' ? call.x : call.y;
      operand = make_contiguous(operand, array);
      array = {};
      describe(operand, array);
    }
  }
}

Report run(Call& call) {
  simplify(call.batch, !call.request.contract.reproducible);
  call.request.stream = stream_of(call.x);
  std::optional<DeviceMemory> memory;
  if (const std::size_t bytes = workspace_of(call.batch, call.request); bytes > 0) {
    call.request.workspace = memory.emplace(call.x, bytes).data();
    call.request.workspace_bytes = bytes;
  }
  const WithoutGil others_may_run;
  return multiply(call.batch, call.request);
}

bool described(nb::handle a, nb::handle b, nb::handle out, Call& call) {
  if (!describe(a, call.x) || !describe(b, call.y)) return false;
  if (call.x.maker != call.y.maker || call.x.kind != call.y.kind || call.x.device != call.y.device) return false;
  if (!out.is_none() && (!describe(out, call.z) || call.z.maker != call.x.maker || call.z.device != call.x.device))
    return false;
  return !needs_operator(call.x, a, b, out);
}

}  // namespace

void push_record(nb::list reports) { open_records.push_back(reports.release().ptr()); }

void pop_record() {
  if (open_records.empty()) return;
  nb::steal(open_records.back());
  open_records.pop_back();
}

void note(const nb::object& report) {
  for (PyObject* reports : open_records) PyList_Append(reports, report.ptr());
}

nb::object matmul(nb::handle a, nb::handle b, nb::handle contract, nb::handle out, bool report,
                  const std::string& engine, int threads, nb::handle progress) {
  Call call;
  if (!described(a, b, out, call))
    return to_python("vernier._other", "matmul")(a, b, contract, out, report, engine, threads, progress);
  call.a = nb::borrow(a), call.b = nb::borrow(b), call.result = nb::borrow(out);
  call.request.contract = contract_of(contract_text(contract), call.x.kind);
  call.request.engine = engine, call.request.threads = threads;
  call.request.progress = progress_of(progress);

  const Shape shape = result_shape(call.x, call.y);
  bool aside = false;
  if (!out.is_none()) check_out(a, b, out, call.x, call.y, call.z, shape);
  const bool batched = call.x.dimensions > 2 || call.y.dimensions > 2;
  if (out.is_none() || (batched && may_fail(call.request.contract))) {
    aside = !out.is_none();
    call.result = make_empty(a, call.x, shape.sizes, shape.dimensions);
    call.z = {};
    describe(call.result, call.z, true);
  }
  place_all(call, shape, aside);
  const Report done = run(call);

  if (aside) {
    out.attr("__setitem__")(nb::ellipsis(), call.result);
    call.result = nb::borrow(out);
  } else if (shape.dimensions == 0 && out.is_none() && call.x.maker == Maker::numpy) {
    call.result = call.result[nb::make_tuple()];
  }
  if (!report && open_records.empty()) return call.result;
  const nb::object told = nb::cast(done);
  note(told);
  return report ? nb::object(nb::make_tuple(call.result, told)) : call.result;
}

}  // namespace vernier::python
