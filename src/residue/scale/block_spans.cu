#include "residue/scale/block_spans_cuda.hpp"

#include "base/instantiate.hpp"
#include "cuda/launch.hpp"

namespace vernier::cuda {
namespace {

constexpr int threads = 256;

// The ninth smallest of 16 numbers below 128: the least d that nine of them do not exceed, bit by bit.
__device__ int ninth_smallest(const std::uint8_t (&x)[span_block]) {
  int d = 0;
  for (int bit = 64; bit > 0; bit /= 2) {
    int below = 0;
#pragma unroll
    for (int i = 0; i < span_block; ++i) below += x[i] < d + bit ? 1 : 0;
    if (below <= span_block / 2) d += bit;
  }
  return d;
}

// A thread for each vector and block of k.
template <class T>
__global__ void __launch_bounds__(threads)
    block_deficits(Operand<T> x, const VectorStatistics* statistics, DeviceSpans out, Gate gate) {
  if (gate.closed()) return;
  const std::int64_t v = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x, block = blockIdx.y;
  if (v >= out.stride) return;
  std::uint8_t lanes[span_block];
#pragma unroll
  for (int i = 0; i < span_block; ++i) {
    const std::int64_t l = block * span_block + i;
    lanes[i] = v < x.vectors && l < x.k ? deficit_of(*x.at(v, l), statistics[v].exponent) : no_deficit;
  }
  out.deficits[block * out.stride + v] = static_cast<std::uint8_t>(ninth_smallest(lanes));
  if (block != 0) return;
  const bool counts = v < x.vectors && !statistics[v].zero();
  out.norm_bits[v] = counts ? static_cast<std::uint8_t>(bit_width(statistics[v].sum - 1) - quantum_bits) : no_cost;
  out.costs[v] = 0;
}

// A block: 64 rows against 64 columns, a thread four of each. Deficits are taken two columns at a time, in 16 bits.
// Blocks are numbered in one dimension: another has 65535 at most, and with them 4 million columns.
__global__ void __launch_bounds__(threads) span_costs(DeviceSpans a, DeviceSpans b, std::int64_t blocks, Gate gate) {
  if (gate.closed()) return;
  constexpr int depth = 32;  // blocks of k at a time
  __shared__ std::uint32_t rows[depth][span_tile / 4], columns[depth][span_tile / 4];
  __shared__ unsigned row_costs[span_tile], column_costs[span_tile];
  const auto down = static_cast<unsigned>(a.stride / span_tile);
  const std::int64_t row0 = static_cast<std::int64_t>(blockIdx.x % down) * span_tile,
                     column0 = static_cast<std::int64_t>(blockIdx.x / down) * span_tile;
  const int ty = threadIdx.x / 16, tx = threadIdx.x % 16;
  if (threadIdx.x < span_tile) row_costs[threadIdx.x] = column_costs[threadIdx.x] = 0;
  unsigned least[4][2];
#pragma unroll
  for (auto& row : least) row[0] = row[1] = 0x00fe00feu;  // 2 no_deficit
  for (std::int64_t first = 0; first < blocks; first += depth) {
    __syncthreads();
    for (int i = threadIdx.x; i < depth * span_tile / 4; i += threads) {
      const int d = i / (span_tile / 4), word = i % (span_tile / 4);
      const bool exists = first + d < blocks;
      const std::int64_t at = (first + d) * a.stride + row0, bt = (first + d) * b.stride + column0;
      rows[d][word] = exists ? reinterpret_cast<const std::uint32_t*>(a.deficits + at)[word] : 0x7f7f7f7fu;
      columns[d][word] = exists ? reinterpret_cast<const std::uint32_t*>(b.deficits + bt)[word] : 0x7f7f7f7fu;
    }
    __syncthreads();
#pragma unroll 4
    for (int d = 0; d < depth; ++d) {
      const std::uint32_t r = rows[d][ty], c = columns[d][tx];
      const std::uint32_t low = __byte_perm(c, 0, 0x4140), high = __byte_perm(c, 0, 0x4342);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const std::uint32_t row = __byte_perm(r, 0, 0x4040 | i | i << 8);
        least[i][0] = __viaddmin_u16x2(low, row, least[i][0]);
        least[i][1] = __viaddmin_u16x2(high, row, least[i][1]);
      }
    }
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const unsigned row_norm = a.norm_bits[row0 + 4 * ty + i], column_norm = b.norm_bits[column0 + 4 * tx + j];
      if (row_norm == no_cost || column_norm == no_cost) continue;
      const unsigned span = least[i][j / 2] >> (16 * (j % 2)) & 0xffff;
      const bool exists = span < no_deficit;
      atomicMax(&row_costs[4 * ty + i], exists ? (span + column_norm) & 255 : no_cost);
      atomicMax(&column_costs[4 * tx + j], exists ? (span + row_norm) & 255 : no_cost);
    }
  __syncthreads();
  if (threadIdx.x < span_tile) {
    atomicMax(&a.costs[row0 + threadIdx.x], row_costs[threadIdx.x]);
    atomicMax(&b.costs[column0 + threadIdx.x], column_costs[threadIdx.x]);
  }
}

}  // namespace

template <class T>
void block_deficits_on_device(const Operand<T>& x, const VectorStatistics* statistics, const DeviceSpans& out,
                              cudaStream_t stream, const Gate& gate) {
  const dim3 grid(static_cast<unsigned>(divide_up(out.stride, threads)), static_cast<unsigned>(span_blocks(x.k)));
  launch("block_deficits", block_deficits<T>, {.grid = grid, .block = dim3(threads)}, stream, x, statistics, out, gate);
}

void span_costs_on_device(const DeviceSpans& a, const DeviceSpans& b, std::int64_t blocks, cudaStream_t stream,
                          const Gate& gate) {
  const auto tiles = static_cast<unsigned>(a.stride / span_tile * (b.stride / span_tile));
  launch("span_costs", span_costs, {.grid = dim3(tiles), .block = dim3(threads)}, stream, a, b, blocks, gate);
}

VERNIER_REAL_INSTANCES(block_deficits_on_device)

}  // namespace vernier::cuda
