// The tiles of C that a block, or a cluster of blocks, of a persistent launch takes, plane by plane.
#pragma once

#include <cstdint>

#include "engine/entry_filter.hpp"

namespace vernier::cuda {

struct TileGrid {
  int jobs, across, down;  // tiles: of all planes, side by side, on top of each other
  int band;                // tiles on top of each other that are visited before the next column of tiles
  std::int64_t m, n;
  EntryFilter wanted;
  int turn = 0;  // tiles of each plane begin so many further on, where they take unequal times
  // In device memory, of kernels that may be Symmetric: where it is 0, tiles above the diagonal are left out. They are
  // square, and so is C.
  const int* asymmetric = nullptr;
};

struct TileJob {
  int plane, x, y;
};

template <bool Symmetric = false>
__device__ __forceinline__ TileJob job_of(int id, const TileGrid& grid) {
  // A long and a short row of the triangle are one.
  const bool halved = Symmetric && *grid.asymmetric == 0, odd = grid.across % 2 != 0;
  const int across = halved && !odd ? grid.across + 1 : grid.across, down = halved ? (grid.down + 1) / 2 : grid.down;
  const int area = across * down, q = id / area;
  const int r = grid.turn == 0 ? id - q * area : (id - q * area + q * grid.turn) % area;
  const int band = r / (grid.band * across), in_band = r - band * grid.band * across;
  const int height = min(grid.band, down - band * grid.band), x = in_band / height;
  const int y = band * grid.band + in_band - x * height;
  if (!halved) return {q, x, y};
  const int below = grid.down - y;  // tiles of the long row
  return x < below ? TileJob{q, x, below - 1} : TileJob{q, x - below, odd ? y - 1 : y};
}

// first, first + step, ..., but for tiles of which nobody wants an entry.
template <int Columns, int Rows, bool Symmetric = false>
class TileJobs {
 public:
  __device__ __forceinline__ TileJobs(const TileGrid& grid, int first, int step) : grid_(grid), step_(step) {
    id_ = first - step;
    advance();
  }
  __device__ __forceinline__ bool done() const {
    if (!Symmetric || *grid_.asymmetric != 0) return id_ >= grid_.jobs;
    return id_ >= grid_.jobs / grid_.down * (grid_.across + 1) / 2;
  }
  __device__ __forceinline__ int id() const { return id_; }
  __device__ __forceinline__ TileJob job() const { return job_of<Symmetric>(id_, grid_); }
  __device__ __forceinline__ void advance() {
    do id_ += step_;
    while (!done() && grid_.wanted.any() && !wanted());
  }

 private:
  __device__ bool wanted() const {
    const TileJob here = job();
    const auto sets = [](const unsigned* groups, std::int64_t begin, std::int64_t size, std::int64_t end) {
      return EntryFilter::sets_of(groups, begin, min(begin + size, end));
    };
    return grid_.wanted.wants_some(
        sets(grid_.wanted.rows, static_cast<std::int64_t>(here.y) * Rows, Rows, grid_.m),
        sets(grid_.wanted.columns, static_cast<std::int64_t>(here.x) * Columns, Columns, grid_.n));
  }

  const TileGrid& grid_;
  int id_, step_;
};

}  // namespace vernier::cuda
