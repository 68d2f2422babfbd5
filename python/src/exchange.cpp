#include "exchange.hpp"

#include <nanobind/ndarray.h>

#include <algorithm>

namespace vernier::python {

// DLPack's DLManagedTensorVersioned.
struct ManagedTensor {
  std::uint32_t major, minor;
  void* context;
  void (*release)(ManagedTensor* self);
  std::uint64_t flags;
  nb::dlpack::dltensor tensor;
};

// The layout is DLPack's: a version, a link to an older table, five functions.
struct ExchangeTable {
  std::uint32_t major, minor;
  void* older;
  int (*allocate)(nb::dlpack::dltensor* like, ManagedTensor** made, void* context,
                  void (*tell)(void* context, const char* kind, const char* message));
  void *from_object, *to_object;
  int (*describe)(void* object, nb::dlpack::dltensor* tensor);  // no reference is taken
  int (*current_stream)(int device_type, std::int32_t device, void** stream);
};

namespace {

enum DeviceType { cpu = 1, cuda = 2, cuda_host = 3 };

bool kind_of(nb::dlpack::dtype type, Kind& kind) {
  constexpr auto real = static_cast<std::uint8_t>(nb::dlpack::dtype_code::Float);
  constexpr auto complex = static_cast<std::uint8_t>(nb::dlpack::dtype_code::Complex);
  const bool single = type.bits == (type.code == real ? 32 : 64);
  if (type.lanes != 1 || (type.code != real && type.code != complex)) return false;
  if (!single && type.bits != (type.code == real ? 64 : 128)) return false;
  kind = type.code == real ? (single ? Kind::float32 : Kind::float64) : (single ? Kind::complex64 : Kind::complex128);
  return true;
}

}  // namespace

const ExchangeTable* exchange_table(nb::handle capsule) {
  if (!capsule.is_valid() || !PyCapsule_IsValid(capsule.ptr(), "dlpack_exchange_api")) return nullptr;
  const auto* table = static_cast<const ExchangeTable*>(PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
  return table != nullptr && table->major == 1 && table->describe != nullptr ? table : nullptr;
}

bool describe_by_table(const ExchangeTable& table, nb::handle x, Array& array) {
  nb::dlpack::dltensor tensor;
  if (table.describe(x.ptr(), &tensor) != 0) {
    PyErr_Clear();
    return false;
  }
  const int device = tensor.device.device_type;
  if ((device != cpu && device != cuda && device != cuda_host) || !kind_of(tensor.dtype, array.kind)) return false;
  if (tensor.ndim > max_dimensions || (tensor.ndim > 0 && tensor.strides == nullptr)) return false;
  array.device = device == cuda ? tensor.device.device_id : on_cpu;
  array.dimensions = tensor.ndim;
  std::copy_n(tensor.shape, tensor.ndim, array.shape);
  std::copy_n(tensor.strides, tensor.ndim, array.strides);
  array.data = tensor.data == nullptr ? nullptr : static_cast<char*>(tensor.data) + tensor.byte_offset;
  return true;
}

bool stream_by_table(const ExchangeTable& table, int device, void*& stream) {
  if (table.current_stream != nullptr && table.current_stream(cuda, device, &stream) == 0) return true;
  PyErr_Clear();
  return false;
}

void* allocate_by_table(const ExchangeTable& table, std::size_t bytes, int device, void*& data) {
  if (table.allocate == nullptr) return nullptr;
  nb::dlpack::dltensor like{};
  auto size = static_cast<std::int64_t>(bytes), stride = std::int64_t{1};
  like.device = {cuda, device};
  like.ndim = 1;
  like.dtype = {static_cast<std::uint8_t>(nb::dlpack::dtype_code::UInt), 8, 1};
  like.shape = &size, like.strides = &stride;
  ManagedTensor* made = nullptr;
  if (table.allocate(&like, &made, nullptr, [](void*, const char*, const char*) {}) != 0 || made == nullptr)
    return PyErr_Clear(), nullptr;
  data = static_cast<char*>(made->tensor.data) + made->tensor.byte_offset;
  return made;
}

void release_by_table(void* managed) {
  auto* tensor = static_cast<ManagedTensor*>(managed);
  if (tensor != nullptr && tensor->release != nullptr) tensor->release(tensor);
}

}  // namespace vernier::python
