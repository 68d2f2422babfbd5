// Host side of the conversion kernels that work in clusters.
#include "base/instantiate.hpp"
#include "residue/convert/cluster.cuh"
#include "residue/convert/resident.cuh"
#include "residue/convert/scaled.cuh"
#include "residue/convert/streamed.cuh"

namespace vernier::cuda {

// Any words, with or without measuring; also without residues, where the planes are null.
template <class T, int Words>
void launch_streamed(ConvertTask<T> task, const ConversionForm& form, cudaStream_t stream) {
  if (task.operand[0].x.balance != nullptr) fail_words("convert_operands, balanced", Words);  // it has them as they are
  const StripShare share = share_of_strip(task.operand[0].x.k, 512);
  task.parts = share.blocks;
  task.chunk = share.chunk;
  launch("convert_operands", convert_operands<T, Words, ClusterOfBlocks>,
         {.grid = conversion_grid(task),
          .block = dim3(convert_threads),
          .cluster = dim3(static_cast<unsigned>(share.blocks)),
          .overlap_previous = true},
         stream, task, digit_reductions<Words>(form));
}

template <class T, int Words>
void launch_short_words(ConvertTask<T> task, const ConversionForm& form, cudaStream_t stream) {
  if (task.measure) {
    if (measures_resident(task.operand[0], Words)) return launch_resident<T, Words, ClusterMeeting>(task, form, stream);
    std::uint8_t* const planes[2] = {task.operand[0].planes, task.operand[1].planes};
    task.operand[0].planes = task.operand[1].planes = nullptr;
    launch_streamed<T, 4>(task, form, stream);
    if (planes[0] == nullptr) return;
    for (int side = 0; side < 2; ++side) task.operand[side].planes = planes[side];
  }
  launch_scaled<T, Words>(task, form, stream);
}

template <class T>
void bound_bytes_on_device(const DeviceOperand<T>& a, const DeviceOperand<T>& b, cudaStream_t stream,
                           const Gate& gate) {
  constexpr int pieces = 4;
  const ConversionForm form{};
  ConvertTask<T> task = Conversion<T>{.a = a, .b = b, .form = form, .gate = gate}.task();
  task.chunk = pieces * convert_k;
  task.parts = static_cast<int>(divide_up(task.pitch, task.chunk));
  const dim3 grid = grid_in_turns(task, true);
  launch("convert_bound_bytes", convert_bound_bytes<T, pieces>,
         {.grid = grid,
          .block = dim3(convert_threads),
          .shared_bytes = sizeof(ResidentStrip<pieces>),
          .overlap_previous = true},
         stream, task);
}

template <class T>
void convert(const Conversion<T>& conversion, cudaStream_t stream) {
  const ConversionForm& form = conversion.form;
  if (!form.clusters) return convert_without_clusters(conversion, stream);
  const ConvertTask<T> task = conversion.task();
  switch (form.words) {
    case 1:
      return launch_short_words<T, 1>(task, form, stream);
    case 2:
      return launch_short_words<T, 2>(task, form, stream);
    case 3:
      return launch_short_words<T, 3>(task, form, stream);
    case 4:
      return launch_streamed<T, 4>(task, form, stream);
    case 5:
    case 6:
      return launch_streamed<T, 6>(task, form, stream);
    default:
      fail_words("convert_operands", form.words);
  }
}

template <class T>
void measure_on_device(const DeviceOperand<T>& a, const DeviceOperand<T>& b, const ScalingRule& rule,
                       const ConversionForm& form, const Regularity& regularity, cudaStream_t stream) {
  convert<T>({.a = a, .b = b, .measure = true, .rule = rule, .form = form, .regularity = regularity}, stream);
  if (a.bound_bytes != nullptr && !(form.clusters && measures_resident(a, form.words)))
    bound_bytes_on_device(a, b, stream, {});
}

template <class T>
void decompose_on_device(const DeviceOperand<T>& a, const DeviceOperand<T>& b, const ConversionForm& form,
                         cudaStream_t stream, const Gate& gate) {
  convert<T>({.a = a, .b = b, .form = form, .gate = gate}, stream);
}

VERNIER_REAL_INSTANCES(measure_on_device, decompose_on_device, bound_bytes_on_device)

}  // namespace vernier::cuda
