// How NumPy, CuPy and PyTorch describe their arrays: by attributes, so that none of them is linked or imported here.
#include "array.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>

#include "exchange.hpp"

namespace vernier::python {
namespace {

// The struct behind NumPy's __array_struct__ (the array interface, version 3).
struct ArrayInterface {
  int two;
  int dimensions;
  char type;
  int element_bytes;
  int flags;
  Py_ssize_t* shape;
  Py_ssize_t* strides;
  void* data;
  PyObject* description;
};
constexpr int flag_aligned = 0x100, flag_native_order = 0x200, flag_writable = 0x400;

// Names and functions that every call needs, looked up once; immortal, as modules of Python are.
nb::handle name(const char* text) { return nb::steal(PyUnicode_InternFromString(text)).release(); }

struct Names {
  nb::handle array_struct = name("__array_struct__"), shape = name("shape"), strides = name("strides"),
             dtype = name("dtype"), data = name("data"), pointer = name("ptr"), device_id = name("device_id"),
             stride = name("stride"), data_ptr = name("data_ptr"), get_device = name("get_device"),
             layout = name("layout"), is_conj = name("is_conj"), is_neg = name("is_neg"), is_cpu = name("is_cpu"),
             requires_grad = name("requires_grad"), new_empty = name("new_empty");
};
const Names& names() {
  static const Names all;
  return all;
}

constexpr const char* dtype_names[] = {"float32", "float64", "complex64", "complex128"};

constexpr int max_modes = 8;

// One library's functions. Its module is loaded when an array of it is seen.
struct Library {
  nb::handle empty, contiguous, stream, workspace, strided, dtypes[4];
  nb::handle grad_enabled;      // of PyTorch alone: is a gradient asked for where a tensor wants one?
  nb::handle modes[max_modes];  // of PyTorch alone: does something look at every operation?
  int mode_count = 0;
  nb::handle current_device;  // of PyTorch alone
  const ExchangeTable* exchange = nullptr;

  explicit Library(const char* adapter) {
    const nb::object module = nb::module_::import_(adapter);
    const auto take = [&](const char* what) { return nb::object(module.attr(what)).release(); };
    empty = take("empty"), contiguous = take("contiguous"), stream = take("stream"), workspace = take("workspace");
    grad_enabled = nb::object(nb::getattr(module, "grad_enabled", nb::none())).release();
    current_device = nb::object(nb::getattr(module, "current_device", nb::none())).release();
    for (const nb::handle mode : nb::object(nb::getattr(module, "modes", nb::make_tuple())))
      if (mode_count < max_modes) modes[mode_count++] = nb::borrow(mode).release();
    exchange = exchange_table(nb::object(nb::getattr(module, "exchange", nb::none())).release());
    strided = nb::object(nb::getattr(module, "strided", nb::none())).release();
    const nb::object all = module.attr("dtypes");
    for (int i = 0; i < 4; ++i) dtypes[i] = nb::object(all[i]).release();
  }
};

// In builds of Python without a GIL two threads may load one: the second is then never used.
const Library& library(Maker maker) {
  static std::atomic<const Library*> loaded[3] = {};
  constexpr const char* adapters[] = {"vernier._numpy", "vernier._cupy", "vernier._torch"};
  std::atomic<const Library*>& known = loaded[static_cast<int>(maker)];
  if (const Library* library = known.load(std::memory_order_acquire)) return *library;
  const Library *made = new Library(adapters[static_cast<int>(maker)]), *none = nullptr;
  return known.compare_exchange_strong(none, made) ? *made : *none;
}

bool kind_of_dtype(nb::handle dtype, const Library& of, Kind& kind) {
  for (int i = 0; i < 4; ++i)
    if (dtype.is(of.dtypes[i])) return kind = static_cast<Kind>(i), true;
  return false;
}

bool kind_of_letter(char type, int bytes, Kind& kind) {
  if (type == 'f' && bytes == 4) return kind = Kind::float32, true;
  if (type == 'f' && bytes == 8) return kind = Kind::float64, true;
  if (type == 'c' && bytes == 8) return kind = Kind::complex64, true;
  if (type == 'c' && bytes == 16) return kind = Kind::complex128, true;
  return false;
}

// PyObject_GetAttr and a call without arguments, for which nanobind's accessors would make strings.
nb::object get(nb::handle x, nb::handle attribute) {
  PyObject* found = PyObject_GetAttr(x.ptr(), attribute.ptr());
  if (found == nullptr) throw nb::python_error();
  return nb::steal(found);
}

nb::object call(nb::handle x, nb::handle method) {
  PyObject* result = PyObject_CallMethodObjArgs(x.ptr(), method.ptr(), nullptr);
  if (result == nullptr) throw nb::python_error();
  return nb::steal(result);
}

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

bool read_tuple(nb::handle tuple, std::int64_t* values, int& count) {
  const auto size = PyTuple_Size(tuple.ptr());
  if (size < 0) throw nb::python_error();
  if (size > max_dimensions) return false;
  count = static_cast<int>(size);
  for (int i = 0; i < count; ++i) values[i] = integer(PyTuple_GetItem(tuple.ptr(), i));
  return true;
}

// Strides in bytes become strides in elements.
void divide_strides(Array& array) {
  const int bytes = bytes_of(array.kind);
  for (int i = 0; i < array.dimensions; ++i) {
    array.regular = array.regular && array.strides[i] % bytes == 0;
    array.strides[i] /= bytes;
  }
}

bool describe_numpy(nb::handle x, Array& array) {
  array.owner = get(x, names().array_struct);
  const auto* all = static_cast<const ArrayInterface*>(PyCapsule_GetPointer(array.owner.ptr(), nullptr));
  if (all == nullptr) throw nb::python_error();
  if (!kind_of_letter(all->type, all->element_bytes, array.kind) || (all->flags & flag_native_order) == 0 ||
      all->dimensions > max_dimensions)
    return false;
  array.data = all->data;
  array.dimensions = all->dimensions;
  array.writable = (all->flags & flag_writable) != 0;
  array.regular = (all->flags & flag_aligned) != 0;
  for (int i = 0; i < all->dimensions; ++i) array.shape[i] = all->shape[i], array.strides[i] = all->strides[i];
  divide_strides(array);
  return true;
}

bool describe_cupy(nb::handle x, Array& array) {
  const Library& cupy = library(Maker::cupy);
  if (!kind_of_dtype(get(x, names().dtype), cupy, array.kind)) return false;
  if (!read_tuple(get(x, names().shape), array.shape, array.dimensions)) return false;
  int dimensions = 0;
  read_tuple(get(x, names().strides), array.strides, dimensions);
  const nb::object memory = get(x, names().data);
  array.data = address(get(memory, names().pointer));
  array.device = static_cast<int>(integer(get(memory, names().device_id)));
  divide_strides(array);
  return true;
}

bool says_yes(nb::handle function) {
  PyObject* answer = PyObject_CallObject(function.ptr(), nullptr);
  if (answer == nullptr) throw nb::python_error();
  const int yes = PyObject_IsTrue(nb::steal(answer).ptr());
  if (yes < 0) throw nb::python_error();
  return yes != 0;
}

// Conjugated views and lazy negations have other numbers in memory than they show: Python resolves these.
bool shows_its_memory(nb::handle x, Kind kind) {
  if (call(x, names().is_neg).ptr() == Py_True) return false;
  return kind < Kind::complex64 || call(x, names().is_conj).ptr() != Py_True;
}

bool describe_torch(nb::handle x, Array& array) {
  const Library& torch = library(Maker::torch);
  if (torch.exchange != nullptr && describe_by_table(*torch.exchange, x, array)) return shows_its_memory(x, array.kind);
  if (!kind_of_dtype(get(x, names().dtype), torch, array.kind)) return false;
  if (!get(x, names().layout).is(torch.strided) || !shows_its_memory(x, array.kind)) return false;
  if (!read_tuple(get(x, names().shape), array.shape, array.dimensions)) return false;
  int dimensions = 0;
  read_tuple(call(x, names().stride), array.strides, dimensions);
  array.device = static_cast<int>(integer(call(x, names().get_device)));
  if (array.device < 0 && get(x, names().is_cpu).ptr() != Py_True) return false;
  array.data = address(call(x, names().data_ptr));
  return true;
}

// numpy.ndarray, cupy.ndarray and torch.Tensor with their subclasses, but for masked arrays, which are no numbers
// alone.
Maker find_maker(nb::handle type) {
  const nb::object order = type.attr("__mro__");
  for (const nb::handle base : order) {
    const auto module = nb::cast<std::string>(nb::str(base.attr("__module__")));
    const auto title = nb::cast<std::string>(nb::str(base.attr("__name__")));
    if (title == "MaskedArray") return Maker::other;
    if (title == "ndarray" && module == "numpy") return Maker::numpy;
    if (title == "ndarray" && module.rfind("cupy", 0) == 0) return Maker::cupy;
  }
  const auto module = nb::cast<std::string>(nb::str(type.attr("__module__")));
  const auto title = nb::cast<std::string>(nb::str(type.attr("__name__")));
  const bool plain =
      (module == "torch" && title == "Tensor") || (module == "torch.nn.parameter" && title == "Parameter");
  return plain ? Maker::torch : Maker::other;
}

}  // namespace

Maker maker_of(nb::handle x) {
  struct Known {
    PyTypeObject* type;
    Maker maker;
  };
  static Known known[32];
  static int count = 0;
  static nb::ft_mutex mutex;  // of builds of Python without a GIL
  const nb::ft_lock_guard one_at_a_time(mutex);
  PyTypeObject* type = Py_TYPE(x.ptr());
  for (int i = 0; i < count; ++i)
    if (known[i].type == type) return known[i].maker;
  const Maker maker = find_maker(reinterpret_cast<PyObject*>(type));
  if (count < 32) {
    Py_INCREF(reinterpret_cast<PyObject*>(type));  // so that no other type takes its address
    known[count++] = {type, maker};
  }
  return maker;
}

bool describe(nb::handle x, Array& array) {
  array.maker = maker_of(x);
  switch (array.maker) {
    case Maker::numpy:
      return describe_numpy(x, array);
    case Maker::cupy:
      return describe_cupy(x, array);
    case Maker::torch:
      return describe_torch(x, array);
    default:
      return false;
  }
}

bool needs_operator(const Array& like, nb::handle a, nb::handle b, nb::handle out) {
  const Library& of = library(like.maker);
  if (of.grad_enabled.is_none()) return false;
  const auto wants = [](nb::handle x) { return !x.is_none() && get(x, names().requires_grad).ptr() == Py_True; };
  if (says_yes(of.grad_enabled) && (wants(a) || wants(b) || wants(out))) return true;
  return std::any_of(of.modes, of.modes + of.mode_count, says_yes);
}

nb::object make_empty(nb::handle x, const Array& like, const std::int64_t* shape, int dimensions) {
  const Library& of = library(like.maker);
  const nb::object sizes = nb::steal(PyTuple_New(dimensions));
  for (int i = 0; i < dimensions; ++i) PyTuple_SetItem(sizes.ptr(), i, PyLong_FromLongLong(shape[i]));
  if (like.maker == Maker::torch) {  // on x's device, of x's dtype
    PyObject* made = PyObject_CallMethodObjArgs(x.ptr(), names().new_empty.ptr(), sizes.ptr(), nullptr);
    if (made == nullptr) throw nb::python_error();
    return nb::steal(made);
  }
  const nb::handle dtype = of.dtypes[static_cast<int>(like.kind)];
  PyObject* made = PyObject_CallFunctionObjArgs(of.empty.ptr(), sizes.ptr(), dtype.ptr(), nullptr);
  if (made == nullptr) throw nb::python_error();
  return nb::steal(made);
}

nb::object make_workspace(const Array& like, std::size_t bytes, void*& where) {
  nb::object pair = library(like.maker).workspace(bytes, like.device);
  where = address(pair[1]);
  return pair;
}

void* stream_of(const Array& array) {
  if (array.device == on_cpu) return nullptr;
  const Library& of = library(array.maker);
  void* stream = nullptr;
  if (of.exchange != nullptr && integer(of.current_device()) == array.device &&
      stream_by_table(*of.exchange, array.device, stream))
    return stream;
  return address(of.stream(array.device));
}

nb::object make_contiguous(nb::handle x, const Array& like) { return library(like.maker).contiguous(x); }

}  // namespace vernier::python
