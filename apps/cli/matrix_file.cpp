#include "matrix_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>

#include "input_file.hpp"

namespace vernier::cli {
namespace {

constexpr std::string_view npy_magic = "\x93NUMPY";
constexpr std::string_view matrix_market_magic = "%%MatrixMarket";

std::string lower_extension(const std::string& path) {
  const auto dot = path.rfind('.');
  if (dot == std::string::npos || path.find('/', dot) != std::string::npos) return "";
  std::string extension = path.substr(dot);
  std::transform(extension.begin(), extension.end(), extension.begin(), [](unsigned char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : static_cast<char>(c);
  });
  return extension;
}

}  // namespace

std::int64_t Matrix::leading_dimension() const {
  return std::max<std::int64_t>(1, order == Order::row_major ? columns : rows);
}

std::int64_t Matrix::offset(std::int64_t i, std::int64_t j) const {
  return order == Order::row_major ? i * columns + j : i + j * rows;
}

double Matrix::at(std::int64_t i, std::int64_t j) const {
  return std::visit([&](const auto& x) { return static_cast<double>(x.at(static_cast<std::size_t>(offset(i, j)))); },
                    entries);
}

Matrix in_order(const Matrix& matrix, Order order) {
  Matrix out{matrix.rows, matrix.columns, order, {}, matrix.vector};
  std::visit(
      [&]<class T>(const std::vector<T>& x) {
        std::vector<T> entries;
        entries.reserve(x.size());
        take_in_order(matrix, x, order,
                      [&](const T* run, std::size_t count) { entries.insert(entries.end(), run, run + count); });
        out.entries = std::move(entries);
      },
      matrix.entries);
  return out;
}

NonFinite count_nonfinite(const Matrix& matrix) {
  NonFinite count;
  std::visit(
      [&](const auto& x) {
        for (auto value : x) {
          count.nans += std::isnan(value);
          count.infinities += std::isinf(value);
        }
      },
      matrix.entries);
  return count;
}

std::optional<FileFormat> output_format(const std::string& path) {
  if (path == "-") return FileFormat::npy;
  const std::string extension = lower_extension(path);
  if (extension == ".npy") return FileFormat::npy;
  if (extension == ".mtx") return FileFormat::matrix_market;
  return std::nullopt;
}

FileFormat format_of_input(const std::string& path) {
  if (const auto format = output_format(path)) return *format;
  if (!is_regular_file(path)) {
    throw FileError(path, "the name says no format (.npy or .mtx), and only a regular file can be asked for its own");
  }
  std::string head(matrix_market_magic.size(), '\0');
  InputFile file(path);
  head.resize(file.read_some(head.data(), head.size()));
  if (head.starts_with(npy_magic)) return FileFormat::npy;
  if (head == matrix_market_magic) return FileFormat::matrix_market;
  throw FileError(path, "neither a NumPy .npy nor a Matrix Market .mtx file");
}

Matrix read_matrix(const std::string& path, Vectors vectors) {
  return format_of_input(path) == FileFormat::npy ? read_npy(path, vectors) : read_matrix_market(path);
}

void write_matrix(OutputFile& file, FileFormat format, const Matrix& matrix, Order order) {
  if (format == FileFormat::npy) {
    write_npy(file, matrix, order);
  } else {
    write_matrix_market(file, matrix);
  }
}

std::int64_t checked_bytes(const std::string& what, std::int64_t rows, std::int64_t columns, std::int64_t bytes_each) {
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(rows, columns, &bytes) || __builtin_mul_overflow(bytes, bytes_each, &bytes)) {
    throw FileError(what,
                    fmt::format("{} x {} entries of {} bytes are more than 2^63 bytes", rows, columns, bytes_each));
  }
  const double memory = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (static_cast<double>(bytes) > memory) {
    throw FileError(
        what, fmt::format("{} x {} entries take {:.1f} GiB as a dense matrix, and this machine has {:.1f} GiB", rows,
                          columns, static_cast<double>(bytes) / 0x1p30, memory / 0x1p30));
  }
  return bytes;
}

}  // namespace vernier::cli
