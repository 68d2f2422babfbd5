#include "residue/recombine/update_loop.hpp"

namespace vernier {

template <class T>
void update_avx2(const TileUpdate<T>& update, const T* tile) {
  update_tile(update, tile);
}

template void update_avx2(const TileUpdate<double>&, const double*);
template void update_avx2(const TileUpdate<float>&, const float*);

}  // namespace vernier
