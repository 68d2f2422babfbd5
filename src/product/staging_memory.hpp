// Pinned memory of the host for vectors on their way to a GPU and back. The process keeps what it has taken: to take
// it anew costs more than a copy by way of it saves. Pieces of more than 128 MiB are given back.
#pragma once

#include <cstddef>
#include <memory>
#include <memory_resource>

#include "product/device_memory.hpp"

namespace vernier::cuda {

class StagingMemory {
 public:
  explicit StagingMemory(std::size_t bytes);
  ~StagingMemory();
  StagingMemory(const StagingMemory&) = delete;
  StagingMemory& operator=(const StagingMemory&) = delete;

  std::byte* data() const { return static_cast<std::byte*>(memory_->data()); }

 private:
  std::size_t bytes_;  // at least what was asked for
  std::unique_ptr<PinnedMemory> memory_;
};

// The same for containers; pieces of more than 128 MiB are ordinary memory.
std::pmr::memory_resource& staging_resource();

void release_staging_memory();  // that nobody uses

}  // namespace vernier::cuda
