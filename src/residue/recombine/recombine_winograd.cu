#include "residue/recombine/recombine_winograd.cuh"

namespace vernier::cuda {

bool recombine_winograd_on_device(const DeviceRecombination<double>& task, cudaStream_t stream) {
  return launch_winograd_recombination(task, stream);
}

}  // namespace vernier::cuda
