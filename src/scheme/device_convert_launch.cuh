// Host side of the conversion kernels.
#pragma once

#include "scheme/device_convert_resident.cuh"
#include "scheme/device_convert_streamed.cuh"

namespace vernier::cuda {

template <class T>
std::int64_t strips_of(const DeviceOperand<T>& operand) {
  return divide_up(operand.x.vectors, convert_vectors);
}

inline constexpr int most_cluster_blocks = 8;  // that every device has

// Blocks that share a strip, and the part of k that each takes.
struct StripShare {
  int blocks;
  std::int64_t chunk;
};

constexpr StripShare share_of_strip(std::int64_t k, std::int64_t wanted) {
  const auto blocks = std::min<std::int64_t>(most_cluster_blocks, divide_up(k, wanted));
  return {static_cast<int>(blocks), round_up(divide_up(k, blocks), convert_k)};
}

template <int Words>
DigitReductions<Words> digit_reductions(const ConversionForm& form) {
  DigitReductions<Words> reductions{};
  for (int q = 0; q < form.moduli; ++q) reductions.of[q] = digit_reduction<Words>(modulus_of(form.list, q), form.form);
  return reductions;
}

// Any words, with or without measuring; also without residues, where the planes are null.
template <class T, int Words>
void launch_streamed(ConvertTask<T> task, const ConversionForm& form, cudaStream_t stream) {
  const StripShare share = share_of_strip(task.operand[0].x.k, 512);
  task.chunk = share.chunk;
  launch("convert_operands", convert_operands<T, Words>,
         {.grid = dim3(static_cast<unsigned>((task.strips[0] + task.strips[1]) * share.blocks)),
          .block = dim3(convert_threads),
          .cluster = dim3(static_cast<unsigned>(share.blocks)),
          .overlap_previous = true},
         stream, task, digit_reductions<Words>(form));
}

template <class T, int Words, int Pieces, int Vectors>
void launch_resident(ConvertTask<T> task, const ConversionForm& form, cudaStream_t stream) {
  const StripShare share = share_of_strip(task.operand[0].x.k, Pieces * convert_k);
  task.chunk = share.chunk;
  for (int side = 0; side < 2; ++side)
    task.strips[side] = static_cast<int>(divide_up(task.operand[side].x.vectors, Vectors));
  launch("convert_resident", convert_resident<T, Words, Pieces, Vectors>,
         {.grid = dim3(static_cast<unsigned>((task.strips[0] + task.strips[1]) * share.blocks)),
          .block = dim3(convert_threads),
          .shared_bytes = sizeof(ResidentStrip<Pieces, Vectors>),
          .cluster = dim3(static_cast<unsigned>(share.blocks)),
          .overlap_previous = true},
         stream, task, digit_reductions<Words>(form));
}

template <class T, int Words>
void launch_scaled(ConvertTask<T> task, const ConversionForm& form, cudaStream_t stream) {
  constexpr int pieces = 2;
  task.chunk = pieces * convert_k;
  const auto parts = static_cast<int>(divide_up(task.pitch, task.chunk));
  launch("convert_scaled", convert_scaled<T, Words, pieces>,
         {.grid = dim3(static_cast<unsigned>((task.strips[0] + task.strips[1]) * parts)),
          .block = dim3(convert_threads),
          .shared_bytes = sizeof(ResidentStrip<pieces>),
          .overlap_previous = true},
         stream, task, digit_reductions<Words>(form), parts);
}

template <class T, int Words>
void launch_short_words(ConvertTask<T> task, const ConversionForm& form, cudaStream_t stream) {
  if (task.measure) {
    const std::int64_t k = task.operand[0].x.k;
    if (k <= 4 * convert_k * most_cluster_blocks) return launch_resident<T, Words, 4, 8>(task, form, stream);
    // Statistics alone do not pay for waiting until a strip is there.
    if (k <= 8 * convert_k * most_cluster_blocks && task.operand[0].planes != nullptr)
      return launch_resident<T, Words, 8, 8>(task, form, stream);
    std::uint8_t* const planes[2] = {task.operand[0].planes, task.operand[1].planes};
    task.operand[0].planes = task.operand[1].planes = nullptr;
    launch_streamed<T, 4>(task, form, stream);
    if (planes[0] == nullptr) return;
    for (int side = 0; side < 2; ++side) task.operand[side].planes = planes[side];
  }
  launch_scaled<T, Words>(task, form, stream);
}

template <class T>
void convert(const DeviceOperand<T>& a, const DeviceOperand<T>& b, bool measure, const ScalingRule& rule,
             const ConversionForm& form, const Regularity& regularity, const Gate& gate, cudaStream_t stream) {
  const ConvertTask<T> task{.operand = {a, b},
                            .strips = {static_cast<int>(strips_of(a)), static_cast<int>(strips_of(b))},
                            .pitch = device_pitch(a.x.k),
                            .chunk = 0,
                            .measure = measure,
                            .chooser = ScaleChooser(rule, a.x.k),
                            .regularity = regularity,
                            .moduli = form.moduli,
                            .gate = gate};
  switch (form.words) {
    case 1:
      return launch_short_words<T, 1>(task, form, stream);
    case 2:
      return launch_short_words<T, 2>(task, form, stream);
    case 3:  // the instructions take words in pairs
    case 4:
      return launch_streamed<T, 4>(task, form, stream);
    case 5:
    case 6:
      return launch_streamed<T, 6>(task, form, stream);
    default:
      fail(Status::internal_error, "convert_operands: {} words an element: expected 1 to 6", form.words);
  }
}

template <class T>
void measure_on_device(const DeviceOperand<T>& a, const DeviceOperand<T>& b, const ScalingRule& rule,
                       const ConversionForm& form, const Regularity& regularity, cudaStream_t stream) {
  convert(a, b, true, rule, form, regularity, {}, stream);
}

template <class T>
void decompose_on_device(const DeviceOperand<T>& a, const DeviceOperand<T>& b, const ConversionForm& form,
                         cudaStream_t stream, const Gate& gate) {
  convert(a, b, false, ScalingRule{}, form, {}, gate, stream);
}

}  // namespace vernier::cuda
