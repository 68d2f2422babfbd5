// How NumPy and CuPy describe their arrays: by attributes, so that none of them is linked or imported here.
#include "array.hpp"

#include <nanobind/stl/string.h>

#include <string>

#include "library.hpp"
#include "tensor.hpp"

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
  if (!read_integers(get(x, names().shape), array.shape, array.dimensions)) return false;
  int dimensions = 0;
  read_integers(get(x, names().strides), array.strides, dimensions);
  const nb::object memory = get(x, names().data);
  array.data = address(get(memory, names().pointer));
  array.device = static_cast<int>(integer(get(memory, names().device_id)));
  divide_strides(array);
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

bool read_integers(nb::handle tuple, std::int64_t* values, int& count) {
  const auto size = PyTuple_Size(tuple.ptr());
  if (size < 0) throw nb::python_error();
  if (size > max_dimensions) return false;
  count = static_cast<int>(size);
  for (int i = 0; i < count; ++i) values[i] = integer(PyTuple_GetItem(tuple.ptr(), i));
  return true;
}

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

bool describe(nb::handle x, Array& array, bool fresh) {
  array.maker = maker_of(x);
  switch (array.maker) {
    case Maker::numpy:
      return describe_numpy(x, array);
    case Maker::cupy:
      return describe_cupy(x, array);
    case Maker::torch:
      return describe_tensor(x, array, fresh);
    default:
      return false;
  }
}

bool needs_operator(const Array& like, nb::handle a, nb::handle b, nb::handle out) {
  return like.maker == Maker::torch && tensors_need_operator(a, b, out);
}

nb::object make_empty(nb::handle x, const Array& like, const std::int64_t* shape, int dimensions) {
  if (like.maker == Maker::torch) return new_tensor(x, shape, dimensions);  // on x's device, of x's dtype
  const Library& of = library(like.maker);
  const nb::object sizes = nb::steal(PyTuple_New(dimensions));
  for (int i = 0; i < dimensions; ++i) PyTuple_SetItem(sizes.ptr(), i, PyLong_FromLongLong(shape[i]));
  const nb::handle dtype = of.dtypes[static_cast<int>(like.kind)];
  PyObject* made = PyObject_CallFunctionObjArgs(of.empty.ptr(), sizes.ptr(), dtype.ptr(), nullptr);
  if (made == nullptr) throw nb::python_error();
  return nb::steal(made);
}

DeviceMemory::DeviceMemory(const Array& like, std::size_t bytes) {
  const Library& of = library(like.maker);
  if (of.exchange != nullptr && (managed_ = allocate_by_table(*of.exchange, bytes, like.device, data_)) != nullptr)
    return;
  const nb::object pair = of.workspace(bytes, like.device);
  data_ = address(pair[1]);
  owner_ = pair;
}

DeviceMemory::~DeviceMemory() { release_by_table(managed_); }

void* stream_of(const Array& array) {
  if (array.device == on_cpu) return nullptr;
  const Library& of = library(array.maker);
  void* stream = nullptr;
  if (of.exchange != nullptr && integer(call(of.current_device)) == array.device &&
      stream_by_table(*of.exchange, array.device, stream))
    return stream;
  return address(of.stream(array.device));
}

nb::object make_contiguous(nb::handle x, const Array& like) { return library(like.maker).contiguous(x); }

}  // namespace vernier::python
