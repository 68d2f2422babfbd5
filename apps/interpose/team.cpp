#include "team.hpp"

#include <elf.h>
#include <link.h>
#include <pthread.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <new>

namespace vernier::interpose {
namespace {

using InParallel = int (*)();

constexpr std::size_t most_runtimes = 8;

struct Runtimes {
  std::uint64_t loaded = 0;  // libraries that were loaded and closed so far
  std::array<InParallel, most_runtimes> in_parallel{};
  std::size_t count = 0;
};

// Left behind where libraries came: other threads may still read them.
constinit std::atomic<const Runtimes*> known{nullptr};
constinit std::atomic<bool> in_child{false};  // where a thread of the parent may have held the loader's lock

[[maybe_unused]] const int told_of_children = pthread_atfork(nullptr, nullptr, [] { in_child = true; });

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
  if (found != nullptr && runtimes.count < most_runtimes)
    runtimes.in_parallel[runtimes.count++] = reinterpret_cast<InParallel>(found);
  return 0;
}

const Runtimes* runtimes() {
  std::uint64_t loaded = 0;
  dl_iterate_phdr(count_loads, &loaded);
  const Runtimes* current = known.load(std::memory_order_acquire);
  if (current != nullptr && current->loaded == loaded) return current;
  auto* const now = new (std::nothrow) Runtimes{.loaded = loaded};
  if (now == nullptr) return current;
  dl_iterate_phdr(add_runtime, now);
  known.store(now, std::memory_order_release);
  return now;
}

}  // namespace

bool in_a_team() noexcept {
  if (in_child) return false;  // where libvernier has one thread anyway
  const Runtimes* const all = runtimes();
  for (std::size_t i = 0; all != nullptr && i < all->count; ++i)
    if (all->in_parallel[i]() != 0) return true;
  return false;
}

}  // namespace vernier::interpose
