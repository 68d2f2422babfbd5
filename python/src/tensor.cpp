#include "tensor.hpp"

#include <algorithm>

#include "library.hpp"

namespace vernier::python {
namespace {

// Conjugated views and lazy negations have other numbers in memory than they show: Python resolves these.
bool shows_its_memory(nb::handle x, Kind kind) {
  if (call(x, names().is_neg).ptr() == Py_True) return false;
  return kind < Kind::complex64 || call(x, names().is_conj).ptr() != Py_True;
}

bool describe_by_attributes(const Library& torch, nb::handle x, Array& array) {
  const nb::object dtype = get(x, names().dtype);
  const auto* found = std::find_if(torch.dtypes, torch.dtypes + 4, [&](nb::handle d) { return d.is(dtype); });
  if (found == torch.dtypes + 4 || !get(x, names().layout).is(torch.strided)) return false;
  array.kind = static_cast<Kind>(found - torch.dtypes);
  array.device = static_cast<int>(integer(call(x, names().get_device)));
  if (array.device < 0 && get(x, names().is_cpu).ptr() != Py_True) return false;
  if (!read_integers(get(x, names().shape), array.shape, array.dimensions)) return false;
  int dimensions = 0;
  read_integers(call(x, names().stride), array.strides, dimensions);
  PyObject* data = PyObject_CallMethodObjArgs(x.ptr(), names().data_ptr.ptr(), nullptr);
  if (data == nullptr) return PyErr_Clear(), false;  // a tensor inside a transform has no memory
  array.data = address(nb::steal(data));
  return true;
}

bool wants_gradient(nb::handle x) { return !x.is_none() && get(x, names().requires_grad).ptr() == Py_True; }

}  // namespace

bool describe_tensor(nb::handle x, Array& array, bool fresh) {
  const Library& torch = library(Maker::torch);
  const bool known = torch.exchange != nullptr ? describe_by_table(*torch.exchange, x, array)
                                               : describe_by_attributes(torch, x, array);
  return known && (fresh || shows_its_memory(x, array.kind));
}

bool tensors_need_operator(nb::handle a, nb::handle b, nb::handle out) {
  const Library& torch = library(Maker::torch);
  if ((wants_gradient(a) || wants_gradient(b) || wants_gradient(out)) && call(torch.grad_enabled).ptr() == Py_True)
    return true;
  if (integer(get(torch.forward_mode, names().current_level)) >= 0 && call(torch.forward_enabled).ptr() == Py_True)
    return true;
  return std::any_of(torch.modes, torch.modes + torch.mode_count,
                     [](nb::handle mode) { return integer(call(mode)) != 0; });
}

// Sizes one by one: PyTorch takes half as long to read them as a tuple.
nb::object new_tensor(nb::handle x, const std::int64_t* shape, int dimensions) {
  PyObject* made = nullptr;
  const auto size = [&](int i) { return nb::steal(PyLong_FromLongLong(shape[i])); };
  if (dimensions == 1) {
    made = PyObject_CallMethodObjArgs(x.ptr(), names().new_empty.ptr(), size(0).ptr(), nullptr);
  } else if (dimensions == 2) {
    made = PyObject_CallMethodObjArgs(x.ptr(), names().new_empty.ptr(), size(0).ptr(), size(1).ptr(), nullptr);
  } else {
    const nb::object sizes = nb::steal(PyTuple_New(dimensions));
    for (int i = 0; i < dimensions; ++i) PyTuple_SetItem(sizes.ptr(), i, size(i).release().ptr());
    made = PyObject_CallMethodObjArgs(x.ptr(), names().new_empty.ptr(), sizes.ptr(), nullptr);
  }
  if (made == nullptr) throw nb::python_error();
  return nb::steal(made);
}

}  // namespace vernier::python
