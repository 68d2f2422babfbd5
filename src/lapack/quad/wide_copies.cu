#include "lapack/quad/wide_copies.cuh"

#include <algorithm>

#include "engine/panel.hpp"

namespace vernier::cuda {
namespace {

dim3 grid_of(std::int64_t rows, std::int64_t columns, int of_a_block) {
  constexpr std::int64_t most = 65535;  // of a grid's second dimension
  return {static_cast<unsigned>(divide_up(rows, std::int64_t{of_a_block})),
          static_cast<unsigned>(std::min(columns, most))};
}

}  // namespace

void normalise_dd_on_device(std::int64_t rows, const WideColumns& m, std::int64_t slope, cudaStream_t stream) {
  if (rows == 0 || m.columns == 0) return;
  launch("normalise_dd", normalise_dd, {.grid = grid_of(rows, m.columns, copy_threads), .block = dim3(copy_threads)},
         stream, rows, m, slope);
}

void transpose_wide_on_device(std::int64_t rows, const WideColumns& from, const WideColumns& to, bool lower,
                              cudaStream_t stream) {
  if (rows == 0 || from.columns == 0) return;
  launch("transpose_wide", transpose_wide,
         {.grid = grid_of(rows, divide_up(from.columns, std::int64_t{turned}), turned), .block = dim3(turned * turned)},
         stream, rows, from, to, lower);
}

void pack_dd_on_device(const ConstDdArrays& x, const ArraysShape& shape, dd* to, cudaStream_t stream) {
  launch("pack_dd", pack_dd, {.grid = grid_of(shape.rows, shape.columns, copy_threads), .block = dim3(copy_threads)},
         stream, x, shape, to);
}

void unpack_dd_on_device(const dd* from, const ArraysShape& shape, const DdArrays& x, cudaStream_t stream) {
  launch("unpack_dd", unpack_dd,
         {.grid = grid_of(shape.rows, shape.columns, copy_threads), .block = dim3(copy_threads)}, stream, from, shape,
         x);
}

}  // namespace vernier::cuda
