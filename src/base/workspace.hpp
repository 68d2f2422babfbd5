// Large buffers that are kept between calls, and an arena that hands out aligned pieces of one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

namespace vernier {

// A buffer from the process-wide pool, or the caller's own. Memory from the pool lies on huge pages where the system
// has them; it goes back to the pool on destruction. Thread-safe. Throws Error(Status::out_of_memory).
class Workspace {
 public:
  explicit Workspace(std::size_t bytes);
  Workspace(void* callers_own, std::size_t bytes);
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  std::size_t capacity_ = 0;  // 0: the caller's own
};

// Hands out pieces of a buffer, each aligned to a page. Constructed on nothing it only counts: the same code then tells
// how large a buffer must be.
class Arena {
 public:
  static constexpr std::size_t alignment = 4096;

  Arena() = default;
  Arena(std::byte* data, std::size_t bytes) : data_(data), bytes_(bytes) {}

  template <class T>
  T* take(std::size_t count) {
    const std::size_t begin = used_;
    used_ += (count * sizeof(T) + alignment - 1) / alignment * alignment;
    if (data_ == nullptr) return nullptr;
    if (used_ > bytes_) throw std::bad_alloc();  // the plan counted with the same code: cannot happen
    return reinterpret_cast<T*>(data_ + begin);
  }

  std::size_t used() const { return used_ + alignment; }  // with room to align the buffer's own start

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0, used_ = 0;
};

inline std::byte* align_to_page(std::byte* p) {
  constexpr auto mask = static_cast<std::uintptr_t>(Arena::alignment - 1);
  return reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(p) + mask) & ~mask);
}

}  // namespace vernier
