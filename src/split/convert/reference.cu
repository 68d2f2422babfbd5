#include "split/convert/convert.hpp"

#include "cuda/status.hpp"

namespace vernier::cuda {
namespace {

constexpr int reference_threads = 256;

// A block for each vector.
__global__ void split_reference_kernel(SplitRule rule, FloatVectors x, std::int64_t padded_k, void* words,
                                       std::int32_t* unscale) {
  const std::int64_t v = blockIdx.x;
  const float* from = x.data + v * x.vector_stride;
  __shared__ std::uint32_t shared;
  if (threadIdx.x == 0) shared = 0;
  __syncthreads();
  std::uint32_t largest = 0;
  for (std::int64_t l = threadIdx.x; l < x.k; l += reference_threads)
    largest = max(largest, float_word(from[l * x.k_stride]) & 0x7fffffffu);
  atomicMax(&shared, largest);
  __syncthreads();
  const int s = unscale != nullptr ? split_scale(shared) : 0;
  if (unscale != nullptr && threadIdx.x == 0) unscale[v] = shared >= 0x7f800000u ? excluded_vector : -s;
  const SplitScale scale(s);
  const bool wide = rule.low.ignored_bits != 0;  // tf32
  for (std::int64_t l = threadIdx.x; l < padded_k; l += reference_threads) {
    std::uint32_t parts[max_split_parts] = {};
    if (l < x.k) split_parts(rule, scale(from[l * x.k_stride]), parts);
    for (int p = 0; p < rule.parts; ++p) {
      const std::int64_t at = (p * x.count + v) * padded_k + l;
      if (wide)
        static_cast<std::uint32_t*>(words)[at] = parts[p];
      else
        static_cast<std::uint16_t*>(words)[at] = static_cast<std::uint16_t>(parts[p]);
    }
  }
}

}  // namespace

void split_reference(const SplitRule& rule, const FloatVectors& x, std::int64_t padded_k, void* words,
                     std::int32_t* unscale, cudaStream_t stream) {
  split_reference_kernel<<<static_cast<unsigned>(x.count), reference_threads, 0, stream>>>(rule, x, padded_k, words,
                                                                                           unscale);
  check_launch("split_reference_kernel");
}

}  // namespace vernier::cuda
