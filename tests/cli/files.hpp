// Files made by hand, byte by byte: what the readers are held against is not what the writers of the program produce.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "support/temporary_folder.hpp"

namespace vernier::cli::testing {

using vernier::test::TemporaryFolder;

inline std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline std::string little_endian(std::uint64_t value, int bytes) {
  std::string result;
  for (int i = 0; i < bytes; ++i) result += static_cast<char>(value >> (8 * i));
  return result;
}

// The bytes of numbers in the order of the machine, or reversed.
template <class T>
std::string raw(const std::vector<T>& values, bool big_endian = false) {
  std::string result;
  for (T value : values) {
    auto bytes = std::bit_cast<std::array<char, sizeof(T)>>(value);
    if (big_endian == (std::endian::native == std::endian::little)) std::reverse(bytes.begin(), bytes.end());
    result.append(bytes.data(), bytes.size());
  }
  return result;
}

inline std::string npy(const std::string& dictionary, const std::string& data, int version = 1) {
  const std::string padded = dictionary + std::string(117 - dictionary.size() % 64, ' ') + "\n";
  return "\x93NUMPY" + std::string{static_cast<char>(version), '\0'} +
         little_endian(padded.size(), version == 1 ? 2 : 4) + padded + data;
}

inline std::string dictionary(const std::string& descr, const std::string& shape, bool fortran_order = false) {
  return "{'descr': '" + descr + "', 'fortran_order': " + (fortran_order ? "True" : "False") + ", 'shape': " + shape +
         ", }";
}

// 2 x 3 of doubles: 1 2 3 / 4 5 6, in C order.
inline std::string small_npy() { return npy(dictionary("<f8", "(2, 3)"), raw<double>({1, 2, 3, 4, 5, 6})); }

}  // namespace vernier::cli::testing
