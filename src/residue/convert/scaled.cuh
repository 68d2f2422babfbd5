// The conversion kernels for scales or statistics that are there, for elements of one to three words and any k: a block
// has a part of k of a strip in shared memory, and asks no other.
#pragma once

#include "residue/convert/resident_strip.cuh"

namespace vernier::cuda {

// A block takes Pieces pieces of a strip, then those of the next block that the launch does not have.

// body(strip) for each, once the gate is open: it fetches the strip first, and tells which pieces hold something of
// what its warp has. member: where that goes.
template <class T, class Body>
__device__ __forceinline__ void for_strips(const ConvertTask<T>& task, std::uint32_t* DeviceOperand<T>::*member,
                                           Body body) {
  __shared__ std::uint32_t filled;
  if (threadIdx.x == 0) filled = 0;
  wait_for_previous_kernels();
  allow_next_kernel();
  if (task.gate.closed()) return;
  for (int block = static_cast<int>(blockIdx.x); block < task.blocks; block += static_cast<int>(gridDim.x)) {
    const ConvertStrip<T> strip(task, convert_vectors, block);
    const std::uint32_t found = body(strip);
    if (found != 0 && threadIdx.x % 32 == 0) atomicOr(&filled, found);
    __syncthreads();  // the next strip takes this one's place
    if (threadIdx.x != 0) continue;
    fill_pieces(strip.operand->*member, strip, task.pitch, filled);
    filled = 0;  // all threads meet in body before they add to it
  }
}

// bound_byte of each element.
template <class T, int Pieces>
__global__ void __launch_bounds__(convert_threads, 4) convert_bound_bytes(const __grid_constant__ ConvertTask<T> task) {
  extern __shared__ __align__(16) std::uint8_t dynamic[];
  auto& elements = *reinterpret_cast<ResidentStrip<Pieces>*>(dynamic);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, chunk = chunk_of_lane(lane);
  for_strips(task, &DeviceOperand<T>::filled_bytes, [&](const ConvertStrip<T>& strip) {
    fetch_strip(strip.part, warp, lane, elements);
    std::uint32_t filled = 0;
#pragma unroll
    for (int g = 0; g < 2; ++g) {
      const int v = warp + convert_warps * g;
      if (v >= strip.part.vectors) break;
      filled |= write_bound_bytes<T>(elements, strip, v, chunk, strip.operand->statistics[strip.first + v].exponent,
                                     task.pitch);
    }
    return filled;
  });
}

struct NothingCounted {
  static constexpr bool counts = false;
};

// Residues. Count: what is found out about elements beside, or alone, where there are no planes.
template <class T, int Words, int Pieces, class Count>
__global__ void __launch_bounds__(convert_threads, 4)
    convert_scaled(const __grid_constant__ ConvertTask<T> task,
                   const __grid_constant__ DigitReductions<Words> reductions, const Count count) {
  extern __shared__ __align__(16) std::uint8_t dynamic[];
  auto& elements = *reinterpret_cast<WordsStrip<Words, Pieces>*>(dynamic);
  __shared__ ReductionTable<Words> table;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, chunk = chunk_of_lane(lane);
  store_reductions<Words>(table, reductions, task.moduli);
  for_strips(task, &DeviceOperand<T>::filled_planes, [&](const ConvertStrip<T>& strip) {
    const StripPart<T>& part = strip.part;
    const bool writes = !Count::counts || strip.operand->planes != nullptr;
    fetch_strip(part, warp, lane, elements);
    bool third = false;
    std::uint32_t filled = 0;
#pragma unroll
    for (int g = 0; g < 2; ++g) {
      const int v = warp + convert_warps * g;
      if (v >= part.vectors) break;
      const int scale = strip.operand->scales[strip.first + v];
      if constexpr (Count::counts) count(strip, elements, v, chunk, scale);
      if (!writes) continue;
      keep_finite<T>(elements, v, chunk);
      third |= scale_strip<T, Words>(elements, v, chunk, scale_factors<Words>(scale),
                                     strip.operand->filled_planes != nullptr ? &filled : nullptr);
    }
    if (writes) write_strip<Words>(elements, table, lane_planes(strip, task, warp, lane), warp, lane, third);
    return filled;
  });
}

// ---- host side -----------------------------------------------------------------------------------------------------

template <class T, int Words, class Count = NothingCounted>
void launch_scaled(ConvertTask<T> task, const ConversionForm& form, cudaStream_t stream, const Count& count = {}) {
  task.chunk = scaled_pieces * convert_k;
  task.parts = static_cast<int>(divide_up(task.pitch, task.chunk));
  const dim3 grid = grid_in_turns(task, form.seldom);
  launch("convert_scaled", convert_scaled<T, Words, scaled_pieces, Count>,
         {.grid = grid,
          .block = dim3(convert_threads),
          .shared_bytes = sizeof(WordsStrip<Words, scaled_pieces>),
          .overlap_previous = true},
         stream, task, digit_reductions<Words>(form), count);
}

}  // namespace vernier::cuda
