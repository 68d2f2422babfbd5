// What a fuzz target is made of: inputs to begin with, and one call on any bytes. One source defines both; driver.cpp
// mutates with a seed, libFuzzer with the coverage that it measures.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace vernier::fuzz {

// Small inputs that are taken, and some that are nearly taken.
std::vector<std::string> seeds();

// Any exception that leaves, any signal and any broken promise is a find.
void try_input(std::string_view bytes);

inline void promise(bool kept, const char* what) {
  if (kept) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

// A regular file in memory, for readers that take a path.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : file_(memfd_create("input", MFD_CLOEXEC)) {
    promise(file_ >= 0 && write(file_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()),
            "the harness has a file");
  }
  ~MemoryFile() { close(file_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
};

// Decisions out of an input's bytes; zeros once they are used up.
class Choices {
 public:
  explicit Choices(std::string_view bytes) : rest_(bytes) {}

  bool empty() const { return rest_.empty(); }
  unsigned byte() {
    if (rest_.empty()) return 0;
    const unsigned char value = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    return value;
  }
  unsigned below(unsigned limit) { return byte() % limit; }
  template <class T, std::size_t count>
  T one_of(const T (&values)[count]) {
    return values[below(count)];
  }
  std::string_view text(std::size_t bytes) {
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(taken.size());
    return taken;
  }

 private:
  std::string_view rest_;
};

}  // namespace vernier::fuzz
