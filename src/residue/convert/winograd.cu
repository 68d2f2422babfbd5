#include "base/instantiate.hpp"
#include "residue/convert/winograd.cuh"

namespace vernier::cuda {
namespace {

constexpr int combine_threads = 256;

// Two residues of C in two halves of a word: v is congruent to them plus `centre`, and below 8 p.
struct CombineConstants {
  std::uint32_t minus_p[3];  // - 4 p, - 2 p, - p
  std::uint32_t two, four;   // what sums of two and of four products lack for that
  std::uint32_t back;        // 256 - centre
};

__device__ __forceinline__ std::uint32_t reduced(std::uint32_t v, const CombineConstants& k) {
#pragma unroll
  for (int i = 0; i < 3; ++i) v = __viaddmin_u16x2(v, k.minus_p[i], v);
  return v + k.back;
}

// The products as two of their bytes each, plus 128 -> two bytes of each quarter of C.
__device__ __forceinline__ void combine(const std::uint32_t (&p)[winograd_products], const CombineConstants& k,
                                        std::uint32_t (&c)[quarters]) {
  const std::uint32_t u = p[0] + p[5], w = u + p[6];
  c[0] = reduced(p[0] + p[1] + k.two, k);
  c[1] = reduced(u + p[4] + p[2] + k.four, k);
  c[2] = reduced(w + (0x01000100u - p[3]) + k.four, k);
  c[3] = reduced(w + p[4] + k.four, k);
}

__device__ __forceinline__ void combine_word(const std::uint32_t (&in)[winograd_products], const CombineConstants& k,
                                             std::uint32_t (&out)[quarters]) {
  std::uint32_t low[winograd_products], high[winograd_products], c_low[quarters], c_high[quarters];
#pragma unroll
  for (int s = 0; s < winograd_products; ++s) {
    const std::uint32_t turned = in[s] ^ 0x80808080u;
    low[s] = __byte_perm(turned, 0, 0x4140);
    high[s] = __byte_perm(turned, 0, 0x4342);
  }
  combine(low, k, c_low);
  combine(high, k, c_high);
#pragma unroll
  for (int i = 0; i < quarters; ++i) out[i] = __byte_perm(c_low[i], c_high[i], 0x6420);
}

// A thread: 16 bytes of all products of a modulus.
struct AllCombineConstants {
  CombineConstants of[most_winograd_moduli];
};
__global__ void __launch_bounds__(combine_threads)
    combine_winograd(std::int8_t* residues, std::int64_t plane_bytes,
                     const __grid_constant__ AllCombineConstants constants, Gate gate) {
  const std::int64_t at = (static_cast<std::int64_t>(blockIdx.x) * combine_threads + threadIdx.x) * 16;
  const CombineConstants& k = constants.of[blockIdx.y];
  std::int8_t* base = residues + blockIdx.y * winograd_products * plane_bytes + at;
  wait_for_previous_kernels();
  allow_next_kernel();
  if (at >= plane_bytes || gate.closed()) return;
  std::uint32_t p[winograd_products][4], c[quarters][4];
#pragma unroll
  for (int s = 0; s < winograd_products; ++s) {
    const uint4 x = __ldcs(reinterpret_cast<const uint4*>(base + s * plane_bytes));
    p[s][0] = x.x, p[s][1] = x.y, p[s][2] = x.z, p[s][3] = x.w;
  }
#pragma unroll
  for (int word = 0; word < 4; ++word) {
    std::uint32_t in[winograd_products], out[quarters];
#pragma unroll
    for (int s = 0; s < winograd_products; ++s) in[s] = p[s][word];
    combine_word(in, k, out);
#pragma unroll
    for (int i = 0; i < quarters; ++i) c[i][word] = out[i];
  }
#pragma unroll
  for (int i = 0; i < quarters; ++i)
    *reinterpret_cast<uint4*>(base + i * plane_bytes) = make_uint4(c[i][0], c[i][1], c[i][2], c[i][3]);
}

constexpr std::uint32_t in_both_halves(int x) { return (static_cast<std::uint32_t>(x) & 0xffff) * 0x10001u; }

// Products count 128 each: what is taken away is turned into 256 - it, which counts 128 as well.
CombineConstants combine_constants(int p) {
  const int centre = p / 2;
  const auto lacking = [&](int terms) { return ((centre - 128 * terms) % p + p) % p; };
  return {{in_both_halves(-4 * p), in_both_halves(-2 * p), in_both_halves(-p)},
          in_both_halves(lacking(2)),
          in_both_halves(lacking(4)),
          in_both_halves(256 - centre)};
}

}  // namespace

template <class T>
void decompose_winograd_on_device(const DeviceOperand<T>& a, const DeviceOperand<T>& b, const ConversionForm& form,
                                  cudaStream_t stream, const Gate& gate) {
  if constexpr (std::is_same_v<T, double>)
    if (form.words == 3) return launch_winograd<T, 3>(a, b, form, stream, gate);
  launch_winograd<T, 2>(a, b, form, stream, gate);
}

void combine_winograd_on_device(std::int8_t* residues, int moduli_count, std::int64_t plane_bytes, cudaStream_t stream,
                                const Gate& gate) {
  AllCombineConstants constants{};
  for (int q = 0; q < moduli_count; ++q) constants.of[q] = combine_constants(moduli[static_cast<std::size_t>(q)]);
  const auto blocks = static_cast<unsigned>(divide_up(plane_bytes, 16 * combine_threads));
  launch("combine_winograd", combine_winograd,
         {.grid = dim3(blocks, static_cast<unsigned>(moduli_count)),
          .block = dim3(combine_threads),
          .overlap_previous = true},
         stream, residues, plane_bytes, constants, gate);
}

VERNIER_REAL_INSTANCES(decompose_winograd_on_device)

}  // namespace vernier::cuda
