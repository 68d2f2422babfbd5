// Matrices in memory of the host, multiplied on GPUs.
//
//     vernier::gemm(..., {.device = vernier::Device::automatic});  // level3.hpp and lapack.hpp too
//
// or for all that a thread calls:
//
//     #include <vernier/offload.hpp>
//     const vernier::DeviceScope scope(vernier::Device::automatic);
//
// Bits under reproducible contracts and `exact` are those of the CPU. docs/offload.md says how blocks move, and what
// happens where a GPU fails: C is right, and the report says what the CPU did.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "vernier/vernier.hpp"

namespace vernier {

VERNIER_API const char* to_string(Device device);
VERNIER_API Device parse_device(std::string_view text);  // "cpu", "cuda", "auto"

// Where products of the calling thread are made that name no device, no engine of the CPU and bring no workspace: for
// the life of the object, then as before. Without any: as VERNIER_DEVICE says, or on the CPU.
class VERNIER_API DeviceScope {
 public:
  explicit DeviceScope(Device device);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  int before_;
};

VERNIER_API Device current_device();  // of this thread; throws where VERNIER_DEVICE is none

// What copies between pageable memory of the host and a GPU reach, and to how many GPUs. Measured once a process, in
// some 20 ms, once CUDA is awake: this waits for it, `auto` does not.
struct VERNIER_API HostLink {
  int devices = 0;
  std::string name, missing;   // of the first; why there is none
  double up = 0, down = 0;     // bytes a second
  std::size_t free_bytes = 0;  // of the first device
};
VERNIER_API HostLink host_link();

}  // namespace vernier
