#include "lapack/solve/vectors.hpp"

#include "base/instantiate.hpp"
#include "cuda/device.hpp"
#include "cuda/launch.hpp"

namespace vernier::cuda {
namespace {

constexpr int threads = 256;

unsigned pieces_of(std::int64_t count, std::int64_t size) { return static_cast<unsigned>((count + size - 1) / size); }

// ---- figures and conversions, tile by tile -------------------------------------------------------------------------

// A tile in shared memory, read along columns by 64 threads each; f(thread's row, column, value) on the way.
template <class T, class F>
__device__ __forceinline__ void load_tile(const DeviceMatrix<T>& a, T (*tile)[figure_tile + 1], F f) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * figure_tile + threadIdx.x % figure_tile;
  const std::int64_t column0 = static_cast<std::int64_t>(blockIdx.y) * figure_tile;
  constexpr int apart = threads / figure_tile, count = figure_tile / apart;
  T v[count];
#pragma unroll
  for (int q = 0; q < count; ++q) {
    const std::int64_t column = column0 + threadIdx.x / figure_tile + q * apart;
    v[q] = row < a.n && column < a.n ? a.data[row + column * a.ld] : T(0);
  }
#pragma unroll
  for (int q = 0; q < count; ++q) {
    const int c = threadIdx.x / figure_tile + q * apart;
    tile[c][threadIdx.x % figure_tile] = v[q];
    f(v[q]);
  }
}

template <class T, class S, class F>
__device__ __forceinline__ void store_tile(const T (*tile)[figure_tile + 1], const RowMajor<S>& to, std::int64_t n,
                                           std::int64_t padded, F value) {
  constexpr int apart = threads / figure_tile;
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.y) * figure_tile + threadIdx.x % figure_tile;
  for (int r = threadIdx.x / figure_tile; r < figure_tile; r += apart) {
    const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * figure_tile + r;
    if (row >= padded || column >= padded) continue;
    const bool inside = row < n && column < n;
    *to.at(row, column) = inside ? value(tile[threadIdx.x % figure_tile][r], row, column) : row == column ? S(1) : S(0);
  }
}

struct Figure {
  double largest = 0, sum = 0;
  __device__ void add(double x) {
    largest = fmax(largest, x);
    sum += x;
  }
  __device__ void join(const Figure& f) {
    largest = fmax(largest, f.largest);
    sum += f.sum;
  }
};

template <class T>
__global__ void __launch_bounds__(threads)
    tile_figures_kernel(DeviceMatrix<T> a, TileFigures out, RowMajor<float> floats, std::int64_t padded) {
  constexpr int apart = threads / figure_tile;
  __shared__ T tile[figure_tile][figure_tile + 1];
  __shared__ Figure parts[2][apart][figure_tile];
  const int lane = threadIdx.x % figure_tile, group = threadIdx.x / figure_tile;
  Figure row, column;
  load_tile(a, tile, [&](T x) { row.add(fabs(static_cast<double>(x))); });
  __syncthreads();
  for (int r = group; r < figure_tile; r += apart) column.add(fabs(static_cast<double>(tile[lane][r])));
  parts[0][group][lane] = row;
  parts[1][group][lane] = column;
  if (floats.data != nullptr)
    store_tile(tile, floats, a.n, padded, [](T x, std::int64_t, std::int64_t) { return static_cast<float>(x); });
  __syncthreads();
  if (group >= 2) return;
  Figure all = parts[group][0][lane];
  for (int g = 1; g < apart; ++g) all.join(parts[group][g][lane]);
  const std::int64_t i = (group == 0 ? blockIdx.x : blockIdx.y) * figure_tile + lane;
  const std::int64_t part = group == 0 ? blockIdx.y : blockIdx.x;
  if (i >= a.n || part * figure_tile >= a.n) return;
  (group == 0 ? out.row_largest : out.column_largest)[part * a.n + i] = all.largest;
  (group == 0 ? out.row_sum : out.column_sum)[part * a.n + i] = all.sum;
}

// A row of threads takes 32 neighbouring rows (blockIdx.y: columns) of the matrix, and every eighth part of each.
__global__ void __launch_bounds__(threads)
    join_figures_kernel(TileFigures f, std::int64_t n, std::int64_t parts, double* joined) {
  constexpr int side = 32, apart = threads / side;
  __shared__ Figure sums[apart][side];
  const int lane = threadIdx.x % side, group = threadIdx.x / side;
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * side + lane;
  const bool columns = blockIdx.y == 1;
  const double *largest = columns ? f.column_largest : f.row_largest, *sum = columns ? f.column_sum : f.row_sum;
  Figure all;
#pragma unroll 8
  for (std::int64_t t = group; t < parts; t += apart)
    if (i < n) all.join({largest[t * n + i], sum[t * n + i]});
  sums[group][lane] = all;
  __syncthreads();
  if (group != 0 || i >= n) return;
  for (int g = 1; g < apart; ++g) all.join(sums[g][lane]);
  joined += columns ? 2 * n : 0;
  joined[i] = all.largest;
  joined[n + i] = all.sum;
}

template <class T, class S>
__global__ void __launch_bounds__(threads)
    convert_kernel(DeviceMatrix<T> a, const double* rows, const double* columns, RowMajor<S> to, std::int64_t padded) {
  __shared__ T tile[figure_tile][figure_tile + 1];
  load_tile(a, tile, [](T) {});
  __syncthreads();
  store_tile(tile, to, a.n, padded, [&](T x, std::int64_t i, std::int64_t j) {
    return static_cast<S>(static_cast<double>(x) * rows[i] * columns[j]);
  });
}

__global__ void scale_kernel(DeviceMatrix<double> a, int exponent, double* to) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < a.n * a.n; i += step)
    to[i] = ldexp(a.data[i % a.n + i / a.n * a.ld], exponent);
}

// ---- products with vectors -----------------------------------------------------------------------------------------

// A sum in twice the precision of double: Ogita, Rump and Oishi (2005), Dot2.
struct DoubleSum {
  double high = 0, low = 0;

  __device__ void add(double x) {
    const double s = high + x, t = s - high;
    low += (high - (s - t)) + (x - t);
    high = s;
  }
  __device__ void add_product(double x, double y) {
    const double p = x * y;
    add(p);
    low += fma(x, y, -p);
  }
};

struct MagnitudeSum {
  double high = 0, low = 0;

  __device__ void add(double x) { high += x; }
  __device__ void add_product(double x, double y) { high += fabs(x * y); }
};

constexpr int product_columns = 512;  // of a part of op(A) = A

// Part blockIdx.y of the columns, one row a thread.
template <class Sum, class T>
__global__ void __launch_bounds__(threads) row_products_kernel(DeviceMatrix<T> a, const double* x, double* parts) {
  constexpr int batch = 16;
  __shared__ double part_of_x[product_columns];
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.y) * product_columns;
  const int count = static_cast<int>(min(a.n - first, static_cast<std::int64_t>(product_columns)));
  for (int j = threadIdx.x; j < count; j += threads) part_of_x[j] = x[first + j];
  __syncthreads();
  if (row >= a.n) return;
  const T* from = a.data + row + first * a.ld;
  Sum sum;
  int j = 0;
  for (; j + batch <= count; j += batch, from += batch * a.ld) {
    T v[batch];
#pragma unroll
    for (int q = 0; q < batch; ++q) v[q] = from[q * a.ld];
#pragma unroll
    for (int q = 0; q < batch; ++q) sum.add_product(static_cast<double>(v[q]), part_of_x[j + q]);
  }
  for (; j < count; ++j, from += a.ld) sum.add_product(static_cast<double>(*from), part_of_x[j]);
  double* to = parts + 2 * (blockIdx.y * a.n + row);
  to[0] = sum.high;
  to[1] = sum.low;
}

// b null: the sum itself.
template <class Sum>
__global__ void join_products_kernel(const double* parts, std::int64_t n, int count, const double* b, double* out) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Sum sum;
  const double sign = b != nullptr ? -1 : 1;
  if (b != nullptr) sum.add(b[i]);
  for (int p = 0; p < count; ++p) {
    sum.add(sign * parts[2 * (p * n + i)]);
    sum.low += sign * parts[2 * (p * n + i) + 1];
  }
  out[i] = sum.high + sum.low;
}

// One column a block.
template <class Sum, class T>
__global__ void __launch_bounds__(threads)
    column_products_kernel(DeviceMatrix<T> a, const double* x, const double* b, double* out) {
  constexpr int batch = 8;
  __shared__ double high[threads / 32], low[threads / 32];
  const T* column = a.data + static_cast<std::int64_t>(blockIdx.x) * a.ld;
  Sum sum;
  std::int64_t i = threadIdx.x;
  for (; i + (batch - 1) * threads < a.n; i += batch * threads) {
    T v[batch];
#pragma unroll
    for (int q = 0; q < batch; ++q) v[q] = column[i + q * threads];
#pragma unroll
    for (int q = 0; q < batch; ++q) sum.add_product(static_cast<double>(v[q]), x[i + q * threads]);
  }
  for (; i < a.n; i += threads) sum.add_product(static_cast<double>(column[i]), x[i]);
  for (int offset = 16; offset != 0; offset /= 2) {
    const double h = __shfl_xor_sync(~0u, sum.high, offset), l = __shfl_xor_sync(~0u, sum.low, offset);
    sum.add(h);
    sum.low += l;
  }
  if (threadIdx.x % 32 == 0) high[threadIdx.x / 32] = sum.high, low[threadIdx.x / 32] = sum.low;
  __syncthreads();
  if (threadIdx.x != 0) return;
  Sum all;
  const double sign = b != nullptr ? -1 : 1;
  if (b != nullptr) all.add(b[blockIdx.x]);
  for (int w = 0; w < threads / 32; ++w) {
    all.add(sign * high[w]);
    all.low += sign * low[w];
  }
  out[blockIdx.x] = all.high + all.low;
}

template <class T>
__global__ void __launch_bounds__(threads)
    scaled_columns_kernel(DeviceMatrix<T> a, const double* factors, double* largest) {
  __shared__ double parts[threads / 32];
  double most = 0;
  for (std::int64_t i = threadIdx.x; i < a.n; i += threads)
    most = fmax(most, fabs(static_cast<double>(a.data[i + blockIdx.x * a.ld])) * factors[i]);
  for (int offset = 16; offset != 0; offset /= 2) most = fmax(most, __shfl_xor_sync(~0u, most, offset));
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = most;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (const double p : parts) most = fmax(most, p);
  largest[blockIdx.x] = most;
}

__global__ void add_scaled_kernel(std::int64_t n, double factor, const double* d, double* x) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) x[i] = __dadd_rn(x[i], __dmul_rn(factor, d[i]));
}

__global__ void permute_kernel(const int* permutation, std::int64_t n, std::int64_t padded, const double* in,
                               double* out, bool back) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= padded) return;
  in += blockIdx.y * padded;
  out += blockIdx.y * padded;
  if (i >= n)
    out[i] = 0;
  else if (back)
    out[permutation[i]] = in[i];
  else
    out[i] = in[permutation[i]];
}

template <class Sum, class T>
void products(const DeviceMatrix<T>& a, bool transposed, const double* x, const double* b, double* out, double* work,
              cudaStream_t stream) {
  if (transposed)
    return launch("column_products_kernel", column_products_kernel<Sum, T>,
                  {.grid = static_cast<unsigned>(a.n), .block = threads}, stream, a, x, b, out);
  const dim3 grid(pieces_of(a.n, threads), pieces_of(a.n, product_columns));
  launch("row_products_kernel", row_products_kernel<Sum, T>, {.grid = grid, .block = threads}, stream, a, x, work);
  launch("join_products_kernel", join_products_kernel<Sum>, {.grid = grid.x, .block = threads}, stream, work, a.n,
         static_cast<int>(grid.y), b, out);
}

}  // namespace

template <class T>
void take_tile_figures(const DeviceMatrix<T>& a, const TileFigures& figures, RowMajor<float> floats,
                       std::int64_t padded, cudaStream_t stream) {
  const unsigned tiles = pieces_of(floats.data != nullptr ? padded : a.n, figure_tile);
  launch("tile_figures_kernel", tile_figures_kernel<T>, {.grid = dim3(tiles, tiles), .block = threads}, stream, a,
         figures, floats, padded);
}

void join_figures(const TileFigures& figures, std::int64_t n, std::int64_t parts, double* joined, cudaStream_t stream) {
  launch("join_figures_kernel", join_figures_kernel, {.grid = dim3(pieces_of(n, 32), 2), .block = threads}, stream,
         figures, n, parts, joined);
}

void scale_matrix(const DeviceMatrix<double>& a, int exponent, double* to, cudaStream_t stream) {
  launch("scale_kernel", scale_kernel, {.grid = 1024, .block = threads}, stream, a, exponent, to);
}

template <class T>
void scaled_column_largest(const DeviceMatrix<T>& a, const double* factors, double* largest, cudaStream_t stream) {
  launch("scaled_columns_kernel", scaled_columns_kernel<T>, {.grid = static_cast<unsigned>(a.n), .block = threads},
         stream, a, factors, largest);
}

template <class T, class S>
void convert_scaled(const ScaledMatrix<T>& matrix, const RowMajor<S>& to, std::int64_t padded, cudaStream_t stream) {
  const unsigned tiles = pieces_of(padded, figure_tile);
  launch("convert_kernel", convert_kernel<T, S>, {.grid = dim3(tiles, tiles), .block = threads}, stream, matrix.a,
         matrix.row_factors, matrix.column_factors, to, padded);
}

template <class T>
void residual(const DeviceMatrix<T>& a, bool transposed, const double* x, const double* b, double* r, double* work,
              cudaStream_t stream) {
  products<DoubleSum>(a, transposed, x, b, r, work, stream);
}
std::int64_t residual_work(std::int64_t n) { return 2 * n * pieces_of(n, product_columns); }

template <class T>
void magnitudes(const DeviceMatrix<T>& a, bool transposed, const double* x, double* y, double* work,
                cudaStream_t stream) {
  products<MagnitudeSum>(a, transposed, x, nullptr, y, work, stream);
}

void add_scaled(std::int64_t n, double factor, const double* d, double* x, cudaStream_t stream) {
  launch("add_scaled_kernel", add_scaled_kernel, {.grid = pieces_of(n, threads), .block = threads}, stream, n, factor,
         d, x);
}

void permute(const int* permutation, std::int64_t n, std::int64_t padded, std::int64_t count, const double* in,
             double* out, bool back, cudaStream_t stream) {
  launch("permute_kernel", permute_kernel,
         {.grid = dim3(pieces_of(padded, threads), static_cast<unsigned>(count)), .block = threads}, stream,
         permutation, n, padded, in, out, back);
}

VERNIER_REAL_INSTANCES(take_tile_figures, scaled_column_largest, residual, magnitudes)
template struct Instances<convert_scaled<float, float>, convert_scaled<float, double>, convert_scaled<double, float>,
                          convert_scaled<double, double>>;

}  // namespace vernier::cuda
