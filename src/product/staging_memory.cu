#include "product/staging_memory.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>
#include <new>
#include <utility>

namespace vernier::cuda {
namespace {

// Pieces by size. Never freed at exit: the driver may be gone by then.
struct Spare {
  std::mutex mutex;
  std::multimap<std::size_t, std::unique_ptr<PinnedMemory>> pieces;
};

Spare& spare() {
  static auto& all = *new Spare;
  return all;
}

constexpr std::size_t most_pieces = 64;  // threads of a program that call at once have several each
constexpr std::size_t largest_kept = std::size_t{128} << 20;  // what is pinned is missing elsewhere

class StagingResource final : public std::pmr::memory_resource {
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    if (bytes > largest_kept) return std::pmr::new_delete_resource()->allocate(bytes, alignment);
    auto piece = std::make_unique<StagingMemory>(bytes);
    void* data = piece->data();
    const std::lock_guard lock(mutex_);
    used_[data] = std::move(piece);
    return data;
  }
  void do_deallocate(void* data, std::size_t bytes, std::size_t alignment) override {
    if (bytes > largest_kept) return std::pmr::new_delete_resource()->deallocate(data, bytes, alignment);
    const std::lock_guard lock(mutex_);
    used_.erase(data);
  }
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }

  std::mutex mutex_;
  std::map<void*, std::unique_ptr<StagingMemory>> used_;
};

}  // namespace

std::pmr::memory_resource& staging_resource() {
  static auto& resource = *new StagingResource;
  return resource;
}

// Few sizes, so that a piece serves other calls.
StagingMemory::StagingMemory(std::size_t bytes)
    : bytes_(bytes > largest_kept ? bytes : std::bit_ceil(std::max<std::size_t>(bytes, 1))) {
  {
    const std::lock_guard lock(spare().mutex);
    const auto piece = spare().pieces.lower_bound(bytes_);
    if (piece != spare().pieces.end()) {
      bytes_ = piece->first;
      memory_ = std::move(piece->second);
      spare().pieces.erase(piece);
    }
  }
  if (memory_ != nullptr && !memory_->lives()) memory_.reset();
  if (memory_ == nullptr) memory_ = std::make_unique<PinnedMemory>(bytes_);
}

StagingMemory::~StagingMemory() {
  if (bytes_ > largest_kept) return;
  try {
    const std::lock_guard lock(spare().mutex);
    spare().pieces.emplace(bytes_, std::move(memory_));
    if (spare().pieces.size() > most_pieces) spare().pieces.erase(spare().pieces.begin());
  } catch (const std::bad_alloc&) {  // it is not kept
  }
}

void release_staging_memory() {
  const std::lock_guard lock(spare().mutex);
  spare().pieces.clear();
}

}  // namespace vernier::cuda
