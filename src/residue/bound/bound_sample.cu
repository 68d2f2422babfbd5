#include "base/instantiate.hpp"
#include "cuda/launch.hpp"
#include "cuda/ptx.cuh"
#include "residue/bound/bound_vectors.cuh"

namespace vernier::cuda {
namespace {

constexpr int sample_threads = 256, warps = sample_threads / 32;
constexpr int lane_terms = 16;  // that a lane takes at a time

template <class T>
struct SampledOperands {
  Operand<T> x[2];
};

// lane_terms terms of each lane, one behind the other; the sum so far is that of all lanes before.
__device__ __forceinline__ void add_terms(BoundSampleSums& all, const float4 (&x)[lane_terms / 4],
                                          const float4 (&y)[lane_terms / 4], int lane) {
  float own = 0;
#pragma unroll
  for (int i = 0; i < lane_terms / 4; ++i) own += x[i].x * y[i].x + x[i].y * y[i].y + x[i].z * y[i].z + x[i].w * y[i].w;
  float before = own;
#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    const float other = __shfl_up_sync(~0u, before, d);
    if (lane >= d) before += other;
  }
  const float end = __shfl_sync(~0u, before, 31);
  float now = all.sum + (before - own);
  const auto add = [&](float p, float q) { all.add(p, q, now += p * q); };
#pragma unroll
  for (int i = 0; i < lane_terms / 4; ++i) {
    add(x[i].x, y[i].x), add(x[i].y, y[i].y);
    add(x[i].z, y[i].z), add(x[i].w, y[i].w);
  }
  all.sum += end;
}

// A warp has an entry.
__device__ __forceinline__ void find_entry(const BoundTask& task) {
  const BoundSampleOnDevice& sample = task.sample;
  const int entry = static_cast<int>(blockIdx.x) * warps + threadIdx.x / 32, lane = threadIdx.x % 32;
  const auto vector = [&](int side, int t) {
    return reinterpret_cast<const float4*>(sample.vectors[side] + t * sample.pitch);
  };
  const float4 *row = vector(0, entry / bound_sampled), *column = vector(1, entry % bound_sampled);
  BoundSampleSums sums;
  for (std::int64_t l = 0; l < sample.pitch; l += 32 * lane_terms) {
    constexpr int each = lane_terms / 4;
    float4 x[each], y[each];
#pragma unroll
    for (int i = 0; i < each; ++i) {
      const std::int64_t at = (l + lane * lane_terms) / 4 + i;
      const bool there = 4 * at < sample.pitch;
      x[i] = there ? __ldcg(row + at) : make_float4(0, 0, 0, 0);
      y[i] = there ? __ldcg(column + at) : make_float4(0, 0, 0, 0);
    }
    add_terms(sums, x, y, lane);
  }
  for (float BoundSampleSums::*of : {&BoundSampleSums::squares, &BoundSampleSums::magnitude,
                                     &BoundSampleSums::row_partners, &BoundSampleSums::column_partners})
    sums.*of = sum_over_lanes(sums.*of);
  if (lane != 0) return;
  const BoundSampleEntry found = sums.entry();
  sample.entries[entry] = found;
  atomicMax(&sample.words->native_largest, __float_as_uint(found.native));
}

// A block: one sampled vector, by the exponent of its largest element.
template <class T>
__device__ __forceinline__ void gather_vector(const BoundTask& task, const Operand<T>& x, int side, int t) {
  __shared__ unsigned long long largest;
  const std::int64_t v = bound_sampled_vector(side, t, x.vectors);
  const auto element = [&](std::int64_t l) {
    double e = l < x.k ? static_cast<double>(*x.at(v, l)) : 0.0;
    if (x.balance != nullptr && l < x.k) e *= balance_factor(x.balance_sign * x.balance[l]);
    return isfinite(e) ? e : 0.0;
  };
  if (threadIdx.x == 0) largest = 0;
  __syncthreads();
  double own = 0;
#pragma unroll 8
  for (std::int64_t l = threadIdx.x; l < x.k; l += sample_threads) own = fmax(own, fabs(element(l)));
  atomicMax(&largest, static_cast<unsigned long long>(__double_as_longlong(own)));
  __syncthreads();
  int exponent = 0;
  frexp(__longlong_as_double(static_cast<long long>(largest)), &exponent);
  float* out = task.sample.vectors[side] + t * task.sample.pitch;
#pragma unroll 8
  for (std::int64_t l = threadIdx.x; l < task.sample.pitch; l += sample_threads)
    out[l] = static_cast<float>(ldexp(element(l), 1 - exponent));
}

// The whole sample in one launch. Behind no gate it runs beside the end of the kernel before it, since it reads nothing
// of that: the first blocks gather a vector each, and all wait for these. Its last step waits for that kernel, so that
// the next one need not. first: the next one runs beside it.
template <class T>
__global__ void __launch_bounds__(sample_threads) sample_entries(const __grid_constant__ SampledOperands<T> operands,
                                                                 const __grid_constant__ BoundTask task, bool first) {
  constexpr int gathered = 2 * bound_sampled;
  if (task.gate.word != nullptr) {
    wait_for_previous_kernels();
    if (task.gate.closed()) return;
  }
  if (first) allow_next_kernel();
  BoundSampleWords& words = *task.sample.words;
  const int block = static_cast<int>(blockIdx.x);
  if (block < gathered) {
    const int side = block / bound_sampled;
    gather_vector(task, operands.x[side], side, block % bound_sampled);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(&words.gathered, 1u);
  }
  if (threadIdx.x == 0)
    while (*static_cast<volatile unsigned*>(&words.gathered) < gathered) __nanosleep(200);
  __syncthreads();
  __threadfence();
  find_entry(task);
  wait_for_previous_kernels();
  allow_next_kernel();
}

template <class T>
__global__ void __launch_bounds__(sample_threads)
    gather_sample(const __grid_constant__ SampledOperands<T> operands, const __grid_constant__ BoundTask task) {
  wait_for_previous_kernels();
  allow_next_kernel();
  const int side = static_cast<int>(blockIdx.x) / bound_sampled;
  gather_vector(task, operands.x[side], side, static_cast<int>(blockIdx.x) % bound_sampled);
}

// A block: sum of squares of a sampled vector, balanced by what is there of exponents; null: as it is.
__global__ void __launch_bounds__(sample_threads)
    sum_sampled_squares(const __grid_constant__ BoundTask task, const std::int8_t* exponents) {
  __shared__ double sums[warps];
  wait_for_previous_kernels();
  allow_next_kernel();
  if (task.gate.closed()) return;
  const int side = static_cast<int>(blockIdx.x) / bound_sampled, t = static_cast<int>(blockIdx.x) % bound_sampled;
  const float* x = task.sample.vectors[side] + t * task.sample.pitch;
  double sum = 0;
  for (std::int64_t l = threadIdx.x; l < task.k; l += sample_threads) {
    const int e = exponents != nullptr ? exponents[l] : 0;
    const double y = static_cast<double>(x[l]) * balance_factor(side == 0 ? e : -e);
    sum += y * y;
  }
#pragma unroll
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int w = 1; w < warps; ++w) sum += sums[w];
  task.sample.squares[blockIdx.x] = sum;
}

// A thread has an index of k. The squares are those of vectors that were balanced by earlier exponents: what the new
// ones do not depend on otherwise.
__global__ void __launch_bounds__(sample_threads)
    balance_sample(const __grid_constant__ BoundTask task, std::int8_t* exponents, bool first, bool last) {
  __shared__ double inverse[2 * bound_sampled];
  wait_for_previous_kernels();
  allow_next_kernel();
  if (task.gate.closed()) return;
  if (threadIdx.x < 2 * bound_sampled) {
    const double squares = task.sample.squares[threadIdx.x];
    inverse[threadIdx.x] = squares > 0 ? 1 / squares : 0;
  }
  __syncthreads();
  const std::int64_t l = static_cast<std::int64_t>(blockIdx.x) * sample_threads + threadIdx.x;
  int e = 0;
  if (l < task.k) {
    double sum[2] = {};
    for (int side = 0; side < 2; ++side)
#pragma unroll 8
      for (int t = 0; t < bound_sampled; ++t) {
        const auto x = static_cast<double>(task.sample.vectors[side][t * task.sample.pitch + l]);
        sum[side] += x * x * inverse[side * bound_sampled + t];
      }
    e = balance_exponent(sum[0], sum[1], first ? 0 : exponents[l]);
    exponents[l] = static_cast<std::int8_t>(e);
  }
  if (!last) return;
  const int up = __reduce_max_sync(~0u, e), down = __reduce_max_sync(~0u, -e);
  if (threadIdx.x % 32 == 0) {
    atomicMax(&task.sample.words->grading[0], up);
    atomicMax(&task.sample.words->grading[1], down);
  }
}

// A block has what lies side by side.
__global__ void __launch_bounds__(sample_threads) copy_balanced(const Operand<double> x, double* to, int* lost) {
  const std::int64_t count = x.k_contiguous ? x.k : x.vectors, other = blockIdx.x;
  const double* from = x.data + other * x.ld;
  to += other * count;
  bool leaves = false;
#pragma unroll 4
  for (std::int64_t i = threadIdx.x; i < count; i += sample_threads) {
    const double element = from[i],
                 y = balanced_element(element, balance_factor(x.balance_sign * x.balance[x.k_contiguous ? i : other]));
    leaves = leaves || (isfinite(element) && !isfinite(y));
    to[i] = y;
  }
  if (leaves) *lost = 1;
}

constexpr unsigned entry_blocks = bound_sampled * bound_sampled / warps;
static_assert(entry_blocks >= 2 * bound_sampled);

}  // namespace

void clear_sample_on_device(const BoundSampleOnDevice& sample, cudaStream_t stream) {
  if (sample.words != nullptr) check(cudaMemsetAsync(sample.words, 0, sizeof *sample.words, stream), "sample");
}

template <class T>
void sample_on_device(const Operand<T>& a, const Operand<T>& b, const BoundTask& task, cudaStream_t stream,
                      bool first) {
  launch("sample_entries", sample_entries<T>,
         {.grid = dim3(entry_blocks), .block = dim3(sample_threads), .overlap_previous = true}, stream,
         SampledOperands<T>{{a, b}}, task, first);
}

template <class T>
void balance_on_device(const Operand<T>* a, const Operand<T>* b, const BoundTask& task, std::int8_t* exponents,
                       cudaStream_t stream) {
  constexpr int times = 2;
  const LaunchShape vectors{.grid = dim3(2 * bound_sampled), .block = dim3(sample_threads), .overlap_previous = true};
  const LaunchShape places{.grid = dim3(static_cast<unsigned>(divide_up(task.k, sample_threads))),
                           .block = dim3(sample_threads),
                           .overlap_previous = true};
  if (a != nullptr) launch("gather_sample", gather_sample<T>, vectors, stream, SampledOperands<T>{{*a, *b}}, task);
  for (int i = 0; i < times; ++i) {
    const std::int8_t* before = i == 0 ? nullptr : exponents;
    launch("sum_sampled_squares", sum_sampled_squares, vectors, stream, task, before);
    launch("balance_sample", balance_sample, places, stream, task, exponents, i == 0, i == times - 1);
  }
}

void copy_balanced_on_device(const Operand<double>& x, double* to, int* lost, cudaStream_t stream) {
  launch("copy_balanced", copy_balanced,
         {.grid = dim3(static_cast<unsigned>(x.k_contiguous ? x.vectors : x.k)), .block = dim3(sample_threads)}, stream,
         x, to, lost);
}

VERNIER_REAL_INSTANCES(balance_on_device, sample_on_device)

}  // namespace vernier::cuda
