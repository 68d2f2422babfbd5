// operator new for a program and all of its libraries, which refuses one request when it is told to.
#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<long> left{-1};  // before one is refused; negative: none is

}  // namespace

extern "C" __attribute__((visibility("default"))) void refuse_memory(long site) { left = site + 1; }
extern "C" __attribute__((visibility("default"))) int was_refused() { return left <= 0 ? 1 : 0; }

__attribute__((visibility("default"))) void* operator new(std::size_t bytes) {
  void* piece = left > 0 && --left == 0 ? nullptr : std::malloc(bytes);
  if (piece == nullptr) throw std::bad_alloc();
  return piece;
}
__attribute__((visibility("default"))) void operator delete(void* piece) noexcept { std::free(piece); }
__attribute__((visibility("default"))) void operator delete(void* piece, std::size_t) noexcept { std::free(piece); }
