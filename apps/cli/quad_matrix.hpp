// Matrices of dd in files: .npy of a structure of two doubles, hi and lo, of long double as NumPy writes it on x86, of
// NumPy's quaddtype, and whatever holds doubles; .mtx, where more than 17 digits count.
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
QuadMatrix read_quad_matrix_market(const std::string& path);

// What the entries of a .npy file are: hi + lo as it is, or rounded once.
enum class QuadEntries { dd, long_double, quaddtype };
// dd, longdouble, quaddtype; std::invalid_argument where that is none of them, or this processor lacks it.
QuadEntries parse_quad_entries(const std::string& name);

// By columns. .mtx: 36 digits of hi + lo.
void write_quad_matrix(OutputFile& file, FileFormat format, const QuadMatrix& matrix,
                       QuadEntries entries = QuadEntries::dd);
void write_quad_npy(OutputFile& file, const QuadMatrix& matrix, QuadEntries entries);

}  // namespace vernier::cli
