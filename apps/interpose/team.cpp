#include "team.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <pthread.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>

#include "original.hpp"

namespace vernier::interpose {
namespace {

using InParallel = int (*)();

constexpr std::size_t most_runtimes = 8;

struct Runtimes {
  std::array<InParallel, most_runtimes> in_parallel{};
  std::size_t count = 0;
  bool all_ready = true;
};

// What is known: of how many libraries that were loaded and closed, 0 while it is written, and the runtimes among them.
constinit std::atomic<std::uint64_t> known{0};
constinit std::array<std::atomic<InParallel>, most_runtimes> known_runtimes{};
constinit std::atomic<bool> is_written{false};
constinit std::atomic<bool> in_child{false};  // where a thread of the parent may have held the loader's lock

[[maybe_unused]] const int told_of_children = pthread_atfork(nullptr, nullptr, [] { in_child = true; });

// The loader lists a library before it relocates it, and finds an address in it only afterwards: glibc 2.35 and later.
using FindObject = int (*)(void*, void*);
const auto find_object = reinterpret_cast<FindObject>(look_up(RTLD_DEFAULT, "_dl_find_object"));

bool is_ready(void* function) {
  std::array<std::uint64_t, 16> found{};  // struct dl_find_object
  return find_object == nullptr || find_object(function, found.data()) == 0;
}

std::uint32_t gnu_hash(const char* name) {
  std::uint32_t hash = 5381;
  for (; *name != '\0'; ++name) hash = hash * 33 + static_cast<unsigned char>(*name);
  return hash;
}

// A function that a loaded library defines, by its own table; null if it does not.
void* defined_by(const dl_phdr_info& library, const char* name) {
  const ElfW(Dyn)* dynamic = nullptr;
  for (int i = 0; i < library.dlpi_phnum; ++i)
    if (library.dlpi_phdr[i].p_type == PT_DYNAMIC)
      dynamic = reinterpret_cast<const ElfW(Dyn)*>(library.dlpi_addr + library.dlpi_phdr[i].p_vaddr);
  const ElfW(Sym)* symbols = nullptr;
  const char* strings = nullptr;
  const std::uint32_t* table = nullptr;
  for (; dynamic != nullptr && dynamic->d_tag != DT_NULL; ++dynamic) {
    const ElfW(Addr) given = dynamic->d_un.d_ptr, at = given < library.dlpi_addr ? library.dlpi_addr + given : given;
    if (dynamic->d_tag == DT_SYMTAB) symbols = reinterpret_cast<const ElfW(Sym)*>(at);
    if (dynamic->d_tag == DT_STRTAB) strings = reinterpret_cast<const char*>(at);
    if (dynamic->d_tag == DT_GNU_HASH) table = reinterpret_cast<const std::uint32_t*>(at);
  }
  if (symbols == nullptr || strings == nullptr || table == nullptr || table[0] == 0) return nullptr;
  const std::uint32_t buckets = table[0], first = table[1], hash = gnu_hash(name);
  const std::uint32_t* const bucket = table + 4 + table[2] * (sizeof(ElfW(Addr)) / sizeof(std::uint32_t));
  const std::uint32_t* const chain = bucket + buckets;
  for (std::uint32_t i = bucket[hash % buckets]; i >= first && i != 0; ++i) {
    const ElfW(Sym)& s = symbols[i];
    if ((chain[i - first] | 1) == (hash | 1) && s.st_shndx != SHN_UNDEF && std::strcmp(strings + s.st_name, name) == 0)
      return reinterpret_cast<void*>(library.dlpi_addr + s.st_value);
    if ((chain[i - first] & 1) != 0) break;
  }
  return nullptr;
}

int count_loads(dl_phdr_info* library, std::size_t, void* count) {
  *static_cast<std::uint64_t*>(count) = library->dlpi_adds + library->dlpi_subs;
  return 1;  // it is told of each library alike
}

int add_runtime(dl_phdr_info* library, std::size_t, void* data) {
  auto& runtimes = *static_cast<Runtimes*>(data);
  const char* const slash = library->dlpi_name != nullptr ? std::strrchr(library->dlpi_name, '/') : nullptr;
  if (slash == nullptr || std::strstr(slash, "omp") == nullptr) return 0;
  void* const found = defined_by(*library, "omp_in_parallel");
  if (defined_by(*library, "__kmpc_fork_call") != nullptr) return 0;  // LLVM's begins by being asked
  if (found == nullptr) return 0;
  if (!is_ready(found))
    runtimes.all_ready = false;  // nobody is in a team of it
  else if (runtimes.count < most_runtimes)
    runtimes.in_parallel[runtimes.count++] = reinterpret_cast<InParallel>(found);
  return 0;
}

void keep(std::uint64_t loaded, const Runtimes& now) {
  if (is_written.exchange(true, std::memory_order_acquire)) return;
  known.store(0, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  for (std::size_t i = 0; i < most_runtimes; ++i)
    known_runtimes[i].store(now.in_parallel[i], std::memory_order_relaxed);
  known.store(loaded, std::memory_order_release);
  is_written.store(false, std::memory_order_release);
}

Runtimes runtimes() {
  std::uint64_t loaded = 0;
  dl_iterate_phdr(count_loads, &loaded);
  Runtimes now;
  if (known.load(std::memory_order_acquire) == loaded) {
    for (const auto& runtime : known_runtimes)
      if (const InParallel f = runtime.load(std::memory_order_relaxed)) now.in_parallel[now.count++] = f;
    std::atomic_thread_fence(std::memory_order_acquire);
    if (known.load(std::memory_order_relaxed) == loaded) return now;
    now = {};
  }
  dl_iterate_phdr(add_runtime, &now);
  if (now.all_ready) keep(loaded, now);
  return now;
}

}  // namespace

bool in_a_team() noexcept {
  if (in_child) return false;  // where libvernier has one thread anyway
  const Runtimes all = runtimes();
  for (std::size_t i = 0; i < all.count; ++i)
    if (all.in_parallel[i]() != 0) return true;
  return false;
}

}  // namespace vernier::interpose
