#include "base/variable.hpp"

#include <dlfcn.h>

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

// Called as the library is loaded, with what main() gets (glibc): the kernel puts the strings behind the words.
[[maybe_unused, gnu::constructor]] void find_first_environment(int count, char** words, char** environment) {
  if (environment == words + count + 1) first_environment = environment;
}

// Never freed: products may be made to the very end. Empty is as good as not set.
const char* copy_of(const char* value) { return value == nullptr || *value == '\0' ? not_set : strdup(value); }

}  // namespace

NoNewStrings NoNewStrings::since_now() {
  NoNewStrings now;
  if (environ == nullptr || environ != first_environment || *environ == nullptr) return now;
  for (now.end_ = environ; *now.end_ != nullptr; ++now.end_) now.last_ = *now.end_;
  return now;
}

const char* Variable::get() {
  if (!is_preloaded()) return std::getenv(name_);
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
