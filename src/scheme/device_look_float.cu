#include "scheme/device_look.cuh"

namespace vernier::cuda {

template void look_on_device(const DeviceExactBlock<float>&, cudaStream_t);

}  // namespace vernier::cuda
