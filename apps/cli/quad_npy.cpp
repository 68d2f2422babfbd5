#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "npy_header.hpp"
#include "pickled_quads.hpp"
#include "quad_matrix.hpp"

namespace vernier::cli {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::size_t entry_bytes = 16;

// long double of x86: ten bytes and six of nothing, which are written as zeros.
constexpr bool writes_long_double =
    sizeof(long double) == entry_bytes && std::numeric_limits<long double>::digits == 64;
constexpr std::size_t long_double_bytes = writes_long_double ? 10 : sizeof(long double);

#if defined(__SIZEOF_FLOAT128__)
constexpr bool writes_binary128 = true;
using Widest = binary128;
#else
constexpr bool writes_binary128 = false;
using Widest = long double;
#endif

// hi + lo, rounded once: T holds more bits than either.
template <class T>
T sum_of(const dd& x) {
  return x.lo == 0 || x.hi - x.hi != 0 ? static_cast<T>(x.hi) : static_cast<T>(x.hi) + static_cast<T>(x.lo);
}

template <class T>
void write_entries(OutputFile& file, const std::vector<dd>& entries, std::size_t bytes_of_number) {
  std::vector<char> run;
  for (std::size_t e = 0; e < entries.size();) {
    constexpr std::size_t most = std::size_t{1} << 16;
    run.assign(std::min(most, entries.size() - e) * entry_bytes, '\0');
    for (std::size_t at = 0; at < run.size(); at += entry_bytes, ++e) {
      const T x = sum_of<T>(entries[e]);
      std::memcpy(run.data() + at, &x, bytes_of_number);
    }
    file.write(run.data(), run.size());
  }
}

}  // namespace

QuadEntries parse_quad_entries(const std::string& name) {
  if (name == "dd") return QuadEntries::dd;
  if (name == "longdouble" && writes_long_double) return QuadEntries::long_double;
  if (name == "quaddtype" && writes_binary128) return QuadEntries::quaddtype;
  throw std::invalid_argument("entries '" + name + "': expected dd, longdouble or quaddtype, of which this processor " +
                              (writes_long_double && writes_binary128 ? "has all" : "lacks some"));
}

void write_quad_npy(OutputFile& file, const QuadMatrix& matrix, QuadEntries entries) {
  std::vector<std::int64_t> shape = {matrix.rows, matrix.columns};
  if (matrix.vector) shape = {matrix.rows * matrix.columns};
  const bool by_columns = matrix.order == Order::column_major && !matrix.vector;
  const char* descr = entries == QuadEntries::dd            ? npy_dd_descr
                      : entries == QuadEntries::long_double ? "<f16"
                                                            : npy_object_descr;
  const std::string preamble = npy_preamble({descr, by_columns, shape});
  file.write(preamble.data(), preamble.size());
  if (entries == QuadEntries::dd) return file.write(matrix.entries.data(), matrix.entries.size() * sizeof(dd));
  if (entries == QuadEntries::long_double) return write_entries<long double>(file, matrix.entries, long_double_bytes);
  const PickleAround around = pickle_around_quads(shape, by_columns);
  file.write(around.before.data(), around.before.size());
  write_entries<Widest>(file, matrix.entries, sizeof(Widest));
  file.write(around.behind.data(), around.behind.size());
}

}  // namespace vernier::cli
