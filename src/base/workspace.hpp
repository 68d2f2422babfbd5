// Large buffers that are kept between calls, and an arena that hands out aligned pieces of one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <string>

#include "base/size.hpp"

namespace vernier {

// Hands out pieces of a buffer, each aligned to a page. Constructed on nothing it only counts: the same code then tells
// how large a buffer must be.
class Arena {
 public:
  static constexpr std::size_t alignment = 4096;

  Arena() = default;
  Arena(std::byte* data, std::size_t bytes)
      : data_(first_page(data)), bytes_(bytes - static_cast<std::size_t>(data_ - data)) {}

  static std::byte* first_page(std::byte* data) {
    constexpr auto mask = static_cast<std::uintptr_t>(alignment - 1);
    return reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(data) + mask) & ~mask);
  }

  template <class T>
  T* take(std::size_t count) {
    const std::size_t begin = used_;
    const std::size_t pages = (size_product({count, sizeof(T)}) + alignment - 1) / alignment * alignment;
    used_ = size_sum(used_, pages);
    if (data_ == nullptr) return nullptr;
    if (used_ > bytes_) throw std::bad_alloc();  // the plan counted with the same code: cannot happen
    return reinterpret_cast<T*>(data_ + begin);
  }

  std::size_t used() const { return used_ + alignment; }  // with room to align the buffer's own start

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0, used_ = 0;
};

// Bytes of memory that this process can have, as the system, its limit of addresses and its control groups tell; 0 if
// the system does not.
std::size_t machine_memory_bytes();
// Does the system grant so many bytes for a Workspace? Idle ones are given back where it else would not.
bool grants_workspace(std::size_t bytes);
// The least limit of the groups that a file as /proc/self/cgroup names, and of those around them, which lie below
// `root`, by either version; the largest size_t where there is none.
std::size_t control_group_limit(const std::string& groups, const std::string& root);

// The caller's own memory, or where that is null a buffer from the process-wide pool. It lies on huge pages where the
// system has them, and goes back to the pool on destruction. Thread-safe. Throws Error(Status::out_of_memory).
class Workspace {
 public:
  explicit Workspace(std::size_t bytes, void* callers_own = nullptr);
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  Arena arena() const { return {data_, bytes_}; }

 private:
  std::byte* data_;
  std::size_t bytes_;
  std::size_t capacity_ = 0;  // 0: the caller's own
};

}  // namespace vernier
