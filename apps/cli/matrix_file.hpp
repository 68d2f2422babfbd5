// Matrices in files: NumPy .npy and Matrix Market .mtx.
//
// A reader either returns the whole matrix or throws FileError with one message that names the file, and where in it
// the trouble is. A writer either leaves the complete file or nothing new: see output_file.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
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
  bool vector = false;  // of one dimension in a .npy file

  bool is_double() const { return entries.index() == 0; }
  const char* type() const { return is_double() ? "double" : "float"; }
  std::int64_t leading_dimension() const;                     // at least 1, as BLAS wants it
  double at(std::int64_t i, std::int64_t j) const;            // for tests and messages
  std::int64_t offset(std::int64_t i, std::int64_t j) const;  // of entry (i, j)
};

// Calls take(entries, count) for all entries x in this order, by a few lines at a time if the matrix has the other one.
template <class T, class Take>
void take_in_order(const Matrix& matrix, const std::vector<T>& x, Order order, Take take) {
  if (matrix.order == order) return take(x.data(), x.size());
  const bool by_rows = order == Order::row_major;
  const std::int64_t lines = by_rows ? matrix.rows : matrix.columns, length = by_rows ? matrix.columns : matrix.rows;
  constexpr std::int64_t tile = 16;
  std::vector<T> run;
  for (std::int64_t begin = 0; begin < lines; begin += tile) {
    const std::int64_t count = std::min(tile, lines - begin);
    run.resize(static_cast<std::size_t>(count * length));
    for (std::int64_t j0 = 0; j0 < length; j0 += tile)
      for (std::int64_t i = 0; i < count; ++i)
        for (std::int64_t j = j0; j < std::min(j0 + tile, length); ++j) run[i * length + j] = x[begin + i + j * lines];
    take(run.data(), run.size());
  }
}
Matrix in_order(const Matrix& matrix, Order order);

struct NonFinite {
  std::int64_t nans = 0;
  std::int64_t infinities = 0;
};
NonFinite count_nonfinite(const Matrix& matrix);

enum class FileFormat { npy, matrix_market };

// By extension; none where it is neither .npy nor .mtx. "-" (stdin, stdout) is .npy.
std::optional<FileFormat> output_format(const std::string& path);

enum class Vectors { refused, rows, columns };  // what a .npy array of one dimension counts as

// By extension, else by the first bytes.
FileFormat format_of_input(const std::string& path);
Matrix read_matrix(const std::string& path, Vectors vectors = Vectors::refused);
Matrix read_npy(const std::string& path, Vectors vectors = Vectors::refused);
Matrix read_matrix_market(const std::string& path);

void write_npy(OutputFile& file, const Matrix& matrix, Order order);
void write_matrix_market(OutputFile& file, const Matrix& matrix);
void write_matrix(OutputFile& file, FileFormat format, const Matrix& matrix, Order order);  // .mtx is by columns

// rows * columns * bytes_each, or FileError where that overflows or exceeds the memory of the machine.
std::int64_t checked_bytes(const std::string& what, std::int64_t rows, std::int64_t columns, std::int64_t bytes_each);

}  // namespace vernier::cli
