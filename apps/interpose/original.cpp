#include "original.hpp"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "preload.hpp"

namespace vernier::interpose {
namespace {

using Dlsym = void* (*)(void*, const char*);

// Found once, or by several threads at once, which find the same. A lock would be held while the loader's is taken, and
// the loader's is held by who calls dlsym in a constructor.
template <class T, class Find>
T* found_once(std::atomic<T*>& cell, Find find) {
  T* value = cell.load(std::memory_order_acquire);
  if (value == nullptr) cell.store(value = find(), std::memory_order_release);
  return value;
}

Dlsym dlsym_of_libc() {
  static constinit std::atomic<void*> cell{nullptr};
  return reinterpret_cast<Dlsym>(found_once(cell, [] {
    void* found = nullptr;
    for (const char* version : {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17", "GLIBC_2.27"})
      if (found == nullptr) found = dlvsym(RTLD_NEXT, "dlsym", version);
    return found;
  }));
}

// The library that an address lies in; null if in none.
struct Place {
  const void* base = nullptr;
  std::string path;

  bool is_trampoline() const { return path.find("libblastrampoline") != std::string::npos; }
};

Place place_of(const void* address) {
  Dl_info info;
  if (dladdr(address, &info) == 0) return {};
  return {info.dli_fbase, info.dli_fname != nullptr ? info.dli_fname : ""};
}

const Place& this_preload() {
  static constinit std::atomic<Place*> cell{nullptr};
  Place* known = cell.load(std::memory_order_acquire);
  if (known != nullptr) return *known;
  auto mine = std::make_unique<Place>(place_of(&preload));
  return cell.compare_exchange_strong(known, mine.get()) ? *mine.release() : *known;
}

int add_path(dl_phdr_info* info, std::size_t, void* paths) {
  if (info->dlpi_name != nullptr && info->dlpi_name[0] != '\0')
    static_cast<std::vector<std::string>*>(paths)->emplace_back(info->dlpi_name);
  return 0;
}

struct Decided {
  std::mutex mutex;  // held for a look into the table alone
  std::unordered_map<std::string, void*> originals;
};

Decided& decided() {
  static Decided& once = *new Decided;
  return once;
}

[[maybe_unused]] const int free_in_children =
    pthread_atfork([] { decided().mutex.lock(); }, [] { decided().mutex.unlock(); }, [] { decided().mutex.unlock(); });

// One of another version, or under another name: it passes calls on to this one.
bool is_another_preload(const Place& place) {
  void* const library = dlopen(place.path.c_str(), RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
  if (library == nullptr) return false;
  const void* const mark = look_up(library, "vernier_underneath");  // which every preload has
  dlclose(library);
  return mark != nullptr && place_of(mark).base == place.base;
}

// The library of a function that is called from now on, though the program may close it.
void keep_library_of(const void* function) {
  dlopen(place_of(function).path.c_str(), RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD | RTLD_NODELETE);
}

// What was decided for that name before, else this.
void* decide(const char* name, void* found) {
  Decided& d = decided();
  const auto [decision, is_new] = [&] {
    const std::lock_guard lock(d.mutex);
    const auto [entry, inserted] = d.originals.try_emplace(name, found);
    return std::pair(entry->second, inserted);
  }();
  if (is_new) keep_library_of(found);
  return decision;
}

void* decided_before(const char* name) {
  Decided& d = decided();
  const std::lock_guard lock(d.mutex);
  const auto entry = d.originals.find(name);
  return entry != d.originals.end() ? entry->second : nullptr;
}

void* own_function(const char* name) {
  static constinit std::atomic<void*> cell{nullptr};
  void* const own =
      found_once(cell, [] { return dlopen(this_preload().path.c_str(), RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD); });
  void* found = own != nullptr ? look_up(own, name) : nullptr;
  return found != nullptr && place_of(found).base == this_preload().base ? found : nullptr;
}

}  // namespace

bool is_underneath(const void* function) {
  if (function == nullptr) return false;
  const Place place = place_of(function);
  return place.base != this_preload().base && !place.is_trampoline() && !is_another_preload(place);
}

bool is_of_trampoline(const void* code) { return place_of(code).is_trampoline(); }

void* look_up(void* library, const char* name) { return dlsym_of_libc()(library, name); }

void* find_next(const char* name) {
  void* found = look_up(RTLD_NEXT, name);
  return is_underneath(found) ? found : nullptr;
}

// In the order of loading. A library is kept once it has been asked, so that what was found stays.
void* find_among_loaded(const char* name) {
  std::vector<std::string> paths;
  dl_iterate_phdr(add_path, &paths);
  for (const std::string& path : paths) {
    void* const library = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
    if (library == nullptr) continue;
    void* const found = look_up(library, name);
    if (is_underneath(found)) return found;
    dlclose(library);
  }
  return nullptr;
}

void* original(const char* name) {
  if (void* before = decided_before(name)) return before;
  void* found = find_underneath(name, May::load);
  return found != nullptr ? decide(name, found) : nullptr;
}

bool is_absent_without_us(const char* name) {
  if (own_function(name) == nullptr || find_underneath(name, May::not_load) != nullptr) return false;
  return look_up(RTLD_NEXT, name) == nullptr;
}

void* replacement(const char* name, void* found) {
  if (!is_underneath(found)) return nullptr;
  void* const ours = own_function(name);
  if (ours == nullptr) return nullptr;
  void* before = decided_before(name);
  if (before == nullptr) before = find_underneath(name, May::not_load);
  return decide(name, before != nullptr ? before : found) == found ? ours : nullptr;
}

}  // namespace vernier::interpose
