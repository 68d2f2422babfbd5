// Planes of residues of a block of C, and the loops of products and of recombination that real and complex products
// share among the threads of a parallel region.
#pragma once

#include <omp.h>

#include <cstddef>

#include "number/moduli.hpp"
#include "product/progress.hpp"
#include "residue/plan/blocking.hpp"
#include "residue/product_items.hpp"

namespace vernier {

// Planes of both operands of the block, and of its products; plane q is modulo modulus q % moduli_count.
struct BlockPlanes {
  const Int8Engine& engine;
  const PassBuffers& buffers;
  PlaneMemory c;  // of products
  Sides<PlaneView> planes;
  std::int64_t row_strips, column_strips;
  int count, moduli_count;
  bool accumulate = false;

  // In the first plane of products.
  std::int8_t* products(std::int64_t column_strip, std::int64_t row_strip) const {
    return c.planes + (column_strip * row_strips + row_strip) * block_elements;
  }

  // Of some strips of A and of B; products go elsewhere.
  BlockPlanes part(Range rows, Range columns, const PlaneMemory& products) const {
    BlockPlanes p = *this;
    p.c = products;
    p.planes.a.first_strip += rows.begin, p.planes.b.first_strip += columns.begin;
    p.row_strips = rows.count, p.column_strips = columns.count;
    return p;
  }

  StripCounts strips() const { return {row_strips, column_strips}; }

  // Strips of B of a plane into the second level, where there is such a plane.
  void fetch_columns(std::int64_t plane) const {
    constexpr int second_level = 2;
    if (plane >= count) return;
    const std::int8_t* from = planes.b.at(static_cast<std::size_t>(plane), 0, 0);
    const std::int8_t* end = from + column_strips * planes.b.layout.steps_of(0) * step_bytes;
    for (; from < end; from += 64) __builtin_prefetch(from, 0, second_level);
  }

  void multiply(const ProductItem& item) const { multiply(item, item.first_column, item.first_column + item.columns); }

  // By strips [begin, end) of columns, which are among those of the item.
  void multiply(const ProductItem& item, std::int64_t begin, std::int64_t end) const {
    if (begin == end) return;
    const auto q = static_cast<std::size_t>(item.plane);
    const auto thread = static_cast<std::size_t>(omp_get_thread_num());
    for (std::int64_t slice = 0; slice < planes.a.layout.slices(); ++slice)
      engine.multiply({.columns = planes.b.at(q, begin, slice),
                       .column_strips = end - begin,
                       .rows = planes.a.at(q, item.first, slice),
                       .row_strips = item.strips,
                       .steps = planes.a.layout.steps_of(slice),
                       .modulus = moduli[q % static_cast<std::size_t>(moduli_count)],
                       .accumulate = accumulate || slice > 0,
                       .out = products(begin, item.first) + q * c.stride,
                       .out_strips = row_strips,
                       .scratch = buffers.scratch + buffers.scratch_stride * thread});
  }
};

// multiply(item) for all planes; a barrier at the end.
template <class Multiply>
void share_products(const BlockPlanes& planes, StripCounts most, Progress& progress, const WorkShare& share,
                    const Multiply& multiply) {
  const ProductItems items(planes.count, planes.strips(), most, omp_get_num_threads());
#pragma omp for schedule(dynamic, 1)
  for (std::int64_t i = 0; i < items.count(); ++i) {
    const ProductItem item = items.at(i);
    multiply(item);
    if (progress.wanted()) progress.at(share.at(item.done), planes.engine);
  }
}

// recombine(i, j, products) for all tiles of the block, which begin at row i and column j; a barrier at the end.
template <class Backend, class Recombine>
void share_tiles(const BlockPlanes& planes, Range rows, Range columns, const Backend& backend, Progress& progress,
                 const WorkShare& share, const Recombine& recombine) {
  const std::int64_t tiles = planes.row_strips * planes.column_strips;
#pragma omp for schedule(dynamic, 16) nowait
  for (std::int64_t index = 0; index < tiles; ++index) {
    const std::int64_t t = index / planes.row_strips, v = index % planes.row_strips;
    if (progress.wanted()) progress.at(share.at(index, tiles), planes.engine);
    recombine(rows.begin + v * strip_size, columns.begin + t * strip_size, planes.products(t, v));
  }
  backend.publish();
#pragma omp barrier
}

// Parts of the block that stay in a thread's second-level cache from their products modulo all p to their
// recombination, whose products begin at `products`, `stride` bytes a thread: part(planes, rows, columns), strips of A
// and of B. Strips of A stay there from part to part. A barrier at the end.
template <class Backend, class Part>
void share_parts(const BlockPlanes& planes, StripCounts most, const Backend& backend, Progress& progress,
                 const WorkShare& share, const Part& part) {
  const std::int64_t by_rows = divide_up(planes.row_strips, most.rows),
                     by_columns = divide_up(planes.column_strips, most.columns),
                     runs = std::clamp<std::int64_t>(divide_up(4 * omp_get_num_threads(), by_rows), 1, by_columns);
  PlaneMemory own{nullptr, plane_stride(most.rows * most.columns * block_elements)};
  own.planes = planes.c.planes + static_cast<std::size_t>(omp_get_thread_num() * planes.count) * own.stride;
#pragma omp for schedule(dynamic, 1) nowait
  for (std::int64_t index = 0; index < by_rows * runs; ++index) {
    const std::int64_t first = index / runs * most.rows, run = index % runs;
    const Range rows{first, std::min(most.rows, planes.row_strips - first)};
    if (progress.wanted()) progress.at(share.at(index, by_rows * runs), planes.engine);
    for (std::int64_t c = by_columns * run / runs; c < by_columns * (run + 1) / runs; ++c) {
      const Range columns{c * most.columns, std::min(most.columns, planes.column_strips - c * most.columns)};
      part(planes.part(rows, columns, own), rows, columns);
    }
  }
  backend.publish();
#pragma omp barrier
}

}  // namespace vernier
