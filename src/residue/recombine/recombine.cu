#include "base/instantiate.hpp"
#include "residue/recombine/recombine.cuh"

#include "residue/recombine/recombine_winograd.cuh"

namespace vernier::cuda {

VERNIER_REAL_INSTANCES(recombine_on_device)

bool recombine_winograd_on_device(const DeviceRecombination<double>& task, cudaStream_t stream) {
  return launch_winograd_recombination(task, stream);
}

}  // namespace vernier::cuda
