#include "quad_matrix.hpp"

#include <mpfr.h>

#include <array>
#include <bit>

#include "npy_header.hpp"

namespace vernier::cli {
namespace {

// 36 digits of hi + lo.
class Digits {
 public:
  Digits() {
    mpfr_init2(sum_, 300);
    mpfr_init2(low_, 53);
  }
  ~Digits() { mpfr_clears(sum_, low_, nullptr); }
  Digits(const Digits&) = delete;
  Digits& operator=(const Digits&) = delete;

  std::string of(const dd& x) {
    mpfr_set_d(sum_, x.hi, MPFR_RNDN);
    mpfr_set_d(low_, std::isfinite(x.hi) ? x.lo : 0, MPFR_RNDN);
    mpfr_add(sum_, sum_, low_, MPFR_RNDN);
    std::array<char, 80> text;
    mpfr_snprintf(text.data(), text.size(), "%.35Re\n", sum_);
    return text.data();
  }

 private:
  mpfr_t sum_, low_;
};

std::int64_t offset(const QuadMatrix& m, std::int64_t i, std::int64_t j) {
  return m.order == Order::column_major ? i + j * m.rows : j + i * m.columns;
}

}  // namespace

QuadMatrix read_quad_matrix(const std::string& path, Vectors vectors) {
  if (path == "-" || output_format(path) == FileFormat::npy) return read_quad_npy(path, vectors);
  const Matrix matrix = read_matrix(path, vectors);
  QuadMatrix quad{matrix.rows, matrix.columns, matrix.order, {}, matrix.vector};
  std::visit([&](const auto& x) { quad.entries.assign(x.begin(), x.end()); }, matrix.entries);
  return quad;
}

void write_quad_matrix(OutputFile& file, FileFormat format, const QuadMatrix& matrix) {
  if (format == FileFormat::npy) {
    static_assert(std::endian::native == std::endian::little);
    std::vector<std::int64_t> shape = {matrix.rows, matrix.columns};
    if (matrix.vector) shape = {matrix.rows * matrix.columns};
    const std::string preamble =
        npy_preamble({npy_dd_descr, matrix.order == Order::column_major && !matrix.vector, shape});
    file.write(preamble.data(), preamble.size());
    file.write(matrix.entries.data(), matrix.entries.size() * sizeof(dd));
    return;
  }
  Digits digits;
  std::string text = "%%MatrixMarket matrix array real general\n" + std::to_string(matrix.rows) + " " +
                     std::to_string(matrix.columns) + "\n";
  for (std::int64_t j = 0; j < matrix.columns; ++j)
    for (std::int64_t i = 0; i < matrix.rows; ++i)
      text += digits.of(matrix.entries[static_cast<std::size_t>(offset(matrix, i, j))]);
  file.write(text.data(), text.size());
}

}  // namespace vernier::cli
