// Host side of the conversion kernel that measures and holds its strips whole.
#pragma once

#include "residue/convert/resident.cuh"
#include "residue/convert/task.cuh"

namespace vernier::cuda {

// Blocks that share a strip, and the part of k that each takes.
struct StripShare {
  int blocks;
  std::int64_t chunk;
};

constexpr StripShare share_of_strip(std::int64_t k, std::int64_t wanted) {
  const auto blocks = std::min<std::int64_t>(most_strip_blocks, divide_up(k, wanted));
  return {static_cast<int>(blocks), round_up(divide_up(k, blocks), convert_k)};
}

inline constexpr int resident_vectors = 8;  // of a strip
inline constexpr std::int64_t short_resident_k = 4 * convert_k * most_strip_blocks,
                              long_resident_k = 8 * convert_k * most_strip_blocks;
static_assert(long_resident_k == longest_resident_k);

// Does a measuring kernel hold its strips whole? Statistics alone do not pay for waiting until a long one is there.
template <class T>
bool measures_resident(const DeviceOperand<T>& a, int words) {
  const bool writes = a.planes != nullptr || a.bound_bytes != nullptr;
  return words <= 3 && a.x.k <= (writes ? long_resident_k : short_resident_k);
}

template <class T, int Words, template <class> class Meeting>
void launch_resident(ConvertTask<T> task, const ConversionForm& form, cudaStream_t stream) {
  const auto with = [&](auto pieces) {
    constexpr int Pieces = decltype(pieces)::value, Vectors = resident_vectors;
    using Meet = Meeting<ResidentFindings<Vectors>>;
    const StripShare share = share_of_strip(task.operand[0].x.k, Pieces * convert_k);
    task.parts = share.blocks;
    task.chunk = share.chunk;
    for (int side = 0; side < 2; ++side)
      task.strips[side] = static_cast<int>(divide_up(task.operand[side].x.vectors, Vectors));
    Meet::prepare(task.strips[0] + task.strips[1], form.meeting, stream);
    task.meeting = form.meeting.data;
    launch("convert_resident", convert_resident<T, Words, Pieces, Vectors, Meeting>,
           {.grid = conversion_grid(task),
            .block = dim3(convert_threads),
            .shared_bytes = sizeof(WordsStrip<Words, Pieces, Vectors>),
            .cluster = dim3(Meet::in_cluster ? static_cast<unsigned>(share.blocks) : 1),
            .overlap_previous = true},
           stream, task, digit_reductions<Words>(form));
  };
  if (task.operand[0].x.k <= short_resident_k)
    with(std::integral_constant<int, 4>());
  else
    with(std::integral_constant<int, 8>());
}

}  // namespace vernier::cuda
