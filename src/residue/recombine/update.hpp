// A tile of T = op(A) op(B) into C.
#pragma once

#include <cstdint>

#include "engine/panel.hpp"
#include "product/operand.hpp"
#include "residue/scale/scaling.hpp"

namespace vernier {

// C = RN(alpha T + RN(beta C)) on rows x columns (at most 32 each) of C; RN(alpha T) if beta = 0, whatever C held. If
// rows of row_proofs and columns of column_proofs are given, only the entries that are (ordinary) or are not ordinary
// are written.
template <class T>
struct TileUpdate {
  Output<T> to;  // from the tile's first entry on
  std::int64_t rows, columns;
  bool large = false;                       // all of C is more than caches hold
  const VectorProof* row_proofs = nullptr;  // both null: every entry
  const VectorProof* column_proofs = nullptr;
  bool ordinary = true;
};

// Lines of C that an update has written past the caches are there for other threads once this has run.
inline void publish_portable() {}

template <class T>
void update_portable(const TileUpdate<T>& update, const T* tile);

}  // namespace vernier
