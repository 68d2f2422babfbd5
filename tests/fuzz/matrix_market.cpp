// Matrix Market: a matrix of the sizes that the file states, or FileError; memory in proportion to the file.
#include "fuzz/target.hpp"
#include "input_file.hpp"
#include "matrix_file.hpp"

namespace vernier::fuzz {

std::vector<std::string> seeds() {
  const std::string banner = "%%MatrixMarket matrix ";
  return {banner + "array real general\n2 3\n1\n2\n3\n4\n5\n6\n",
          banner + "array integer symmetric\n% a comment\n2 2\n1\n2\n3\n",
          banner + "array real skew-symmetric\n3 3\n1e300\n-2.5\n+3\n",
          banner + "coordinate real general\n3 3 2\n1 1 0.5\n3 2 -1\n",
          banner + "coordinate pattern symmetric\n3 3 2\n1 1\n3 2\n",
          banner + "coordinate integer skew-symmetric\n\n4 4 1\n2 1 9007199254740993\n",
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
  } catch (const cli::FileError&) {
  }
}

}  // namespace vernier::fuzz
