// Matrices of dd in files: .npy of a structure of two doubles, hi and lo, of long double as NumPy writes it on x86, and
// whatever holds doubles.
#pragma once

#include <vernier/quad.hpp>

#include "matrix_file.hpp"

namespace vernier::cli {

struct QuadMatrix {
  std::int64_t rows = 0, columns = 0;
  Order order = Order::column_major;
  std::vector<dd> entries;
  bool vector = false;  // of one dimension in a .npy file

  std::int64_t leading_dimension() const {
    return std::max<std::int64_t>(1, order == Order::column_major ? rows : columns);
  }
};

QuadMatrix read_quad_matrix(const std::string& path, Vectors vectors);
QuadMatrix read_quad_npy(const std::string& path, Vectors vectors);

// .npy: the structure, by columns. .mtx: 33 digits of hi + lo.
void write_quad_matrix(OutputFile& file, FileFormat format, const QuadMatrix& matrix);

}  // namespace vernier::cli
