// offload/cuda_link.hpp in a build without CUDA: there is no device.
#include "base/status.hpp"
#include "offload/cuda_link.hpp"

#if !VERNIER_HAS_CUDA

namespace vernier::offload {

std::unique_ptr<Link> cuda_link(int, BlockProduct) { fail(Status::unsupported, "{}", missing_device()); }
Memory memory_of(const void*, const void*) { return Memory::pageable; }
int device_count() { return 0; }
std::string missing_device() { return "this libvernier was built without CUDA"; }
std::string device_name(int) { fail(Status::unsupported, "{}", missing_device()); }
std::size_t free_memory(int) { return 0; }
void synchronize() {}
void release_links() {}
CurrentDevice::CurrentDevice(int) {}
CurrentDevice::~CurrentDevice() = default;

}  // namespace vernier::offload

#endif
