// An array of NumPy, CuPy or PyTorch as a product sees it: where it lies, its elements, its shape and strides.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>

namespace nb = nanobind;

namespace vernier::python {

enum class Kind : std::uint8_t { float32, float64, complex64, complex128 };
enum class Maker : std::uint8_t { numpy, cupy, torch, other };  // other: jax, DLPack, subclasses, and what is no array

inline constexpr int max_dimensions = 16;
inline constexpr int on_cpu = -1;

inline int bytes_of(Kind kind) {
  constexpr int bytes[] = {4, 8, 8, 16};
  return bytes[static_cast<int>(kind)];
}

inline bool is_complex(Kind kind) { return kind > Kind::float64; }

inline const char* name_of(Kind kind) {
  constexpr const char* names[] = {"float32", "float64", "complex64", "complex128"};
  return names[static_cast<int>(kind)];
}

struct Array {
  Maker maker = Maker::other;
  Kind kind = Kind::float64;
  int device = on_cpu;  // else the number of a GPU
  int dimensions = 0;
  bool writable = true;
  bool regular = true;  // aligned, and strides are whole elements
  void* data = nullptr;
  std::int64_t shape[max_dimensions] = {};
  std::int64_t strides[max_dimensions] = {};  // in elements
  nb::object owner;                           // keeps the description alive
};

// The library that an array is of, from the classes that its type derives from.
Maker maker_of(nb::handle x);

// Describes x into `array`; false where Python has to say why not (another type, dtype or device). fresh: x was just
// made by make_empty.
bool describe(nb::handle x, Array& array, bool fresh = false);

// Reads a tuple of integers; false where it is longer than max_dimensions.
bool read_integers(nb::handle tuple, std::int64_t* values, int& count);

// Does PyTorch have to see this product, for gradients, tracing or a mode of its own?
bool needs_operator(const Array& like, nb::handle a, nb::handle b, nb::handle out);

// A new array of x's library on x's device, by rows; `like` is the described x.
nb::object make_empty(nb::handle x, const Array& like, const std::int64_t* shape, int dimensions);

// Device memory of the array's library, ordered on its current stream. Freed with the GIL.
class DeviceMemory {
 public:
  DeviceMemory(const Array& like, std::size_t bytes);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  void* data() const { return data_; }

 private:
  void* data_ = nullptr;
  void* managed_ = nullptr;  // by DLPack's table
  nb::object owner_;         // else
};

// The stream that x's library would queue on; null on a CPU.
void* stream_of(const Array& array);

// A copy of x with rows or columns contiguous.
nb::object make_contiguous(nb::handle x, const Array& like);

}  // namespace vernier::python
