#include "residue/recombine/recombine.cuh"

#include "residue/recombine/recombine_winograd.cuh"

namespace vernier::cuda {

template void recombine_on_device(const DeviceRecombination<double>&, cudaStream_t);
template void recombine_on_device(const DeviceRecombination<float>&, cudaStream_t);

bool recombine_winograd_on_device(const DeviceRecombination<double>& task, cudaStream_t stream) {
  return launch_winograd_recombination(task, stream);
}

}  // namespace vernier::cuda
