// The loop of update.hpp, compiled once a set of instructions: where a fused multiply-add is one instruction, the
// compiler makes vectors of it.
#pragma once

#include <cmath>

#include "base/instantiate.hpp"
#include "residue/recombine/recombine.hpp"

namespace vernier {
namespace {

template <class T>
void update_tile(const TileUpdate<T>& u, const T* tile) {
  for (std::int64_t j = 0; j < u.columns; ++j, tile += strip_size) {
    T* c = u.to.c + j * u.to.ldc;
    if (u.row_proofs != nullptr) {
      for (std::int64_t i = 0; i < u.rows; ++i)
        if (entry_is_ordinary(u.row_proofs[i], u.column_proofs[j]) == u.ordinary)
          c[i] = u.to.beta == 0 ? u.to.alpha * tile[i] : std::fma(u.to.alpha, tile[i], u.to.beta * c[i]);
    } else if (u.to.beta != 0) {
      for (std::int64_t i = 0; i < u.rows; ++i) c[i] = std::fma(u.to.alpha, tile[i], u.to.beta * c[i]);
    } else {
      for (std::int64_t i = 0; i < u.rows; ++i) c[i] = u.to.alpha * tile[i];
    }
  }
}

}  // namespace
}  // namespace vernier

// Compiles it for one set of instructions.
#define VERNIER_UPDATE_OF(set)                                          \
  namespace vernier {                                                   \
  template <class T>                                                    \
  void update_##set(const TileUpdate<T>& update, const T* tile) {       \
    update_tile(update, tile);                                          \
  }                                                                     \
  template struct Instances<update_##set<double>, update_##set<float>>; \
  }
