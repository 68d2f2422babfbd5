// Memory that is refused at a site of the test's choice: operator new, aligned or not, and the maps of workspaces, but
// for VERNIER_GRANTS_MAPS. For one source of a program, since it replaces the operators of all of it.
#pragma once

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "vernier/vernier.hpp"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define VERNIER_REFUSES_MEMORY 1

namespace vernier::test {

inline std::atomic<std::int64_t> allocated_bytes = 0;
inline std::atomic<std::int64_t> allocations_left = INT64_MAX;  // before one is refused

inline bool refused() { return allocations_left-- == 0; }

// Maps of the BLAS underneath are larger than those of small products; it asks again for ever where one is refused.
constexpr std::size_t huge_page = std::size_t{2} << 20, largest_refused_map = std::size_t{16} << 20;

}  // namespace vernier::test

// Not inlined: a compiler that sees through one of them takes the pair for a mismatch.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  vernier::test::allocated_bytes += static_cast<std::int64_t>(bytes);
  void* piece = vernier::test::refused() ? nullptr : std::malloc(bytes);
  if (piece == nullptr) throw std::bad_alloc();
  return piece;
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  vernier::test::allocated_bytes += static_cast<std::int64_t>(bytes);
  void* piece = nullptr;
  if (vernier::test::refused() || posix_memalign(&piece, static_cast<std::size_t>(alignment), bytes) != 0)
    throw std::bad_alloc();
  return piece;
}
[[gnu::noinline]] void operator delete(void* piece) noexcept { std::free(piece); }
[[gnu::noinline]] void operator delete(void* piece, std::size_t) noexcept { std::free(piece); }
[[gnu::noinline]] void operator delete(void* piece, std::align_val_t) noexcept { std::free(piece); }
[[gnu::noinline]] void operator delete(void* piece, std::size_t, std::align_val_t) noexcept { std::free(piece); }

#if !defined(VERNIER_GRANTS_MAPS)
extern "C" [[gnu::noinline]] void* mmap(void* address, std::size_t bytes, int protection, int flags, int file,
                                        off_t offset) noexcept {
  using namespace vernier::test;
  const bool workspace = bytes % huge_page == 0 && bytes <= largest_refused_map && (flags & MAP_ANONYMOUS) != 0;
  if (workspace && refused()) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return reinterpret_cast<void*>(syscall(SYS_mmap, address, bytes, protection, flags, file, offset));
}
#endif

namespace vernier::test {

// Runs body() again and again, each time refusing the next site, until none is left to refuse; judge(done) after each.
// Returns how often memory was refused.
template <class Prepare, class Body, class Judge>
int refuse_every_site(Prepare prepare, Body body, Judge judge) {
  for (int site = 0; site < 10000; ++site) {
    release_workspace();
    prepare();
    bool done = false;
    allocations_left = site;
    try {
      body();
      done = true;
    } catch (const std::bad_alloc&) {
    } catch (const Error& error) {
      const bool expected = error.status() == Status::out_of_memory;
      allocations_left = INT64_MAX;
      if (!expected) throw;
      allocations_left = -1;
    }
    const bool was_refused = allocations_left.exchange(INT64_MAX) < 0;
    judge(done);
    if (!was_refused) return site;
  }
  return -1;
}

}  // namespace vernier::test

#endif
