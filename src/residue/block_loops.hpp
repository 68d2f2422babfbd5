// Products and recombination of a block of C on a CPU, shared among the threads of a parallel region: the loops of real
// and of complex products.
#pragma once

#include <omp.h>

#include "product/operand.hpp"
#include "product/progress.hpp"
#include "residue/plan/blocking.hpp"
#include "residue/prepared_planes.hpp"
#include "residue/product_items.hpp"

namespace vernier {

// Planes of both operands of the block, and of its products; plane q is modulo modulus q % moduli_count.
struct BlockPlanes {
  const Int8Engine& engine;
  const PassBuffers& buffers;
  Sides<PlaneView> planes;
  std::int64_t row_strips, column_strips;
  int count, moduli_count;
  bool accumulate = false;

  // In the first plane of products.
  std::int8_t* products(std::int64_t column_strip, std::int64_t row_strip) const {
    return buffers.c.planes + (column_strip * row_strips + row_strip) * block_elements;
  }

  StripCounts strips() const { return {row_strips, column_strips}; }

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
                       .out = products(begin, item.first) + q * buffers.c.stride,
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

}  // namespace vernier
