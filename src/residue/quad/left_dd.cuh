// Kernels that take entries to the host and back, and C = beta C.
#pragma once

#include "residue/quad/round_dd.cuh"

namespace vernier::cuda {

inline constexpr int left_threads = 128;

__global__ void __launch_bounds__(left_threads)
    gather_left(const __grid_constant__ DeviceDdBlock task, ProductUnits units, std::int64_t first, std::int64_t count,
                LeftEntry* out) {
  const std::int64_t e = static_cast<std::int64_t>(blockIdx.x) * left_threads + threadIdx.x;
  if (e >= count) return;
  const std::uint32_t entry = task.open[task.settles(task.counts->open) ? task.m * task.n - 1 - first - e : first + e];
  const std::int64_t j = entry / task.m, i = entry - j * task.m;
  LeftEntry& x = out[e];
  x.row = static_cast<std::int32_t>(i), x.column = static_cast<std::int32_t>(j);
  if (task.beta != 0) x.c = task.c[i + j * task.ldc];
  const std::int64_t place = residue_place(units, i, j);
  for (int q = 0; q < task.moduli; ++q) x.residues[q] = task.residues[place + q * units.plane_bytes()];
}

__global__ void __launch_bounds__(left_threads)
    scatter_left(const __grid_constant__ DeviceDdBlock task, std::int64_t count, const LeftEntry* from) {
  const std::int64_t e = static_cast<std::int64_t>(blockIdx.x) * left_threads + threadIdx.x;
  if (e < count) task.c[from[e].row + from[e].column * task.ldc] = from[e].c;
}

inline constexpr int scale_dd_threads = 256;

__global__ void __launch_bounds__(scale_dd_threads)
    scale_dd(std::int64_t m, std::int64_t n, double beta, dd* c, std::int64_t ldc) {
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * scale_dd_threads + threadIdx.x;
  if (at >= m * n) return;
  dd& x = c[at % m + at / m * ldc];
  x = beta == 0 ? dd(0) : normalised(x) * beta;
}

}  // namespace vernier::cuda
