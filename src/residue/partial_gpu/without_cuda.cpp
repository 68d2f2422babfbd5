// Distributed products in device memory in a build without CUDA: there is no device.
#include "residue/partial_gpu/device_parts.hpp"

#include "base/instantiate.hpp"
#include "base/status.hpp"
#include "residue/partial_gpu/device_product.hpp"

#if !VERNIER_HAS_CUDA

namespace vernier {

template <class T>
std::unique_ptr<DeviceParts<T>> device_parts(void*) {
  fail(Status::unsupported, "DistributedProduct in device memory: this build has no CUDA part");
}

VERNIER_TYPE_INSTANCES(device_parts)

ElementDevice element_device() { return {}; }
bool make_product_on_device(const PassData&, const ElementProduct&, std::int64_t, std::byte*) { return false; }

}  // namespace vernier

#endif
