// Kernels of triangles.hpp, and who launches them.
#include "cuda/launch.hpp"
#include "lapack/triangle/inverses.cuh"
#include "lapack/triangle/solves.cuh"
#include "lapack/triangle/triangles.hpp"

namespace vernier::cuda {

// Inverses of triangles of order 128. An upper triangle is turned round, rows and columns, which makes a lower one of
// it.
template <class T>
__global__ void __launch_bounds__(solve_threads)
    invert_blocks_kernel(RowMajor<T> a, InverseOf<T>* lower, InverseOf<T>* upper) {
  using S = InverseOf<T>;
  constexpr int n = triangle_block;
  extern __shared__ __align__(16) unsigned char raw[];
  S* x = reinterpret_cast<S*>(raw);  // n rows
  const bool turned = blockIdx.y == 1;
  const int first = blockIdx.x * n;
  const auto place = [&](int i) { return turned ? n - 1 - i : i; };
  for (int i = threadIdx.x; i < n * n; i += solve_threads)
    x[place(i / n) * inverse_pitch + place(i % n)] = to_number(*a.at(first + i / n, first + i % n));
  __syncthreads();
  if (threadIdx.x < n) invert_by_warp(x, static_cast<int>(threadIdx.x) / 32 * inverse_step, !turned);
  __syncthreads();
  join_inverses<32>(x);
  join_inverses<64>(x);
  S* to = (turned ? upper : lower) + static_cast<std::int64_t>(first) * n;
  for (int i = threadIdx.x; i < n * n; i += solve_threads) to[i] = x[place(i / n) * inverse_pitch + place(i % n)];
}

template <class T>
DeviceTriangles<T>::DeviceTriangles(const RowMajor<T>& a, std::int64_t order, cudaStream_t stream)
    : a_(a),
      order_(order),
      stream_(stream),
      memory_(2 * static_cast<std::size_t>(order) * triangle_block * sizeof(InverseOf<T>) + sizeof(int), stream) {
  check(cudaMemsetAsync(inverses(true) + order * triangle_block, 0, sizeof(int), stream), "cudaMemsetAsync");
  launch("invert_blocks_kernel", invert_blocks_kernel<T>,
         {.grid = dim3(static_cast<unsigned>(order / triangle_block), 2),
          .block = solve_threads,
          .shared_bytes = triangle_block * inverse_pitch * sizeof(InverseOf<T>)},
         stream, a, inverses(false), inverses(true));
}

template <class T>
InverseOf<T>* DeviceTriangles<T>::inverses(bool upper) const {
  return reinterpret_cast<InverseOf<T>*>(memory_.data()) + (upper ? order_ * triangle_block : 0);
}

template <class T>
void DeviceTriangles<T>::solve(bool upper, Op op, std::int64_t count, const double* in, double* out) const {
  if (count == 0) return;
  int* ticket = reinterpret_cast<int*>(inverses(true) + order_ * triangle_block);
  const auto bytes = static_cast<std::size_t>(count * order_) * sizeof(double);
  check(cudaMemsetAsync(out, 0xff, bytes, stream_), "cudaMemsetAsync");  // absent
  const auto blocks = static_cast<int>(order_ / triangle_block);
  const bool transposed = op != Op::none;
  launch("triangle_kernel", transposed ? triangle_kernel<T, true> : triangle_kernel<T, false>,
         {.grid = static_cast<unsigned>(blocks * count), .block = solve_threads}, stream_, a_, inverses(upper), blocks,
         upper != transposed, SolveVectors{in, out, order_, static_cast<int>(count)}, ticket);
}

template class DeviceTriangles<float>;
template class DeviceTriangles<double>;
template class DeviceTriangles<__half>;
template class DeviceTriangles<__nv_bfloat16>;

}  // namespace vernier::cuda
