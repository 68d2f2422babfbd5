// The header of a NumPy .npy file: a Python dictionary behind a magic string, a version and a length.
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vernier::cli {

inline constexpr const char* npy_dd_descr = "[('hi', '<f8'), ('lo', '<f8')]";
inline constexpr const char* npy_object_descr = "|O";  // a pickle follows, of NumPy's quaddtype

struct NpyHeader {
  std::string descr;  // "<f8": byte order, kind, bytes of one entry; or npy_dd_descr
  bool fortran_order = false;
  std::vector<std::int64_t> shape;

  bool operator==(const NpyHeader&) const = default;
};

// {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }   keys in any order, each once, no others.
// Throws std::invalid_argument with what is wrong.
NpyHeader parse_npy_dictionary(std::string_view text);

// Magic, version 1.0, length and dictionary, padded so that the data begin at a multiple of 64.
std::string npy_preamble(const NpyHeader& header);

}  // namespace vernier::cli
