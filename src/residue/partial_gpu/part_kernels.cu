#include "residue/partial_gpu/part_kernels.cuh"

#include "base/instantiate.hpp"

namespace vernier::cuda {

template <class T>
void scan_vectors(const DeviceScan<T>& scan, cudaStream_t stream) {
  launch_scan(scan, stream);
}
template <class T>
void convert_entries(const DeviceConversion<T>& conversion, cudaStream_t stream) {
  launch_conversion(conversion, stream);
}
template <class T>
void finish_entries(const DeviceFinish<T>& finish, cudaStream_t stream) {
  launch_finish(finish, stream);
}

void add_classes(const DeviceClasses& product, cudaStream_t stream) { launch_classes(product, stream); }
void add_residues(const ElementLayout& layout, std::int64_t count, const std::byte* from, std::byte* to,
                  cudaStream_t stream) {
  launch_sum(layout, count, from, to, stream);
}
void make_words(const WordFormat& format, std::int64_t count, const std::byte* elements, std::int64_t* words,
                cudaStream_t stream) {
  launch_to_words(format, count, elements, words, stream);
}
void read_words(const WordFormat& format, std::int64_t count, const std::int64_t* words, std::byte* elements,
                cudaStream_t stream) {
  launch_from_words(format, count, words, elements, stream);
}

#define VERNIER_INSTANTIATE(T)                                             \
  template void scan_vectors(const DeviceScan<T>&, cudaStream_t);          \
  template void convert_entries(const DeviceConversion<T>&, cudaStream_t); \
  template void finish_entries(const DeviceFinish<T>&, cudaStream_t);
VERNIER_EACH_TYPE(VERNIER_INSTANTIATE)

}  // namespace vernier::cuda
