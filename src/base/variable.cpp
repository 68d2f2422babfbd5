#include "base/variable.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace vernier {
namespace {

constexpr const char* not_set = "";

bool is_preloaded() {
  static constinit std::atomic<int> known{-1};
  int found = known.load(std::memory_order_relaxed);
  if (found < 0) known.store(found = dlsym(RTLD_DEFAULT, "vernier_underneath") != nullptr, std::memory_order_relaxed);
  return found != 0;
}

// The environment that a thread has looked in lately, and what it found: while the same strings lie in the same places,
// getenv(), which reads all of them, would find the same. (A string that gets its name in its place goes unseen.)
struct Lookups {
  static constexpr std::size_t most = 256;  // strings; of more nothing is kept
  char** at;
  std::size_t count;  // with the null behind the last one; 0: none
  char* strings[most];
  const Variable* variable[4];
  const char* value[4];
  int known;

  bool same() const { return count != 0 && environ == at && std::memcmp(environ, strings, count * sizeof(char*)) == 0; }
  void take() {
    at = environ;
    known = 0, count = 0;
    if (at == nullptr) return;
    std::size_t all = 0;
    while (all < most && at[all] != nullptr) ++all;
    if (all == most) return;
    count = all + 1;
    std::memcpy(strings, at, count * sizeof(char*));
  }
};
constinit thread_local Lookups lookups{};

// Of a string that the program may have written in meanwhile.
bool is_value_of(const char* name, const char* value) {
  const std::size_t length = std::strlen(name);
  return std::strncmp(value - length - 1, name, length) == 0 && value[-1] == '=';
}

// Never freed: products may be made to the very end. Empty is as good as not set.
const char* copy_of(const char* value) { return value == nullptr || *value == '\0' ? not_set : strdup(value); }

}  // namespace

[[gnu::hot]] const char* Variable::get() {
  if (!is_preloaded()) {
    Lookups& seen = lookups;
    if (!seen.same()) seen.take();
    for (int i = 0; i < seen.known; ++i)
      if (seen.variable[i] == this) {
        if (seen.value[i] == nullptr || is_value_of(name_, seen.value[i])) return seen.value[i];
        seen.take();
      }
    const char* const value = std::getenv(name_);
    if (seen.known < 4 && seen.same()) seen.variable[seen.known] = this, seen.value[seen.known++] = value;
    return value;
  }
  const char* kept = kept_.load(std::memory_order_acquire);
  if (kept == nullptr) {
    const char* const copy = copy_of(std::getenv(name_));
    if (kept_.compare_exchange_strong(kept, copy))
      kept = copy;
    else if (copy != not_set)
      std::free(const_cast<char*>(copy));
  }
  return kept == not_set ? nullptr : kept;
}

}  // namespace vernier
