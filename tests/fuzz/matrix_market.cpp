// Matrix Market: a matrix of the sizes that the file states, or FileError; memory in proportion to the file.
#include "fuzz/target.hpp"
#include "input_file.hpp"
#include "matrix_file.hpp"
#include "quad_matrix.hpp"

namespace vernier::fuzz {

std::vector<std::string> seeds() {
  const std::string banner = "%%MatrixMarket matrix ";
  return {banner + "array real general\n2 3\n1\n2\n3\n4\n5\n6\n",
          banner + "array integer symmetric\n% a comment\n2 2\n1\n2\n3\n",
          banner + "array real skew-symmetric\n3 3\n1e300\n-2.5\n+3\n",
          banner + "coordinate real general\n3 3 2\n1 1 0.5\n3 2 -1\n",
          banner + "coordinate pattern symmetric\n3 3 2\n1 1\n3 2\n",
          banner + "coordinate integer skew-symmetric\n\n4 4 1\n2 1 9007199254740993\n",
          banner + "array real general\n1 2\n0.1000000000000000055511151231257827021\n-1.5e-300\n",
          banner + "array real general\n0 7\n",
          banner + "coordinate real general\n100000 100000 1\n1 1 1\n"};
}

void try_input(std::string_view bytes) {
  const MemoryFile file(bytes);
  try {
    const cli::Matrix x = cli::read_matrix_market(file.path());
    promise(x.rows >= 0 && x.columns >= 0, "sizes of a matrix are not negative");
    promise(std::get<std::vector<double>>(x.entries).size() == static_cast<std::size_t>(x.rows * x.columns),
            "a matrix has all its entries");
    const cli::QuadMatrix wide = cli::read_quad_matrix_market(file.path());
    const auto& plain = std::get<std::vector<double>>(x.entries);
    promise(wide.rows == x.rows && wide.entries.size() == plain.size(), "more digits are no other matrix");
    for (std::size_t e = 0; e < plain.size(); ++e)
      promise(wide.entries[e].hi == plain[e] || plain[e] != plain[e], "hi is the double nearest to an entry");
  } catch (const cli::FileError&) {
  }
}

}  // namespace vernier::fuzz
