#include "base/workspace.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <vector>

#include "base/fork_mutex.hpp"
#include "base/memory_nodes.hpp"
#include "base/status.hpp"
#include "base/uncancelled.hpp"

namespace vernier {

void fail_area(std::int64_t rows, std::int64_t columns, std::size_t element_bytes) {
  fail(Status::out_of_memory, "{} x {} elements of {} bytes: more than any memory holds", rows, columns, element_bytes);
}
namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;

struct Buffer {
  std::byte* data;
  std::size_t capacity;
};

struct Pool {
  ForkMutex mutex;
  std::vector<Buffer> idle;
};

Pool& pool() {
  static Pool* instance = new Pool;  // never destroyed: calls from other static destructors stay safe
  return *instance;
}

// Made as the library is loaded: a fork() in the middle of it would leave a child waiting for its end.
[[maybe_unused]] const Pool& made_early = pool();

// Of whole huge pages; null data where the system refuses it.
Buffer try_map(std::size_t bytes) {
  const std::size_t capacity = (bytes + huge_page - 1) / huge_page * huge_page;
  if (capacity < bytes) fail(Status::out_of_memory, "workspace of {} bytes: too large", bytes);
  void* p = mmap(nullptr, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return {p == MAP_FAILED ? nullptr : static_cast<std::byte*>(p), capacity};
}

Buffer map_buffer(std::size_t bytes) {
  const Buffer mapped = try_map(bytes);
  if (mapped.data == nullptr) fail(Status::out_of_memory, "workspace of {} bytes could not be allocated", bytes);
#ifdef MADV_HUGEPAGE
  madvise(mapped.data, mapped.capacity, MADV_HUGEPAGE);  // a wish; refusal changes the speed only
#endif
  spread_over_nodes(mapped.data, mapped.capacity);
  return mapped;
}

void unmap(const Buffer& buffer) { munmap(buffer.data, buffer.capacity); }

// The smallest idle buffer that is large enough; smaller ones are given back first, so that a pool does not pile up.
bool take_idle(std::size_t bytes, Buffer& found) {
  std::vector<Buffer> outgrown;
  {
    Pool& p = pool();
    const std::lock_guard lock(p.mutex);
    auto best = p.idle.end();
    for (auto it = p.idle.begin(); it != p.idle.end(); ++it)
      if (it->capacity >= bytes && (best == p.idle.end() || it->capacity < best->capacity)) best = it;
    if (best == p.idle.end()) {
      outgrown.swap(p.idle);
    } else {
      found = *best;
      p.idle.erase(best);
      return true;
    }
  }
  std::for_each(outgrown.begin(), outgrown.end(), unmap);
  return false;
}

}  // namespace

std::size_t control_group_limit(const std::string& groups, const std::string& root) {
  std::size_t least = std::numeric_limits<std::size_t>::max();
  const auto look = [&least](const std::string& file) {
    if (std::size_t limit = 0; std::ifstream(file) >> limit && limit > 0) least = std::min(least, limit);
  };
  const std::string unified = "/memory.max", by_controller = "/memory.limit_in_bytes";
  look(root + unified);  // of a container, which may see no group of its own
  look(root + "/memory" + by_controller);
  std::ifstream lines(groups);
  for (std::string line; std::getline(lines, line);) {  // 0::/path, or 4:cpu,memory:/path
    const std::size_t kinds = line.find(':') + 1, path = line.find(':', kinds) + 1;
    if (kinds == 0 || path == 0) continue;
    const std::string kind = "," + line.substr(kinds, path - 1 - kinds) + ",";
    const bool is_unified = kind == ",,";
    if (!is_unified && kind.find(",memory,") == std::string::npos) continue;
    for (std::string group = line.substr(path); !group.empty();
         group.resize(std::min(group.rfind('/'), group.size() - 1)))
      look(root + (is_unified ? group + unified : "/memory" + group + by_controller));
  }
  return least;
}

std::size_t machine_memory_bytes() {
  static const std::size_t bytes = [] {
    const Uncancelled reads_files;
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    if (pages <= 0 || page <= 0) return std::size_t{0};
    std::size_t least = static_cast<std::size_t>(pages) * static_cast<std::size_t>(page);
    if (rlimit addresses = {}; getrlimit(RLIMIT_AS, &addresses) == 0 && addresses.rlim_cur != RLIM_INFINITY)
      least = std::min(least, static_cast<std::size_t>(addresses.rlim_cur));
    return std::min(least, control_group_limit("/proc/self/cgroup", "/sys/fs/cgroup"));
  }();
  return bytes;
}

bool grants_workspace(std::size_t bytes) {
  {
    Pool& p = pool();
    const std::lock_guard lock(p.mutex);
    for (const Buffer& idle : p.idle)
      if (idle.capacity >= bytes) return true;
  }
  Buffer tried = try_map(bytes);
  if (tried.data == nullptr) {
    release_workspace();
    tried = try_map(bytes);
  }
  if (tried.data != nullptr) unmap(tried);
  return tried.data != nullptr;
}

Workspace::Workspace(std::size_t bytes, void* callers_own)
    : data_(static_cast<std::byte*>(callers_own)), bytes_(bytes) {
  if (callers_own != nullptr) return;
  Buffer buffer{};
  if (!take_idle(bytes, buffer)) buffer = map_buffer(bytes);
  data_ = buffer.data;
  capacity_ = buffer.capacity;
}

Workspace::~Workspace() {
  if (capacity_ == 0) return;
  try {
    Pool& p = pool();
    const std::lock_guard lock(p.mutex);
    p.idle.push_back({data_, capacity_});
  } catch (const std::bad_alloc&) {  // the pool cannot grow
    unmap({data_, capacity_});
  }
}

void release_workspace() {
  std::vector<Buffer> idle;
  {
    Pool& p = pool();
    const std::lock_guard lock(p.mutex);
    idle.swap(p.idle);
  }
  std::for_each(idle.begin(), idle.end(), unmap);
}

}  // namespace vernier
