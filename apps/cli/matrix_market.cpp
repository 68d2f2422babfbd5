// Matrix Market exchange format: https://math.nist.gov/MatrixMarket/formats.html
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <sstream>
#include <type_traits>

#include "decimal_digits.hpp"
#include "input_file.hpp"
#include "matrix_file.hpp"
#include "quad_matrix.hpp"

namespace vernier::cli {
namespace {

enum class Symmetry { general, symmetric, skew };
enum class Field { real, integer, unsigned_integer, pattern };  // SciPy writes unsigned-integer

struct Banner {
  bool coordinate = false;
  Field field = Field::real;
  Symmetry symmetry = Symmetry::general;
};

// Lines that hold something, without their comments; knows where it is.
class Lines {
 public:
  Lines(std::string path, std::string_view text) : path_(std::move(path)), rest_(text) {}

  std::optional<std::string_view> next_raw() {
    if (rest_.empty()) return std::nullopt;
    const auto end = rest_.find('\n');
    std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    ++number_;
    return line;
  }

  std::optional<std::string_view> next() {
    while (auto line = next_raw()) {
      const auto first = line->find_first_not_of(" \t\r");
      if (first != std::string_view::npos && (*line)[first] != '%') return line;
    }
    return std::nullopt;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw FileError(path_, fmt::format("line {}: {}", number_, what));
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::string_view rest_;
  std::int64_t number_ = 0;
};

std::string_view take_token(std::string_view& line) {
  const auto first = line.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return line = {};
  const auto end = std::min(line.find_first_of(" \t\r", first), line.size());
  const std::string_view token = line.substr(first, end - first);
  line.remove_prefix(end);
  return token;
}

// text: where not null, becomes what the number is read from.
template <class Number>
Number take_number(const Lines& lines, std::string_view& line, const char* what, std::string_view* text = nullptr) {
  const std::string_view token = take_token(line);
  if (token.empty()) lines.fail(fmt::format("{} is missing", what));
  const std::string_view digits = token.substr(token.starts_with('+') && !token.starts_with("+-") ? 1 : 0);
  if (text != nullptr) *text = digits;
  Number value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc::result_out_of_range) lines.fail(fmt::format("{} '{}' is out of range", what, token));
  if (error != std::errc() || end != digits.data() + digits.size()) {
    lines.fail(fmt::format("{} expected, found '{}'{}", what, token,
                           token.find_first_of("dD") != token.npos ? " (exponents are written with e or E)"
                           : token.find(',') != token.npos         ? " (the decimal mark is a point)"
                                                                   : ""));
  }
  return value;
}

void expect_end(const Lines& lines, std::string_view line) {
  const std::string_view token = take_token(line);
  if (!token.empty()) lines.fail(fmt::format("'{}' is more than the line should hold", token));
}

Banner parse_banner(Lines& lines) {
  const auto line = lines.next_raw();
  if (!line) throw FileError(lines.path(), "is empty");
  std::string lower(*line);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  std::istringstream words(lower);
  std::string mark, object, format, field, symmetry, extra;
  words >> mark >> object >> format >> field >> symmetry >> extra;
  if (mark != "%%matrixmarket")
    throw FileError(lines.path(), "not a Matrix Market file: it does not begin with '%%MatrixMarket matrix'");
  const auto refuse = [&](const char* what, const std::string& word, const char* expected) {
    lines.fail(word.empty() ? fmt::format("the {} is missing: {} expected", what, expected)
                            : fmt::format("the {} '{}' is not known: {} expected", what, word, expected));
  };
  if (object != "matrix") refuse("object", object, "matrix");
  if (format != "array" && format != "coordinate") refuse("format", format, "array or coordinate");
  if (field == "complex")
    lines.fail("the matrix is complex; the command line takes real matrices, vernier.matmul in Python complex ones");
  Banner banner;
  banner.coordinate = format == "coordinate";
  if (field == "integer") {
    banner.field = Field::integer;
  } else if (field == "unsigned-integer") {
    banner.field = Field::unsigned_integer;
  } else if (field == "pattern" && banner.coordinate) {
    banner.field = Field::pattern;
  } else if (field == "pattern") {
    lines.fail("an array has values, so its field is not 'pattern': real, double or integer expected");
  } else if (field != "real" && field != "double") {
    refuse("field", field, banner.coordinate ? "real, double, integer or pattern" : "real, double or integer");
  }
  if (symmetry == "symmetric") {
    banner.symmetry = Symmetry::symmetric;
  } else if (symmetry == "skew-symmetric" && banner.field != Field::pattern) {
    banner.symmetry = Symmetry::skew;
  } else if (symmetry == "skew-symmetric") {
    lines.fail("a pattern has ones alone and is not 'skew-symmetric': general or symmetric expected");
  } else if (symmetry == "hermitian") {
    lines.fail(fmt::format("'hermitian' is for complex matrices; this one is {}: 'symmetric' says the same", field));
  } else if (symmetry != "general") {
    refuse("symmetry", symmetry, "general, symmetric or skew-symmetric");
  }
  if (!extra.empty()) lines.fail(fmt::format("'{}' is more than the line should hold", extra));
  return banner;
}

double negative(double x) { return -x; }
dd negative(const dd& x) { return {-x.hi, -x.lo}; }

// What digits say beyond their double.
class Entries {
 public:
  template <class T>
  T of(double value, std::string_view digits) {
    if constexpr (std::is_same_v<T, dd>)
      if (significant_digits(digits) > digits_of_double) return digits_.read(digits, value);
    return T(value);
  }

 private:
  static constexpr int digits_of_double = std::numeric_limits<double>::max_digits10;
  DecimalDigits digits_;
};

template <class Integer>
double take_integer(const Lines& lines, std::string_view& line) {
  const auto integer = take_number<Integer>(lines, line, "an integer");
  const auto value = static_cast<double>(integer);
  if (value >= std::ldexp(1.0, std::numeric_limits<Integer>::digits) || static_cast<Integer>(value) != integer)
    lines.fail(fmt::format("no double holds the integer {}", integer));
  return value;
}

template <class T>
T take_value(const Lines& lines, std::string_view& line, Field field, Entries& entries) {
  if (field == Field::pattern) return T(1);
  if (field == Field::real) {
    std::string_view digits;
    const auto value = take_number<double>(lines, line, "a number", &digits);
    return entries.of<T>(value, digits);
  }
  return T(field == Field::integer ? take_integer<std::int64_t>(lines, line)
                                   : take_integer<std::uint64_t>(lines, line));
}

template <class T>
void read_array(Lines& lines, const Banner& banner, std::int64_t rows, std::int64_t columns, std::vector<T>& x) {
  Entries entries;
  const bool general = banner.symmetry == Symmetry::general;
  const std::int64_t below =
      banner.symmetry == Symmetry::skew ? 1 : 0;  // first row stored of a column, below the diagonal
  for (std::int64_t j = 0; j < columns && rows > 0; ++j) {
    for (std::int64_t i = general ? 0 : j + below; i < rows; ++i) {
      auto line = lines.next();
      if (!line)
        throw FileError(lines.path(), fmt::format("truncated: the file ends before entry ({}, {})", i + 1, j + 1));
      const T value = take_value<T>(lines, *line, banner.field, entries);
      expect_end(lines, *line);
      x[i + j * rows] = value;
      if (!general && i != j) x[j + i * rows] = banner.symmetry == Symmetry::skew ? negative(value) : value;
    }
  }
}

template <class T>
void read_coordinates(Lines& lines, const Banner& banner, std::int64_t rows, std::int64_t columns, std::int64_t entries,
                      std::vector<T>& x) {
  Entries read;
  std::vector<bool> given(x.size());  // an entry given twice has no agreed meaning (sum? last?), so it is refused
  const auto put = [&](std::int64_t i, std::int64_t j, const T& value) {
    if (given[i + j * rows]) lines.fail(fmt::format("entry ({}, {}) was given before", i + 1, j + 1));
    given[i + j * rows] = true;
    x[i + j * rows] = value;
  };
  for (std::int64_t e = 0; e < entries; ++e) {
    auto line = lines.next();
    if (!line)
      throw FileError(lines.path(), fmt::format("truncated: the file ends after {} of {} entries", e, entries));
    const auto i = take_number<std::int64_t>(lines, *line, "a row") - 1;
    const auto j = take_number<std::int64_t>(lines, *line, "a column") - 1;
    if (i < 0 || i >= rows || j < 0 || j >= columns) {
      lines.fail(fmt::format("entry ({}, {}) lies outside the {} x {} matrix", i + 1, j + 1, rows, columns));
    }
    const T value = take_value<T>(lines, *line, banner.field, read);
    expect_end(lines, *line);
    const bool skew = banner.symmetry == Symmetry::skew;
    if (skew && i == j && !(value == T(0))) lines.fail("a skew-symmetric matrix has zeros on its diagonal");
    put(i, j, value);
    if (banner.symmetry != Symmetry::general && i != j) put(j, i, skew ? negative(value) : value);
  }
}

// Memory that a file may ask for whatever its size, and beyond that for each of its bytes.
constexpr std::int64_t unasked_bytes = std::int64_t{1} << 30, most_expansion = 1 << 16;

template <class T>
struct Dense {
  std::int64_t rows, columns;
  std::vector<T> entries;  // by columns
};

template <class T>
Dense<T> read_dense(const std::string& path) {
  InputFile file(path);
  const std::string text = file.read_all();
  Lines lines(path, text);
  const Banner banner = parse_banner(lines);
  auto line = lines.next();
  if (!line) throw FileError(path, "truncated: the file ends before the line of sizes");
  const auto rows = take_number<std::int64_t>(lines, *line, "the number of rows");
  const auto columns = take_number<std::int64_t>(lines, *line, "the number of columns");
  const auto entries = banner.coordinate ? take_number<std::int64_t>(lines, *line, "the number of entries") : 0;
  expect_end(lines, *line);
  if (rows < 0 || columns < 0 || entries < 0) lines.fail("a size is negative: zero or more expected");
  if (banner.symmetry != Symmetry::general && rows != columns) {
    lines.fail(fmt::format("a {} matrix is square, not {} x {}",
                           banner.symmetry == Symmetry::skew ? "skew-symmetric" : "symmetric", rows, columns));
  }
  const std::int64_t bytes = checked_bytes(path, rows, columns, sizeof(T));
  if (bytes > unasked_bytes && bytes / most_expansion > static_cast<std::int64_t>(text.size()))
    throw FileError(path,
                    fmt::format("{} x {} entries take {:.1f} GiB as a dense matrix, for a file of {} bytes: a size "
                                "is false, or the matrix too sparse for dense products",
                                rows, columns, static_cast<double>(bytes) / 0x1p30, text.size()));
  // An entry takes two bytes or more, but for the last: a false size is found before memory is spent on it.
  const std::int64_t all = rows * columns;
  const std::int64_t stored = banner.coordinate                        ? entries
                              : banner.symmetry == Symmetry::general   ? all
                              : banner.symmetry == Symmetry::symmetric ? (all + rows) / 2
                                                                       : (all - rows) / 2;
  if (stored / 2 > static_cast<std::int64_t>(text.size())) {
    throw FileError(path, fmt::format("truncated: {} entries do not fit into its {} bytes", stored, text.size()));
  }
  if (banner.coordinate && entries > all)
    lines.fail(fmt::format("{} entries in a {} x {} matrix", entries, rows, columns));
  std::vector<T> x(static_cast<std::size_t>(rows * columns));
  if (banner.coordinate) {
    read_coordinates(lines, banner, rows, columns, entries, x);
  } else {
    read_array(lines, banner, rows, columns, x);
  }
  if (lines.next()) lines.fail("the file goes on after its last entry");
  return {rows, columns, std::move(x)};
}

}  // namespace

Matrix read_matrix_market(const std::string& path) {
  Dense<double> x = read_dense<double>(path);
  return {x.rows, x.columns, Order::column_major, std::move(x.entries)};
}

QuadMatrix read_quad_matrix_market(const std::string& path) {
  Dense<dd> x = read_dense<dd>(path);
  return {x.rows, x.columns, Order::column_major, std::move(x.entries)};
}

void write_matrix_market(OutputFile& file, const Matrix& matrix) {
  std::string text = fmt::format("%%MatrixMarket matrix array real general\n{} {}\n", matrix.rows, matrix.columns);
  std::visit(
      [&](const auto& x) {
        for (std::int64_t j = 0; j < matrix.columns && matrix.rows > 0; ++j) {
          for (std::int64_t i = 0; i < matrix.rows; ++i) {
            fmt::format_to(std::back_inserter(text), "{}\n",
                           x[matrix.offset(i, j)]);  // shortest that reads back the same
            if (text.size() < (std::size_t{1} << 20)) continue;
            file.write(text.data(), text.size());
            text.clear();
          }
        }
      },
      matrix.entries);
  file.write(text.data(), text.size());
}

}  // namespace vernier::cli
