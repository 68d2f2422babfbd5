#include "product/native/enough_k.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "cuda/cublas.hpp"
#include "cuda/launch.hpp"
#include "engine/panel.hpp"
#include "product/operand_blocks.hpp"

namespace vernier::cuda {
namespace {

constexpr int left_out_threads = 256;
constexpr std::int64_t k_chunk = 128;     // of k: what is left out are whole ones
constexpr std::int64_t kept_terms = 256;  // of an entry's |A||B|, which bound it from below
constexpr int k_sampled = 32;             // vectors of each side
constexpr unsigned most_across = 1024;    // blocks
constexpr std::int64_t panel = 2048;      // columns of which sums are kept at a time

__device__ __forceinline__ unsigned long long magnitude(double x) {  // in order, NaN above all
  return static_cast<unsigned long long>(__double_as_longlong(x)) & ~(1ull << 63);
}

// largest[v] and largest[vectors + v]: of vector v before and behind the part that is kept. A block has 256 vectors and
// as much of k.
__global__ void __launch_bounds__(left_out_threads)
    measure_left_out(const Operand<double> x, Range kept, unsigned long long* largest) {
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * left_out_threads,
                     begin = static_cast<std::int64_t>(blockIdx.y) * left_out_threads,
                     end = min(begin + left_out_threads, x.k);
  const auto raise = [&](std::int64_t v, std::int64_t l, unsigned long long bits) {
    if (bits != 0) atomicMax(&largest[l < kept.begin ? v : x.vectors + v], bits);
  };
  for (std::int64_t l0 = begin; l0 < end; l0 += k_chunk) {
    if (l0 >= kept.begin && l0 < kept.begin + kept.count) continue;
    const std::int64_t l1 = min(l0 + k_chunk, end);
    if (x.k_contiguous) {
      for (std::int64_t v = first + threadIdx.x / 32; v < min(first + left_out_threads, x.vectors);
           v += left_out_threads / 32) {
        unsigned long long own = 0;
        for (std::int64_t l = l0 + threadIdx.x % 32; l < l1; l += 32) own = max(own, magnitude(*x.at(v, l)));
#pragma unroll
        for (int d = 16; d > 0; d /= 2) own = max(own, __shfl_xor_sync(~0u, own, d));
        if (threadIdx.x % 32 == 0) raise(v, l0, own);
      }
    } else if (const std::int64_t v = first + threadIdx.x; v < x.vectors) {
      unsigned long long own = 0;
#pragma unroll 8
      for (std::int64_t l = l0; l < l1; ++l) own = max(own, magnitude(*x.at(v, l)));
      raise(v, l0, own);
    }
  }
}

// Magnitudes of `kept_terms` elements of each vector that are kept, one index behind the other.
__global__ void __launch_bounds__(left_out_threads) gather_terms(const Operand<double> x, Range kept, double* to) {
  const std::int64_t v = static_cast<std::int64_t>(blockIdx.x) * left_out_threads + threadIdx.x, t = blockIdx.y;
  if (v < x.vectors) to[v + t * x.vectors] = fabs(*x.at(v, kept.begin + t * kept.count / kept_terms));
}

// What measure_left_out() found of all rows and columns, and how many elements lie before and behind the part.
struct LeftOut {
  std::int64_t m, n;
  const double *rows, *columns;
  double before, behind;
};

// sums: of the terms, for `count` columns from `first` on: a lower bound of |A||B| but for roundings that the factor 2
// has room for, as it has for those of the other side. Neither side may leave the numbers for which that holds.
__global__ void __launch_bounds__(left_out_threads)
    compare_left_out(const LeftOut x, const double* sums, std::int64_t first, std::int64_t count, int* lacks) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * left_out_threads + threadIdx.x;
  if (i >= x.m) return;
  const double row_before = x.before * x.rows[i], row_behind = x.behind * x.rows[x.m + i];
  bool all = isfinite(row_before) && isfinite(row_behind);
  for (std::int64_t j = blockIdx.y; j < count; j += gridDim.y) {
    const double before = x.columns[first + j], behind = x.columns[x.n + first + j], sum = sums[i + j * x.m];
    const bool nothing = (row_before == 0 || before == 0) && (row_behind == 0 || behind == 0);
    const bool less = sum >= 0x1p-900 && sum < 0x1p1000 && row_before * before + row_behind * behind <= 0x1p-55 * sum;
    all = all && isfinite(before) && isfinite(behind) && (nothing || less);
  }
  if (!all) *lacks = 1;
}

// Largest magnitudes of chunks of k: a block has a vector of the sample.
__global__ void __launch_bounds__(left_out_threads)
    sample_chunks(const Operand<double> a, const Operand<double> b, double* largest) {
  const Operand<double>& x = blockIdx.x < k_sampled ? a : b;
  const std::int64_t v = (blockIdx.x % k_sampled) * (x.vectors - 1) / (k_sampled - 1), chunks = divide_up(x.k, k_chunk);
  for (std::int64_t c = threadIdx.x; c < chunks; c += left_out_threads) {
    unsigned long long own = 0;
#pragma unroll 8
    for (std::int64_t l = c * k_chunk; l < min((c + 1) * k_chunk, x.k); ++l) own = max(own, magnitude(*x.at(v, l)));
    largest[blockIdx.x * chunks + c] = __longlong_as_double(static_cast<long long>(own));
  }
}

LaunchShape left_out_shape(const Operand<double>& x, std::int64_t across) {
  return {.grid = dim3(static_cast<unsigned>(divide_up(x.vectors, left_out_threads)), static_cast<unsigned>(across)),
          .block = dim3(left_out_threads)};
}

// Chunks from one end that every pair of the sample can do without.
std::int64_t chunks_to_spare(const std::vector<double>& largest, std::int64_t chunks, std::int64_t k, bool behind) {
  const auto at = [&](int vector, std::int64_t c) {
    return largest[static_cast<std::size_t>(vector * chunks + (behind ? chunks - 1 - c : c))];
  };
  std::int64_t fewest = chunks;
  for (int i = 0; i < k_sampled; ++i)
    for (int j = k_sampled; j < 2 * k_sampled; ++j) {
      double sum = 0, row = 0, column = 0;
      for (std::int64_t c = 0; c < chunks; ++c) sum += at(i, c) * at(j, c);
      std::int64_t spare = 0;
      while (spare < fewest) {
        row = std::max(row, at(i, spare)), column = std::max(column, at(j, spare));
        if (!(static_cast<double>(k) * row * column <= 0x1p-56 * sum)) break;
        ++spare;
      }
      fewest = spare;
    }
  return fewest;
}

}  // namespace

Range guess_enough_k(const Sides<Operand<double>>& x, cudaStream_t stream) {
  const std::int64_t k = x.a.k, chunks = divide_up(k, k_chunk);
  const DeviceWorkspace memory(static_cast<std::size_t>(2 * k_sampled * chunks) * sizeof(double), stream);
  auto* largest = reinterpret_cast<double*>(memory.data());
  launch("sample_chunks", sample_chunks, {.grid = dim3(2 * k_sampled), .block = dim3(left_out_threads)}, stream, x.a,
         x.b, largest);
  const std::vector<double> found = on_host(largest, 2 * k_sampled * chunks, stream);
  constexpr std::int64_t margin = 1;  // for what lies between the vectors of the sample
  const std::int64_t before = std::max<std::int64_t>(chunks_to_spare(found, chunks, k, false) - margin, 0),
                     behind = std::max<std::int64_t>(chunks_to_spare(found, chunks, k, true) - margin, 0);
  const std::int64_t begin = before * k_chunk, end = std::min(k, (chunks - behind) * k_chunk);
  return end - begin >= kept_terms ? Range{begin, end - begin} : Range{0, k};
}

std::size_t EnoughK::bytes_of(const Sides<Operand<double>>& x) {
  const std::int64_t m = x.a.vectors, n = x.b.vectors;
  return static_cast<std::size_t>((kept_terms + 2) * (m + n) + m * std::min(n, panel) + 1) * sizeof(double);
}

EnoughK::EnoughK(const Sides<Operand<double>>& x, Range kept, cudaStream_t stream)
    : stream_(stream), memory_(bytes_of(x), stream) {
  const std::int64_t m = x.a.vectors, n = x.b.vectors;
  auto* const largest = reinterpret_cast<double*>(memory_.data());  // of A, then of B; the answer
  lacks_ = reinterpret_cast<int*>(largest + 2 * (m + n));
  double* const left = largest + 2 * (m + n) + 1;
  double* const right = left + kept_terms * m;
  double* const sums = right + kept_terms * n;
  check(cudaMemsetAsync(largest, 0, static_cast<std::size_t>(2 * (m + n) + 1) * sizeof(double), stream), "enough k");
  double* largest_of = largest;
  for (const Side side : both_sides) {
    const Operand<double>& of = x[side];
    launch("measure_left_out", measure_left_out, left_out_shape(of, divide_up(of.k, left_out_threads)), stream, of,
           kept, reinterpret_cast<unsigned long long*>(largest_of));
    launch("gather_terms", gather_terms, left_out_shape(of, kept_terms), stream, of, kept,
           side == Side::left ? left : right);
    largest_of += 2 * of.vectors;
  }
  const double one = 1, zero = 0;
  Cublas& cublas = thread_cublas();
  cublas.set_stream(stream);
  cublas.set_pointer_mode(CUBLAS_POINTER_MODE_HOST);
  const LeftOut left_out{m,
                         n,
                         largest,
                         largest + 2 * m,
                         static_cast<double>(kept.begin),
                         static_cast<double>(x.a.k - kept.begin - kept.count)};
  for (std::int64_t j = 0; j < n; j += panel) {
    const std::int64_t count = std::min(panel, n - j);
    cublas.gemm(Op::none, Op::transpose, m, count, kept_terms, &one, left, m, right + j, n, &zero, sums, m);
    launch("compare_left_out", compare_left_out, left_out_shape(x.a, std::min<std::int64_t>(count, most_across)),
           stream, left_out, sums, j, count, lacks_);
  }
}

bool EnoughK::serves() const { return on_host(lacks_, 1, stream_)[0] == 0; }

}  // namespace vernier::cuda
