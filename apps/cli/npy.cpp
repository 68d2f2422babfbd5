#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "input_file.hpp"
#include "matrix_file.hpp"
#include "npy_header.hpp"
#include "pickled_quads.hpp"
#include "quad_matrix.hpp"

namespace vernier::cli {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t longest_header = std::size_t{1} << 20;  // NumPy itself refuses beyond 10000 unless told to trust
constexpr std::size_t chunk_bytes = std::size_t{1} << 20;     // a multiple of every entry size

std::string read_exactly(InputFile& file, std::size_t bytes, const char* what) {
  std::string data(bytes, '\0');
  if (file.read_some(data.data(), bytes) != bytes) {
    throw FileError(file.path(), fmt::format("truncated: the file ends inside its {}", what));
  }
  return data;
}

NpyHeader read_header(InputFile& file) {
  std::string start(magic.size(), '\0');
  start.resize(file.read_some(start.data(), start.size()));
  if (start.empty()) throw FileError(file.path(), "is empty");
  if (start != magic) throw FileError(file.path(), "not a NumPy .npy file: it does not begin with \\x93NUMPY");
  const std::string version = read_exactly(file, 2, "version");
  const int major = static_cast<unsigned char>(version[0]), minor = static_cast<unsigned char>(version[1]);
  if (major < 1 || major > 3 || minor != 0) {
    throw FileError(file.path(), fmt::format("is of .npy version {}.{}; 1.0, 2.0 and 3.0 can be read", major, minor));
  }
  const std::string length_bytes = read_exactly(file, major == 1 ? 2 : 4, "header");
  std::size_t length = 0;
  for (std::size_t i = 0; i < length_bytes.size(); ++i) {
    length |= static_cast<std::size_t>(static_cast<unsigned char>(length_bytes[i])) << (8 * i);
  }
  if (length > longest_header) throw FileError(file.path(), fmt::format("its header claims {} bytes", length));
  try {
    return parse_npy_dictionary(read_exactly(file, length, "header"));
  } catch (const std::invalid_argument& error) {
    throw FileError(file.path(), error.what());
  }
}

struct EntryType {
  char kind;  // 'f', 'i', 'u'
  int bytes;
  bool swapped;
};

EntryType parse_type(const std::string& path, const std::string& descr) {
  constexpr bool little = std::endian::native == std::endian::little;
  const std::string_view name = std::string_view(descr).substr(std::min<std::size_t>(1, descr.size()));
  constexpr std::array<std::string_view, 10> known = {"f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"};
  const bool has_order = !descr.empty() && std::string_view("<>=|").find(descr[0]) != std::string_view::npos;
  if (has_order && std::find(known.begin(), known.end(), name) != known.end()) {
    const bool swapped = (descr[0] == '<' && !little) || (descr[0] == '>' && little);
    return {name[0], name[1] - '0', swapped};
  }
  if (descr == npy_dd_descr || descr == npy_object_descr || (has_order && name == "f16"))
    throw FileError(
        path,
        fmt::format(
            "its entries are wider than double, or Python objects ('{}'): vernier gemm --type dd and vernier solve "
            "--precision quad read them",
            descr));
  if (has_order && name.starts_with('c')) {
    throw FileError(path, fmt::format("its entries are complex ('{}'); the command line takes real matrices", descr));
  }
  throw FileError(path,
                  fmt::format("its entries have the type '{}'; f4, f8, i1 to i8 and u1 to u8 can be read", descr));
}

template <class From, class To>
std::optional<To> exactly(From value) {
  const To result = static_cast<To>(value);
  if constexpr (sizeof(From) == 8 && !std::is_floating_point_v<From>) {
    const To limit = std::ldexp(To{1}, std::is_signed_v<From> ? 63 : 64);  // casting this back would overflow
    if (result >= limit || static_cast<From>(result) != value) return std::nullopt;
  }
  return result;
}

template <class From, class To>
void append(const std::string& path, const char* raw, std::size_t count, bool swapped, std::vector<To>& out) {
  if (std::is_same_v<From, To> && !swapped) {  // as they are: files may be larger than a GPU's memory
    const std::size_t before = out.size();
    out.resize(before + count);
    std::memcpy(out.data() + before, raw, count * sizeof(To));
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    std::array<char, sizeof(From)> bytes;
    std::memcpy(bytes.data(), raw + i * sizeof(From), sizeof(From));
    if (swapped) std::reverse(bytes.begin(), bytes.end());
    const From value = std::bit_cast<From>(bytes);
    const auto converted = exactly<From, To>(value);
    if constexpr (std::is_integral_v<From>)
      if (!converted)
        throw FileError(path, fmt::format("entry {} is the integer {}, which no double holds", out.size(), value));
    out.push_back(*converted);
  }
}

// The file's size has been checked where it is known; where it is not, memory grows only as data come.
template <class From, class To>
std::vector<To> read_entries(InputFile& file, std::int64_t count, bool swapped) {
  std::vector<To> entries;
  if (file.size()) entries.reserve(static_cast<std::size_t>(count));
  std::string raw(chunk_bytes, '\0');
  while (static_cast<std::int64_t>(entries.size()) < count) {
    const std::int64_t left = count - static_cast<std::int64_t>(entries.size());
    const auto wanted =
        static_cast<std::size_t>(std::min<std::int64_t>(left, chunk_bytes / sizeof(From))) * sizeof(From);
    if (file.read_some(raw.data(), wanted) != wanted) {
      throw FileError(file.path(), fmt::format("truncated: the file ends before its {} entries do", count));
    }
    append<From, To>(file.path(), raw.data(), wanted / sizeof(From), swapped, entries);
  }
  char extra = 0;
  if (file.read_some(&extra, 1) != 0) throw FileError(file.path(), fmt::format("goes on after its {} entries", count));
  return entries;
}

std::variant<std::vector<double>, std::vector<float>> read_entries(InputFile& file, std::int64_t count,
                                                                   EntryType type) {
  const bool swapped = type.swapped;
  switch (type.kind == 'f' ? type.bytes + 10 : type.kind == 'u' ? type.bytes + 20 : type.bytes) {
    case 14:
      return read_entries<float, float>(file, count, swapped);
    case 18:
      return read_entries<double, double>(file, count, swapped);
    case 1:
      return read_entries<std::int8_t, double>(file, count, swapped);
    case 2:
      return read_entries<std::int16_t, double>(file, count, swapped);
    case 4:
      return read_entries<std::int32_t, double>(file, count, swapped);
    case 8:
      return read_entries<std::int64_t, double>(file, count, swapped);
    case 21:
      return read_entries<std::uint8_t, double>(file, count, swapped);
    case 22:
      return read_entries<std::uint16_t, double>(file, count, swapped);
    case 24:
      return read_entries<std::uint32_t, double>(file, count, swapped);
    default:
      return read_entries<std::uint64_t, double>(file, count, swapped);
  }
}

void check_shape(const std::string& path, const std::vector<std::int64_t>& shape) {
  if (shape.size() == 2) return;
  if (shape.size() == 1) {
    throw FileError(
        path, fmt::format("is a vector of {0} entries, neither row nor column: reshape it to (1, {0}) or ({0}, 1)",
                          shape[0]));
  }
  throw FileError(path, fmt::format("is an array of {} dimensions; a matrix has 2", shape.size()));
}

void check_size(const InputFile& file, std::int64_t bytes, const NpyHeader& header) {
  if (!file.size()) return;
  const std::int64_t held = *file.size() - file.position();
  if (held == bytes) return;
  throw FileError(file.path(), fmt::format("{}: shape ({}) of {} needs {} bytes of data, the file holds {}",
                                           held < bytes ? "truncated" : "has bytes after its data",
                                           fmt::join(header.shape, ", "), header.descr, bytes, held));
}

// The header of a matrix, or of a vector as one.
NpyHeader read_matrix_header(InputFile& file, Vectors vectors, bool& vector) {
  NpyHeader header = read_header(file);
  vector = header.shape.size() == 1 && vectors != Vectors::refused;
  if (vector) header.shape.insert(vectors == Vectors::columns ? header.shape.end() : header.shape.begin(), 1);
  return header;
}

// Sizes of the data as the header has them.
void check_data(InputFile& file, const NpyHeader& header, int bytes, std::int64_t bytes_in_memory) {
  check_shape(file.path(), header.shape);
  check_size(file, checked_bytes(file.path(), header.shape[0], header.shape[1], bytes), header);
  checked_bytes(file.path(), header.shape[0], header.shape[1], bytes_in_memory);
}

// long double in 16 bytes: the 80 bits of x86, which a dd holds within double's range, or binary128.
constexpr bool reads_long_double = sizeof(long double) == 16 && std::numeric_limits<long double>::digits >= 64;

// hi and lo each rounded once: of the 113 bits of a binary128 a dd holds 107 at least.
template <class T>
dd rounded_to_dd(T x) {
  const auto hi = static_cast<double>(x);
  return {hi, std::isfinite(hi) ? static_cast<double>(x - static_cast<T>(hi)) : 0};
}

template <class T>
std::vector<dd> rounded_to_dd(std::string_view raw) {
  std::vector<dd> entries;
  entries.reserve(raw.size() / sizeof(T));
  for (; !raw.empty(); raw.remove_prefix(sizeof(T))) {
    T x;
    std::memcpy(&x, raw.data(), sizeof(T));
    entries.push_back(rounded_to_dd(x));
  }
  return entries;
}

// An array of NumPy's quaddtype.
std::vector<dd> pickled_entries(InputFile& file, std::int64_t count, Order& order) {
  const std::string text = file.read_all();
  PickledQuads pickled;
  try {
    pickled = parse_pickled_quads(text);
  } catch (const std::invalid_argument& error) {
    throw FileError(file.path(), error.what());
  }
  if (static_cast<std::int64_t>(pickled.data.size()) != 16 * count)
    throw FileError(file.path(), fmt::format("its pickle holds {} bytes of data: its shape needs {}",
                                             pickled.data.size(), 16 * count));
  order = pickled.fortran_order ? Order::column_major : Order::row_major;
  if (pickled.long_double && reads_long_double) return rounded_to_dd<long double>(pickled.data);
#if defined(__SIZEOF_FLOAT128__)
  if (!pickled.long_double) return rounded_to_dd<binary128>(pickled.data);
#endif
  throw FileError(file.path(), "its numbers have a format that this processor lacks");
}

std::vector<dd> quad_entries(InputFile& file, std::int64_t count, const std::string& descr) {
  if (descr == npy_dd_descr) return read_entries<dd, dd>(file, count, false);
  std::vector<dd> entries;
  if (reads_long_double && descr == "<f16") {
    for (const long double x : read_entries<long double, long double>(file, count, false))
      entries.push_back(rounded_to_dd(x));
    return entries;
  }
  std::visit([&](const auto& x) { entries.assign(x.begin(), x.end()); },
             read_entries(file, count, parse_type(file.path(), descr)));
  return entries;
}

}  // namespace

QuadMatrix read_quad_npy(const std::string& path, Vectors vectors) {
  InputFile file(path);
  QuadMatrix matrix;
  const NpyHeader header = read_matrix_header(file, vectors, matrix.vector);
  if (header.descr == npy_object_descr) {
    check_shape(path, header.shape);
    matrix.rows = header.shape[0], matrix.columns = header.shape[1];
    checked_bytes(path, matrix.rows, matrix.columns, sizeof(dd));
    matrix.entries = pickled_entries(file, matrix.rows * matrix.columns, matrix.order);
    return matrix;
  }
  const bool wide = header.descr == npy_dd_descr || (reads_long_double && header.descr == "<f16");
  check_data(file, header, wide ? 16 : parse_type(file.path(), header.descr).bytes, sizeof(dd));
  matrix.rows = header.shape[0], matrix.columns = header.shape[1];
  matrix.order = header.fortran_order ? Order::column_major : Order::row_major;
  matrix.entries = quad_entries(file, matrix.rows * matrix.columns, header.descr);
  return matrix;
}

Matrix read_npy(const std::string& path, Vectors vectors) {
  InputFile file(path);
  bool vector = false;
  const NpyHeader header = read_matrix_header(file, vectors, vector);
  const EntryType type = parse_type(file.path(), header.descr);
  check_data(file, header, type.bytes, sizeof(double));
  const std::int64_t rows = header.shape[0], columns = header.shape[1];
  const Order order = header.fortran_order ? Order::column_major : Order::row_major;
  return {rows, columns, order, read_entries(file, rows * columns, type), vector};
}

void write_npy(OutputFile& file, const Matrix& matrix, Order order) {
  const char endian = std::endian::native == std::endian::little ? '<' : '>';
  const std::string descr = fmt::format("{}f{}", endian, matrix.is_double() ? 8 : 4);
  std::vector<std::int64_t> shape = {matrix.rows, matrix.columns};
  if (matrix.vector) shape = {matrix.rows * matrix.columns};
  const std::string preamble = npy_preamble({descr, order == Order::column_major && !matrix.vector, shape});
  file.write(preamble.data(), preamble.size());
  std::visit(
      [&]<class T>(const std::vector<T>& x) {
        take_in_order(matrix, x, order, [&](const T* run, std::size_t count) { file.write(run, count * sizeof(T)); });
      },
      matrix.entries);
}

}  // namespace vernier::cli
