// The link to a CUDA device: three streams, pinned staging memory, and events. What is had for one product is kept for
// the next.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "offload/link.hpp"

namespace vernier::offload {

// Of a block whose panels and C lie there, on that stream (a cudaStream_t).
struct BlockOnDevice {
  const Block* block;
  const std::byte *a, *b;
  std::byte* c;
  void* stream;
};
using BlockProduct = std::function<void(const BlockOnDevice&)>;

// To the device of that number; threads that call it make that device their current one.
std::unique_ptr<Link> cuda_link(int device, BlockProduct product);

// How the memory of a matrix is to be reached.
enum class Memory { pageable, pinned, managed, device };
Memory memory_of(const void* first, const void* last);

int device_count();            // 0 where there is none
std::string missing_device();  // why there is none, or ""
std::string device_name(int device);
std::size_t free_memory(int device);

void synchronize();    // with the default stream of the current device
void release_links();  // that nobody uses

// Makes a device current, and that of before at the end.
class CurrentDevice {
 public:
  explicit CurrentDevice(int device);
  ~CurrentDevice();
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  int before_ = 0;
};

}  // namespace vernier::offload
