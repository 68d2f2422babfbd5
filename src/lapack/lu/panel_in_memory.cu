#include "lapack/lu/memory_mail.cuh"

namespace vernier::cuda {

template <class T>
void factor_panel_in_memory(const PanelTask<T>& task, cudaStream_t stream) {
  ShapesOf<T>::type::template launch<MemoryMail>(task, stream);
}

template void factor_panel_in_memory(const PanelTask<double>& task, cudaStream_t stream);
template void factor_panel_in_memory(const PanelTask<float>& task, cudaStream_t stream);

}  // namespace vernier::cuda
