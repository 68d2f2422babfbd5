// residue/partial_gpu/device_product.hpp in a build without CUDA: there is no device.
#include "residue/partial_gpu/device_product.hpp"

#if !VERNIER_HAS_CUDA

namespace vernier {

ElementDevice element_device() { return {}; }
bool make_product_on_device(const PassData&, const ElementProduct&, std::int64_t, std::byte*) { return false; }

}  // namespace vernier

#endif
