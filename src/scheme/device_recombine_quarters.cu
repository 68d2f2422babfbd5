#include "scheme/device_recombine_quarters.cuh"

namespace vernier::cuda {

bool recombine_quarters_on_device(const DeviceRecombination<double>& task, cudaStream_t stream) {
  return launch_quarter_recombination(task, stream);
}

}  // namespace vernier::cuda
