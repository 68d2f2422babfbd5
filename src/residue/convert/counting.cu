// convert_scaled (scaled.cuh) for contract `exact`: elements of two or three words, and counts of what
// the scale leaves of them. The elements are in shared memory anyway; a kernel of its own would read them once more.
#include "base/instantiate.hpp"
#include "residue/convert/scaled.cuh"
#include "residue/exact/exact_cuda.hpp"
#include "residue/exact/lowest_bits.cuh"

namespace vernier::cuda {

// The lane's elements of vector v become words. begin: of the block's part of k.
template <class T, int Words>
__device__ __forceinline__ void count_and_scale(WordsStrip<Words, scaled_pieces>& strip, int v, int lane, int scale,
                                                const DeviceLowestBitsLists& lowest_bits, std::int64_t vector,
                                                std::int64_t begin) {
  const int chunk = chunk_of_lane(lane);
  const TwoFactors factors = scale_factors<Words>(scale);
  FoundLowestBits found;
#pragma unroll
  for (int i = 0; i < 4 * scaled_pieces; ++i) {
    std::uint64_t* slot = strip.at(v, i / 4, chunk, i % 4);
    const T x = *reinterpret_cast<const T*>(slot);
    found.add(x, scale, i);
    std::uint32_t words[Words];
    scaled_words(finite_or_zero(x), factors, words);
    put_words<Words>(strip, slot, words);
  }
  publish_warp_lowest_bits(found, lowest_bits, vector, lane,
                           [&](int i) { return begin + i / 4 * convert_k + 4 * chunk + i % 4; });
}

template <class T, int Words>
__global__ void __launch_bounds__(convert_threads, 4)
    convert_counting(const __grid_constant__ ConvertTask<T> task,
                     const __grid_constant__ DigitReductions<Words> reductions,
                     const DeviceLowestBitsLists row_lowest_bits, const DeviceLowestBitsLists column_lowest_bits) {
  extern __shared__ __align__(16) std::uint8_t dynamic[];
  auto& words = *reinterpret_cast<WordsStrip<Words, scaled_pieces>*>(dynamic);
  __shared__ ReductionTable<Words> table;
  const ConvertStrip<T> strip(task);
  const StripPart<T>& part = strip.part;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  store_reductions<Words>(table, reductions, task.moduli);
  wait_for_previous_kernels();
  allow_next_kernel();
  fetch_strip(part, warp, lane, words);
  const DeviceLowestBitsLists& lowest_bits = strip.side == 0 ? row_lowest_bits : column_lowest_bits;
#pragma unroll
  for (int g = 0; g < 2; ++g) {
    const int v = warp + convert_warps * g;
    if (v >= part.vectors) break;
    count_and_scale<T, Words>(words, v, lane, strip.operand->scales[strip.first + v], lowest_bits, strip.first + v,
                              part.begin);
  }
  __syncwarp();
  write_strip<Words>(words, table, lane_planes(strip, task, warp, lane), warp, lane);
}

template <class T, int Words>
void launch_counting(const DeviceOperand<T>& a, const DeviceOperand<T>& b, const DeviceLowestBitsLists& row_lowest_bits,
                     const DeviceLowestBitsLists& column_lowest_bits, const ConversionForm& form, cudaStream_t stream) {
  constexpr std::int64_t chunk = scaled_pieces * convert_k;
  const std::int64_t pitch = device_pitch(a.x.k);
  const ConvertTask<T> task{.operand = {a, b},
                            .strips = {static_cast<int>(strips_of(a)), static_cast<int>(strips_of(b))},
                            .products = 1,
                            .pitch = pitch,
                            .parts = static_cast<int>(divide_up(pitch, chunk)),
                            .blocks = 0,
                            .chunk = chunk,
                            .measure = false,
                            .deep = false,
                            .chooser = {},
                            .judge = ScaleChooser(ScalingRule{}, a.x.k),
                            .regularity = {},
                            .moduli = form.moduli,
                            .gate = {}};
  launch("convert_counting", convert_counting<T, Words>,
         {.grid = conversion_grid(task),
          .block = dim3(convert_threads),
          .shared_bytes = sizeof(WordsStrip<Words, scaled_pieces>),
          .overlap_previous = true},
         stream, task, digit_reductions<Words>(form), row_lowest_bits, column_lowest_bits);
}

template <class T>
void decompose_counting_on_device(const DeviceOperand<T>& a, const DeviceOperand<T>& b,
                                  const DeviceLowestBitsLists& row_lowest_bits,
                                  const DeviceLowestBitsLists& column_lowest_bits, const ConversionForm& form,
                                  cudaStream_t stream) {
  if (form.words == 2) return launch_counting<T, 2>(a, b, row_lowest_bits, column_lowest_bits, form, stream);
  if (form.words == 3) return launch_counting<T, 3>(a, b, row_lowest_bits, column_lowest_bits, form, stream);
  fail_words("convert_counting", form.words);
}

#define VERNIER_INSTANTIATE(T) template struct Instances<decompose_counting_on_device<T>>;
VERNIER_EACH_REAL(VERNIER_INSTANTIATE)

}  // namespace vernier::cuda
