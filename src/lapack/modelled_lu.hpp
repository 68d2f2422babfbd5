// LU with partial pivoting on modelled engines: what a matrix engine would have computed, bit for bit, on any CPU.
#pragma once

#include <cstdint>
#include <vector>

#include "vernier/model.hpp"

namespace vernier {

// Numbers of a format, held in double: column-major, n x n.
struct ModelledLu {
  std::vector<double> lu;
  std::vector<std::int64_t> pivots;  // from 1
  std::int64_t info = 0;             // as of getrf
};

struct ModelledScheme {
  model::Engine engine;  // of the products; its format of c is that of all other arithmetic, each operation rounded
  // Panels of `outer` columns. Inside them small panels of `inner` columns are factorised by scalar operations, and all
  // products are the engine's: the double panel hierarchy. inner = outer is a panel without the engine; the plain
  // right-looking algorithm of the papers has inner = outer = b.
  std::int64_t outer = 64, inner = 4;
};

// L and U in the format of c.
ModelledLu modelled_right_looking_lu(const ModelledScheme& scheme, std::int64_t n, const double* a, std::int64_t lda);

// L and U in the format of the engine's inputs; a buffer of one block column, `outer` wide, in the format of c collects
// all updates before it is factorised and rounded once.
ModelledLu modelled_left_looking_lu(const ModelledScheme& scheme, std::int64_t n, const double* a, std::int64_t lda);

}  // namespace vernier
