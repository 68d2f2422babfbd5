// Tiles of 32 x 32 between memory and memory, by blocks of 32 x 8 threads: as they are, or turned.
#pragma once

#include <cstdint>

namespace vernier::cuda {

inline constexpr int turned_side = 32, turned_lines = 8;

// get(line, place), where places lie side by side in memory, to put(line, place, x): each as it is, or one of them the
// other way round. From (line0, place0) on; threads meet before another tile follows.
template <class T, class Get, class Put>
__device__ __forceinline__ void move_tile(std::int64_t line0, std::int64_t place0, bool turned, Get get, Put put) {
  __shared__ T tile[turned_side][turned_side + 1];
  for (int l = threadIdx.y; l < turned_side; l += turned_lines)
    tile[l][threadIdx.x] = get(line0 + l, place0 + threadIdx.x);
  __syncthreads();
  for (int l = threadIdx.y; l < turned_side; l += turned_lines) {
    if (turned)
      put(place0 + l, line0 + threadIdx.x, tile[threadIdx.x][l]);
    else
      put(line0 + l, place0 + threadIdx.x, tile[l][threadIdx.x]);
  }
}

// A tile a block: blockIdx.y along lines, blockIdx.x along places.
template <class T, class Get, class Put>
__device__ __forceinline__ void move_tile_of_block(bool turned, Get get, Put put) {
  move_tile<T>(std::int64_t{blockIdx.y} * turned_side, std::int64_t{blockIdx.x} * turned_side, turned, get, put);
}

inline dim3 turned_tiles(std::int64_t places, std::int64_t lines) {
  const auto tiles = [](std::int64_t length) {
    return static_cast<unsigned>((length + turned_side - 1) / turned_side);
  };
  return dim3(tiles(places), tiles(lines));
}
inline dim3 turning_threads() { return dim3(turned_side, turned_lines); }

}  // namespace vernier::cuda
