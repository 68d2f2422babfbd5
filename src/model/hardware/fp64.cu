// fp64 instructions of Hopper: chains of fused multiply-adds. One warp, 16 rows of A, 8 columns of B.
#include <cuda_runtime.h>

#include "model/hardware/dot.hpp"
#include "model/spec_rows.hpp"

#include "cuda/status.hpp"
#include "model/hardware/gpu.hpp"

namespace vernier::model::gpu {

__device__ inline void mma_f64_k4(double (&d)[2], double a, double b) {
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
               : "+d"(d[0]), "+d"(d[1])
               : "d"(a), "d"(b));
}
__device__ inline void mma_f64_k16(double (&d)[4], const double (&a)[8], const double (&b)[4]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7,%8,%9,%10,%11}, "
      "{%12,%13,%14,%15}, {%0,%1,%2,%3};"
      : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]), "d"(b[0]), "d"(b[1]),
        "d"(b[2]), "d"(b[3]));
}

template <int K>
struct Tile64 {
  std::uint64_t a[16][K], b[8][K];
};

// c becomes d: rows g and g + 8 of columns 2 t and 2 t + 1, where g = lane / 4 and t = lane % 4.
template <int K>
__device__ void execute64(const Tile64<K>& tile, std::uint64_t (&c)[4]) {
  const int lane = threadIdx.x, g = lane / 4, t = lane % 4;
  const auto real = [](std::uint64_t x) { return __longlong_as_double(static_cast<long long>(x)); };
  const auto word = [](double x) { return static_cast<std::uint64_t>(__double_as_longlong(x)); };
  if constexpr (K == 4) {
    for (int half = 0; half < 2; ++half) {
      double d[2] = {real(c[2 * half]), real(c[2 * half + 1])};
      mma_f64_k4(d, real(tile.a[g + 8 * half][t]), real(tile.b[g][t]));
      c[2 * half] = word(d[0]);
      c[2 * half + 1] = word(d[1]);
    }
  } else {
    double a[8], b[4], d[4];
    for (int i = 0; i < 8; ++i) a[i] = real(tile.a[g + 8 * (i % 2)][t + 4 * (i / 2)]);
    for (int i = 0; i < 4; ++i) b[i] = real(tile.b[g][t + 4 * i]), d[i] = real(c[i]);
    mma_f64_k16(d, a, b);
    for (int i = 0; i < 4; ++i) c[i] = word(d[i]);
  }
}

// One dot product in row 0 and column 0 of a tile that is zero elsewhere; d to thread 0.
template <int K>
__device__ std::uint64_t evaluate64(Tile64<K>& tile, const Dot& dot) {
  for (int i = threadIdx.x; i < 24 * K; i += 32) (i / K < 16 ? tile.a[i / K] : tile.b[i / K - 16])[i % K] = 0;
  __syncwarp();
  if (threadIdx.x < K) {
    const int k = threadIdx.x;
    tile.a[0][k] = std::uint64_t{dot.a[2 * k + 1]} << 32 | dot.a[2 * k];
    tile.b[0][k] = std::uint64_t{dot.b[2 * k + 1]} << 32 | dot.b[2 * k];
  }
  __syncwarp();
  std::uint64_t d[4] = {threadIdx.x == 0 ? dot.c : 0, 0, 0, 0};
  execute64<K>(tile, d);
  return d[0];
}

namespace {

template <int K>
__global__ void __launch_bounds__(32) evaluate_dot64(Dot* dot) {
  __shared__ Tile64<K> tile;
  const std::uint64_t d = evaluate64<K>(tile, *dot);
  if (threadIdx.x == 0) dot->d = d;
}

template <int K>
void launch_dot64(Dot* dot, cudaStream_t stream) {
  evaluate_dot64<K><<<1, 32, 0, stream>>>(dot);
  cuda::check_launch("evaluate_dot64");
}

}  // namespace

DotKernel find_fp64_kernel(std::string_view name) {
  return name == "mma-fp64-k4" ? launch_dot64<4> : name == "mma-fp64-k16" ? launch_dot64<16> : nullptr;
}

}  // namespace vernier::model::gpu
