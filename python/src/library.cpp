#include "library.hpp"

#include <atomic>

namespace vernier::python {
namespace {

nb::handle name(const char* text) { return nb::steal(PyUnicode_InternFromString(text)).release(); }

nb::object taken(PyObject* result) {
  if (result == nullptr) throw nb::python_error();
  return nb::steal(result);
}

}  // namespace

Library::Library(const char* adapter) {
  const nb::object module = nb::module_::import_(adapter);
  const auto take = [&](const char* what) { return nb::object(module.attr(what)).release(); };
  const auto perhaps = [&](const char* what) { return nb::object(nb::getattr(module, what, nb::none())).release(); };
  empty = take("empty"), contiguous = take("contiguous"), stream = take("stream"), workspace = take("workspace");
  strided = perhaps("strided"), grad_enabled = perhaps("grad_enabled"), forward_mode = perhaps("forward_mode");
  forward_enabled = perhaps("forward_enabled");
  current_device = perhaps("current_device");
  for (const nb::handle mode : nb::object(nb::getattr(module, "modes", nb::make_tuple())))
    if (mode_count < 4) modes[mode_count++] = nb::borrow(mode).release();
  exchange = exchange_table(perhaps("exchange"));
  const nb::object all = module.attr("dtypes");
  for (int i = 0; i < 4; ++i) dtypes[i] = nb::object(all[i]).release();
}

// In builds of Python without a GIL two threads may load one: the second is then never used.
const Library& library(Maker maker) {
  static std::atomic<const Library*> loaded[3] = {};
  constexpr const char* adapters[] = {"vernier._numpy", "vernier._cupy", "vernier._torch"};
  std::atomic<const Library*>& known = loaded[static_cast<int>(maker)];
  if (const Library* library = known.load(std::memory_order_acquire)) return *library;
  const Library *made = new Library(adapters[static_cast<int>(maker)]), *none = nullptr;
  return known.compare_exchange_strong(none, made) ? *made : *none;
}

Names::Names()
    : array_struct(name("__array_struct__")),
      shape(name("shape")),
      strides(name("strides")),
      dtype(name("dtype")),
      data(name("data")),
      pointer(name("ptr")),
      device_id(name("device_id")),
      stride(name("stride")),
      data_ptr(name("data_ptr")),
      get_device(name("get_device")),
      layout(name("layout")),
      is_conj(name("is_conj")),
      is_neg(name("is_neg")),
      is_cpu(name("is_cpu")),
      requires_grad(name("requires_grad")),
      new_empty(name("new_empty")),
      current_level(name("_current_level")) {}

const Names& names() {
  static const Names all;
  return all;
}

nb::object get(nb::handle x, nb::handle attribute) { return taken(PyObject_GetAttr(x.ptr(), attribute.ptr())); }

nb::object call(nb::handle x, nb::handle method) {
  return taken(PyObject_CallMethodObjArgs(x.ptr(), method.ptr(), nullptr));
}

nb::object call(nb::handle function) { return taken(PyObject_CallNoArgs(function.ptr())); }

std::int64_t integer(nb::handle x) {
  const long long value = PyLong_AsLongLong(x.ptr());
  if (value == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
  return value;
}

void* address(nb::handle x) {
  void* value = PyLong_AsVoidPtr(x.ptr());
  if (value == nullptr && PyErr_Occurred() != nullptr) throw nb::python_error();
  return value;
}

}  // namespace vernier::python
