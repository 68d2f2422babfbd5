#include "cuda/hopper.hpp"
#include "lapack/lu/cluster_mail.cuh"

namespace vernier::cuda {

template <class T>
int panel_width(std::int64_t rows) {
  return ShapesOf<T>::type::width(rows);
}

template <class T>
void factor_panel_by_cluster(const PanelTask<T>& task, cudaStream_t stream) {
  ShapesOf<T>::type::template launch<ClusterMail>(task, stream);
}

template <class T>
void factor_panel(const PanelTask<T>& task, cudaStream_t stream) {
  takes_hopper_kernels() ? factor_panel_by_cluster(task, stream) : factor_panel_in_memory(task, stream);
}

template int panel_width<double>(std::int64_t rows);
template int panel_width<float>(std::int64_t rows);
template void factor_panel(const PanelTask<double>& task, cudaStream_t stream);
template void factor_panel(const PanelTask<float>& task, cudaStream_t stream);
template void factor_panel_by_cluster(const PanelTask<double>& task, cudaStream_t stream);
template void factor_panel_by_cluster(const PanelTask<float>& task, cudaStream_t stream);

}  // namespace vernier::cuda
