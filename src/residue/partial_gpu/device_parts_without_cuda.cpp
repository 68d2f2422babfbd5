// residue/partial_gpu/device_parts.hpp in a build without CUDA: there is no device.
#include "residue/partial_gpu/device_parts.hpp"

#include "base/instantiate.hpp"
#include "base/status.hpp"

#if !VERNIER_HAS_CUDA

namespace vernier {

template <class T>
std::unique_ptr<DeviceParts<T>> device_parts(void*) {
  fail(Status::unsupported, "DistributedProduct in device memory: this build has no CUDA part");
}

#define VERNIER_INSTANTIATE(T) template std::unique_ptr<DeviceParts<T>> device_parts(void*);
VERNIER_EACH_TYPE(VERNIER_INSTANTIATE)

}  // namespace vernier

#endif
