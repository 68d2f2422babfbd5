// Conversions and the choice of scales for GPUs that have no clusters of blocks. Compiled for compute capability 8.0
// alone, so that whatever runs here runs there.
#include "residue/convert/block_alone.cuh"
#include "residue/convert/memory_meeting.cuh"
#include "residue/convert/resident_launch.cuh"
#include "residue/convert/scaled.cuh"
#include "residue/convert/streamed.cuh"
#include "residue/scale/route_choice.cuh"

namespace vernier::cuda {
namespace {

template <class T, int Words>
void launch_alone(const ConvertTask<T>& task, const ConversionForm& form, cudaStream_t stream) {
  launch("convert_operands", convert_operands<T, Words, BlockAlone>,
         {.grid = conversion_grid(task), .block = dim3(convert_threads)}, stream, task, digit_reductions<Words>(form));
}

// Residues, with the scales that are there: nobody waits for another's part of k.
template <class T, int Words>
void launch_parts(ConvertTask<T> task, const ConversionForm& form, cudaStream_t stream) {
  task.chunk = 4 * convert_k;
  task.parts = static_cast<int>(divide_up(task.pitch, task.chunk));
  launch_alone<T, Words>(task, form, stream);
}

// Elements of as many words as fp64 and fp32 take; others are rare.
template <class T>
inline constexpr int resident_words = sizeof(T) == 8 ? 2 : 1;

// Does the kernel that reads each element once serve, by blocks that meet in memory?
template <class T>
bool meets(const ConvertTask<T>& task, const ConversionForm& form) {
  const DeviceOperand<T>&a = task.operand[0], &b = task.operand[1];
  const bool writes = a.planes != nullptr;
  if (task.products != 1 || !measures_resident(a, resident_words<T>)) return false;
  if (writes && form.words != resident_words<T>) return false;
  const std::int64_t strips = divide_up(a.x.vectors, resident_vectors) + divide_up(b.x.vectors, resident_vectors);
  using Meet = MemoryMeeting<ResidentFindings<resident_vectors>>;
  return form.meeting.bytes >= static_cast<std::size_t>(Meet::bytes(strips, most_strip_blocks));
}

template <class T>
void measure(ConvertTask<T> task, const ConversionForm& form, cudaStream_t stream) {
  for (DeviceOperand<T>& operand : task.operand) operand.planes = nullptr;
  task.chunk = round_up(task.operand[0].x.k, convert_k);
  launch_alone<T, 2>(task, form, stream);
}

}  // namespace

template <class T>
void convert_without_clusters(const Conversion<T>& conversion, cudaStream_t stream) {
  ConvertTask<T> task = conversion.task();
  const ConversionForm& form = conversion.form;
  if (task.measure) {
    if (meets(task, form)) return launch_resident<T, resident_words<T>, MemoryMeeting>(task, form, stream);
    measure(task, form, stream);
    if (task.operand[0].planes == nullptr && task.operand[1].planes == nullptr) return;
    task.measure = false;
  }
  switch (form.words) {
    case 1:
      return launch_scaled<T, 1>(task, form, stream);
    case 2:
      return launch_scaled<T, 2>(task, form, stream);
    case 3:
      return launch_three_words<T>(task, form, stream);
    case 4:
      return launch_parts<T, 4>(task, form, stream);
    case 5:  // the instructions take words in pairs
    case 6:
      return launch_parts<T, 6>(task, form, stream);
    default:
      fail_words("convert_operands", form.words);
  }
}

template void convert_without_clusters(const Conversion<double>&, cudaStream_t);
template void convert_without_clusters(const Conversion<float>&, cudaStream_t);

void choose_route_without_clusters(const RouteTask& task, cudaStream_t stream) {
  launch("choose_route", choose_route<BlockAlone>, {.grid = dim3(1), .block = dim3(route_threads)}, stream, task);
}

}  // namespace vernier::cuda
