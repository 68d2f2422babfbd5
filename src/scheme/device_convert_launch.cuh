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

// Pieces of 128 k that a block keeps in registers, or 0 where k is too long for that.
constexpr int resident_pieces(std::int64_t k) {
  return k <= 2 * convert_k * most_cluster_blocks ? 2 : k <= 4 * convert_k * most_cluster_blocks ? 4 : 0;
}

template <class T, int Words>
void launch_conversion(ConvertTask<T> task, ByteForm form, cudaStream_t stream) {
  DigitReductions<Words> reductions{};
  for (int q = 0; q < task.moduli; ++q)
    reductions.of[q] = digit_reduction<Words>(moduli[static_cast<std::size_t>(q)], form);
  const std::int64_t k = task.operand[0].x.k;
  const int pieces = task.measure && Words <= 2 ? resident_pieces(k) : 0;
  const StripShare share = share_of_strip(k, pieces != 0 ? pieces * convert_k : 512);
  task.chunk = share.chunk;
  const LaunchShape shape{.grid = dim3(static_cast<unsigned>((task.strips[0] + task.strips[1]) * share.blocks)),
                          .block = dim3(convert_threads),
                          .cluster = dim3(static_cast<unsigned>(share.blocks)),
                          .overlap_previous = true};
  if constexpr (Words <= 2) {
    if (pieces == 2) return launch("convert_resident", convert_resident<T, Words, 2>, shape, stream, task, reductions);
    if (pieces == 4) return launch("convert_resident", convert_resident<T, Words, 4>, shape, stream, task, reductions);
  }
  launch("convert_operands", convert_operands<T, Words>, shape, stream, task, reductions);
}

template <class T>
void convert(const DeviceOperand<T>& a, const DeviceOperand<T>& b, bool measure, const ScalingRule& rule,
             const ConversionForm& form, const Regularity& regularity, cudaStream_t stream) {
  const ConvertTask<T> task{.operand = {a, b},
                            .strips = {static_cast<int>(strips_of(a)), static_cast<int>(strips_of(b))},
                            .pitch = device_pitch(a.x.k),
                            .chunk = 0,
                            .measure = measure,
                            .chooser = ScaleChooser(rule, a.x.k),
                            .regularity = regularity,
                            .moduli = form.moduli};
  switch (form.words) {
    case 1:
      return launch_conversion<T, 1>(task, form.form, stream);
    case 2:
      return launch_conversion<T, 2>(task, form.form, stream);
    case 3:
      return launch_conversion<T, 3>(task, form.form, stream);
    case 4:
      return launch_conversion<T, 4>(task, form.form, stream);
    case 5:
    case 6:
      return launch_conversion<T, 6>(task, form.form, stream);
    default:
      fail(Status::internal_error, "convert_operands: {} words an element: expected 1 to 6", form.words);
  }
}

template <class T>
void measure_on_device(const DeviceOperand<T>& a, const DeviceOperand<T>& b, const ScalingRule& rule,
                       const ConversionForm& form, const Regularity& regularity, cudaStream_t stream) {
  convert(a, b, true, rule, form, regularity, stream);
}

template <class T>
void decompose_on_device(const DeviceOperand<T>& a, const DeviceOperand<T>& b, const ConversionForm& form,
                         cudaStream_t stream) {
  convert(a, b, false, ScalingRule{}, form, {}, stream);
}

}  // namespace vernier::cuda
