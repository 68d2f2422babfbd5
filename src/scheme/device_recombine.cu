#include "scheme/device_recombine.cuh"

namespace vernier::cuda {

#define VERNIER_INSTANTIATE(T)                                                    \
  template void recombine_on_device(const DeviceRecombination<T>&, cudaStream_t); \
  template void scale_on_device(std::int64_t, std::int64_t, const DeviceFactor<T>&, T*, std::int64_t, cudaStream_t);
VERNIER_INSTANTIATE(double)
VERNIER_INSTANTIATE(float)
#undef VERNIER_INSTANTIATE

}  // namespace vernier::cuda
