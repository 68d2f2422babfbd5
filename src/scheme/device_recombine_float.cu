#include "scheme/device_recombine.cuh"

namespace vernier::cuda {

template void recombine_on_device(const DeviceRecombination<float>&, cudaStream_t);
template void scale_on_device(std::int64_t, std::int64_t, const DeviceFactor<float>&, float*, std::int64_t,
                              cudaStream_t);

}  // namespace vernier::cuda
