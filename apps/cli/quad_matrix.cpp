#include "quad_matrix.hpp"

#include "decimal_digits.hpp"
#include "input_file.hpp"

namespace vernier::cli {
namespace {

void write_digits(OutputFile& file, const QuadMatrix& m) {
  DecimalDigits digits;
  std::string text =
      "%%MatrixMarket matrix array real general\n" + std::to_string(m.rows) + " " + std::to_string(m.columns) + "\n";
  for (std::int64_t j = 0; j < m.columns; ++j)
    for (std::int64_t i = 0; i < m.rows; ++i) {
      const std::int64_t at = m.order == Order::column_major ? i + j * m.rows : j + i * m.columns;
      text += digits.write(m.entries[static_cast<std::size_t>(at)]) + "\n";
      if (text.size() < (std::size_t{1} << 20)) continue;
      file.write(text.data(), text.size());
      text.clear();
    }
  file.write(text.data(), text.size());
}

}  // namespace

QuadMatrix read_quad_matrix(const std::string& path, Vectors vectors) {
  const auto format = format_of_input(path);
  return format == FileFormat::npy ? read_quad_npy(path, vectors) : read_quad_matrix_market(path);
}

void write_quad_matrix(OutputFile& file, FileFormat format, const QuadMatrix& matrix, QuadEntries entries) {
  if (format == FileFormat::npy) return write_quad_npy(file, matrix, entries);
  write_digits(file, matrix);
}

}  // namespace vernier::cli
