// What a party with its data in device memory does to entries, elements and words; products are the engines'.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "engine/panel_cuda.hpp"
#include "number/byte_reduction.hpp"
#include "product/operand.hpp"
#include "residue/partial/element_parts.hpp"
#include "residue/partial/entry_integer.hpp"
#include "residue/partial/gather.hpp"
#include "residue/partial/layout.hpp"
#include "residue/partial/scan_element.hpp"
#include "residue/scale/scaling.hpp"

namespace vernier::cuda {

// A part of an operand as vectors along k: element (v, l) at x[v * vector_step + l * k_step].
template <class T>
struct DevicePart {
  const T* x = nullptr;
  std::int64_t vector_step = 1, k_step = 1, ks = 0;
};

// Some vectors of it, for one round: out[i * words + w] of the i-th, zeros at first.
template <class T>
struct DeviceScan {
  DevicePart<T> part;
  ScanRound round = ScanRound::extremes;
  std::int64_t count = 0;
  const std::int64_t* vectors = nullptr;    // which of the part's
  const int* exponents = nullptr;           // their largest; not for extremes
  const std::int64_t* k_indices = nullptr;  // of the part's k, for spans
  std::int64_t words = 0;                   // of a vector
  std::int64_t* out = nullptr;
};
template <class T>
void scan_vectors(const DeviceScan<T>& scan, cudaStream_t stream);

// Entries -> elements, rows x columns, in place.
template <class T>
struct DeviceConversion {
  const T* x = nullptr;
  std::int64_t ldx = 1, rows = 0, columns = 0;
  bool vectors_are_rows = true, conjugated = false, left = true;
  const int* scales = nullptr;  // of the part's vectors
  bool narrow = false;
  int limbs = 1;
  bool specials = false;
  int moduli = 0;
  std::int64_t bytes = 0, ld = 1;
  std::byte* elements = nullptr;
};
template <class T>
void convert_entries(const DeviceConversion<T>& conversion, cudaStream_t stream);

// Elements of vectors along k: vector v at elements + v * vector_step, in bytes.
struct DeviceElements {
  const std::byte* data = nullptr;
  std::int64_t vector_step = 0, k_step = 0;
};

// What NaN and infinities among A and B bring to the sums at C, whose columns are ld elements apart. Most rows and
// columns have none, and their entries are done at once.
struct DeviceClasses {
  DeviceElements a, b;
  std::int64_t m = 0, n = 0, k = 0;
  std::uint8_t *special_rows = nullptr, *special_columns = nullptr;  // room for a byte each
  ElementLayout layout;
  std::byte* c = nullptr;
  std::int64_t ld = 1;
};
void add_classes(const DeviceClasses& product, cudaStream_t stream);

// to += from, count elements of residues
void add_residues(const ElementLayout& layout, std::int64_t count, const std::byte* from, std::byte* to,
                  cudaStream_t stream);

// limbs: words of a part; counted: classes follow, one word a part
struct WordFormat {
  ElementLayout layout;
  int limbs = 0;
  bool counted = false;

  constexpr int words() const { return layout.parts * (limbs + (counted ? 1 : 0)); }
};
void make_words(const WordFormat& format, std::int64_t count, const std::byte* elements, std::int64_t* words,
                cudaStream_t stream);
void read_words(const WordFormat& format, std::int64_t count, const std::int64_t* words, std::byte* elements,
                cudaStream_t stream);

// C = alpha T + beta C for the entries of one pass.
template <class T>
struct DeviceFinish {
  ElementLayout layout;
  const std::byte* elements = nullptr;
  std::int64_t ld = 1, rows = 0, columns = 0;
  const int *row_scales = nullptr, *column_scales = nullptr;  // of the part's rows and columns
  // Where there are two passes: which entries are this one's.
  const VectorProof *row_proofs = nullptr, *column_proofs = nullptr;
  bool ordinary = true;
  Output<T> out;
};
template <class T>
void finish_entries(const DeviceFinish<T>& finish, cudaStream_t stream);

// Elements of vectors along k, of bytes each -> [modulus][real product][vector][device_pitch(k)].
struct ElementPlanes {
  const std::byte* elements = nullptr;
  std::int64_t vectors = 0, k = 0, bytes = 0;
  bool k_contiguous = false;
  int moduli = 0, products = 1;
  ByteForm form = ByteForm::natural;
  std::uint8_t* planes = nullptr;
  std::int64_t ld = 0;  // elements from a vector to the next, or from a k to the next where vectors lie side by side
};
void unpack_on_device(const ElementPlanes& planes, cudaStream_t stream);

// Residues of all real products, product_units(m, n) of each -> elements, m x n by columns that lie ld apart. Where
// they add, the residues are added to those there; else classes are 0.
struct ProductElements {
  const std::int8_t* products = nullptr;
  std::int64_t m = 0, n = 0, bytes = 0;
  int moduli = 0, parts = 1;
  std::byte* elements = nullptr;
  std::int64_t ld = 0;
  bool adds = false;
};
void pack_on_device(const ProductElements& product, cudaStream_t stream);

}  // namespace vernier::cuda
