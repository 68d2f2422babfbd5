// Matrices in files: NumPy .npy and Matrix Market .mtx.
//
// A reader either returns the whole matrix or throws FileError with one message that names the file, and where in it
// the trouble is. A writer either leaves the complete file or nothing new: see output_file.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "output_file.hpp"

namespace vernier::cli {

enum class Order { column_major, row_major };

struct Matrix {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  Order order = Order::column_major;
  std::variant<std::vector<double>, std::vector<float>> entries;

  bool is_double() const { return entries.index() == 0; }
  const char* type() const { return is_double() ? "double" : "float"; }
  std::int64_t leading_dimension() const;                     // at least 1, as BLAS wants it
  double at(std::int64_t i, std::int64_t j) const;            // for tests and messages
  std::int64_t offset(std::int64_t i, std::int64_t j) const;  // of entry (i, j)
};

struct NonFinite {
  std::int64_t nans = 0;
  std::int64_t infinities = 0;
};
NonFinite count_nonfinite(const Matrix& matrix);

enum class FileFormat { npy, matrix_market };

// By extension; none where it is neither .npy nor .mtx. "-" (stdout) is .npy.
std::optional<FileFormat> output_format(const std::string& path);

enum class Vectors { refused, columns };  // what a .npy array of one dimension counts as

// By extension, else by the first bytes.
Matrix read_matrix(const std::string& path, Vectors vectors = Vectors::refused);
Matrix read_npy(const std::string& path, Vectors vectors = Vectors::refused);
Matrix read_matrix_market(const std::string& path);

void write_npy(OutputFile& file, const Matrix& matrix);
void write_matrix_market(OutputFile& file, const Matrix& matrix);
void write_matrix(OutputFile& file, FileFormat format, const Matrix& matrix);

// rows * columns * bytes_each, or FileError where that overflows or exceeds the memory of the machine.
std::int64_t checked_bytes(const std::string& what, std::int64_t rows, std::int64_t columns, std::int64_t bytes_each);

}  // namespace vernier::cli
