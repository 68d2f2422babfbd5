#include "base/variable.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <cwchar>

namespace vernier {
namespace {

constexpr const char* not_set = "";

bool is_preloaded() {
  static constinit std::atomic<int> known{-1};
  int found = known.load(std::memory_order_relaxed);
  if (found < 0) known.store(found = dlsym(RTLD_DEFAULT, "vernier_underneath") != nullptr, std::memory_order_relaxed);
  return found != 0;
}

// The environment that a thread has looked in lately, and what it found: a string that was not there comes to the end,
// so while the last one lies in its place there is none, and one that was there is looked at in its own place. (A
// string that the program writes over another one, or that gets its name in its place, goes unseen.)
struct Lookups {
  char** at;  // null: nothing is known
  std::size_t count;
  const char* last;
  const Variable* variable[4];
  const char* value[4];
  std::size_t place[4];
  int known;

  // Looked through from its begin: a program that frees its environment may get a shorter one at the same place.
  bool same() const {
    if (at == nullptr || environ != at) return false;
    const auto* const words = reinterpret_cast<const wchar_t*>(at);  // none of a pointer's is 0, but of low ones
    if (std::wmemchr(words, 0, count * sizeof *at / sizeof *words) != nullptr) {
      std::size_t i = 0;
      while (i < count && at[i] != nullptr) ++i;
      if (i < count) return false;
    }
    return at[count] == nullptr && (count == 0 || at[count - 1] == last);
  }
  void take() {
    at = environ;
    known = 0, count = 0;
    if (at == nullptr) return;
    while (at[count] != nullptr) ++count;
    last = count == 0 ? nullptr : at[count - 1];
  }
  void keep(const Variable* asked, std::size_t length, const char* found) {
    if (known == 4 || !same()) return;
    const char* const string = found == nullptr ? nullptr : found - length - 1;
    std::size_t i = 0;
    while (string != nullptr && i < count && at[i] != string) ++i;
    if (i == count && string != nullptr) return;
    variable[known] = asked, place[known] = i, value[known++] = found;
  }
};
constinit thread_local Lookups lookups{};

// Of a string that the program may have written in meanwhile.
bool is_value_of(const char* name, std::size_t length, const char* value, const char* string) {
  return string == value - length - 1 && std::strncmp(string, name, length) == 0 && value[-1] == '=';
}

// Never freed: products may be made to the very end. Empty is as good as not set.
const char* copy_of(const char* value) { return value == nullptr || *value == '\0' ? not_set : strdup(value); }

}  // namespace

[[gnu::hot]] const char* Variable::get() {
  if (!is_preloaded()) {
    Lookups& seen = lookups;
    if (!seen.same()) seen.take();
    for (int i = 0; i < seen.known; ++i) {
      if (seen.variable[i] != this) continue;
      const char* const value = seen.value[i];
      if (value == nullptr || is_value_of(name_, std::strlen(name_), value, seen.at[seen.place[i]])) return value;
      seen.take();
    }
    const char* const value = std::getenv(name_);
    seen.keep(this, std::strlen(name_), value);
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
