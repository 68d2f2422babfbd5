// NumPy's .npy: a matrix of the shape that the header claims, or FileError.
#include "fuzz/target.hpp"
#include "input_file.hpp"
#include "matrix_file.hpp"
#include "npy_header.hpp"

namespace vernier::fuzz {
namespace {

std::string file_of(const std::string& descr, bool fortran, const std::vector<std::int64_t>& shape, std::size_t bytes) {
  std::string data(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<char>(i * 37);
  return cli::npy_preamble({descr, fortran, shape}) + data;
}

std::size_t entries_of(const cli::Matrix& x) {
  return std::visit([](const auto& entries) { return entries.size(); }, x.entries);
}

}  // namespace

std::vector<std::string> seeds() {
  std::vector<std::string> all = {
      file_of("<f8", false, {2, 3}, 48), file_of("<f8", true, {2, 3}, 48), file_of("<f4", false, {3, 1}, 12),
      file_of(">f8", false, {1, 1}, 8),  file_of("|i1", false, {2, 2}, 4), file_of("<u8", true, {1, 2}, 16),
      file_of("<i4", false, {5}, 20),    file_of("<f8", false, {0, 4}, 0), file_of("<c16", false, {1, 1}, 16)};
  std::string version_2 = all[0];
  version_2[6] = 2;
  version_2.insert(10, 2, '\0');
  all.push_back(version_2);
  return all;
}

void try_input(std::string_view bytes) {
  const MemoryFile file(bytes);
  constexpr cli::Vectors choices[] = {cli::Vectors::refused, cli::Vectors::rows, cli::Vectors::columns};
  try {
    const cli::Matrix x = cli::read_npy(file.path(), choices[bytes.size() % 3]);
    promise(x.rows >= 0 && x.columns >= 0, "sizes of a matrix are not negative");
    promise(entries_of(x) == static_cast<std::size_t>(x.rows * x.columns), "a matrix has all its entries");
    cli::count_nonfinite(x);
  } catch (const cli::FileError&) {
  }
}

}  // namespace vernier::fuzz
