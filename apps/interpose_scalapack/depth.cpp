#include "depth.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "pblas.hpp"
#include "settings.hpp"

namespace vernier::interpose {
namespace {

constexpr int usual = 1024, shallowest = 32;

thread_local int depth = 0;

struct Reserved {
  void* memory = nullptr;
  std::size_t bytes = 0;
};
thread_local std::array<Reserved, panels_at_a_time> reserved;

// The smallest that holds so much.
void* take_reserved(std::size_t bytes) {
  Reserved* best = nullptr;
  for (Reserved& r : reserved)
    if (r.memory != nullptr && r.bytes >= bytes && (best == nullptr || r.bytes < best->bytes)) best = &r;
  return best == nullptr ? nullptr : std::exchange(best->memory, nullptr);
}

}  // namespace

double most_panels(double bytes_of_matrices) { return std::max(small_panels, most_of_matrices * bytes_of_matrices); }

PanelDepth depth_of(const Grid& grid, std::initializer_list<const SubMatrix*> matrices, int k,
                    std::size_t element_bytes) {
  const auto size = static_cast<double>(element_bytes);
  double longest = 1, share = 0;
  for (const SubMatrix* x : matrices) {
    longest = std::max({longest, 1.0 * x->most_rows(), 1.0 * x->most_columns()});
    share += size * x->entries() / (grid.rows * grid.columns);
  }
  const double fits = most_panel_bytes / (longest * size);
  const double deep = std::max<double>(usual, most_panels(share) / (2 * longest * size));
  const int depth = std::max(1, static_cast<int>(std::min({fits, deep, static_cast<double>(std::max(k, shallowest))})));
  const int blocks = std::max(1, (k + depth - 1) / depth);
  const int even = std::max(std::min(depth, shallowest), (k + blocks - 1) / blocks);
  return {even, even * longest * size};
}

PanelDepth block_depth_of(const Grid& grid, std::initializer_list<const SubMatrix*> matrices, int k,
                          std::size_t element_bytes) {
  const PanelDepth deep = depth_of(grid, matrices, k, element_bytes);
  if (deep.k <= usual) return deep;
  return {usual, deep.bytes / deep.k * usual};
}

void release_panels() {
  for (Reserved& r : reserved) std::free(std::exchange(r.memory, nullptr));
}

bool reserve_panels(int count, double bytes) {
  if (bytes > most_panel_bytes) return false;
  const auto size = static_cast<std::size_t>(bytes);
  for (Reserved& r : reserved) {
    if (count == 0) return true;
    if (r.memory != nullptr) continue;
    r = {allocate_panel(std::max<std::size_t>(1, size)), size};
    if (r.memory == nullptr) break;
    --count;
  }
  if (count == 0) return true;
  release_panels();
  return false;
}

int agreed_depth(const Grid& grid, const PanelDepth& depth) {
  if (!pblas().missing.empty()) return 0;
  if (panels_at_a_time * depth.bytes <= small_panels) return depth.k;
  double failed = reserve_panels(panels_at_a_time, depth.bytes) ? 0 : 1;
  int row = 0, column = 0;
  pblas().maximum(grid.context, "All", " ", 1, 1, &failed, 1, &row, &column, -1, -1, -1);
  if (failed == 0) return depth.k;
  release_panels();
  return 0;
}

DeepBlocks::DeepBlocks(int wanted) : before_(depth) { depth = wanted; }
DeepBlocks::~DeepBlocks() {
  depth = before_;
  release_panels();
}

void* allocate_panel(std::size_t bytes) {
  constexpr std::size_t page = std::size_t{1} << 21;
  if (bytes < 2 * page) return std::malloc(bytes);
  void* memory = nullptr;
  if (posix_memalign(&memory, page, bytes) != 0) return nullptr;
  madvise(memory, bytes / page * page, MADV_HUGEPAGE);
  return memory;
}

// PBLAS's own, which frees a panel by free(). As it has it, there is no return without memory.
extern "C" __attribute__((visibility("default"))) char* PB_Cmalloc(int bytes) {
  if (bytes <= 0) return nullptr;
  const auto size = static_cast<std::size_t>(bytes);
  void* memory = take_reserved(size);
  if (memory == nullptr) memory = allocate_panel(size);
  if (memory == nullptr) fatal("no memory for a panel of " + std::to_string(bytes) + " bytes");
  return static_cast<char*>(memory);
}

extern "C" __attribute__((visibility("default"))) int pilaenv_(const int* context, const char* type) {
  if (depth > 0) return depth;
  const auto block = pblas().block;
  return block != nullptr ? block(context, type) : shallowest;
}

}  // namespace vernier::interpose
