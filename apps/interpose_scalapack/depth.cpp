#include "depth.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "pblas.hpp"
#include "settings.hpp"

namespace vernier::interpose {
namespace {

constexpr int usual = 1024, shallowest = 32;

thread_local int depth = 0;

}  // namespace

double most_panels(double bytes_of_matrices) { return std::max(small_panels, most_of_matrices * bytes_of_matrices); }

int depth_of(const Grid& grid, std::initializer_list<const SubMatrix*> matrices, int k, std::size_t element_bytes) {
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
  return std::max(std::min(depth, shallowest), (k + blocks - 1) / blocks);  // of one size
}

int block_depth_of(const Grid& grid, std::initializer_list<const SubMatrix*> matrices, int k,
                   std::size_t element_bytes) {
  return std::min(usual, depth_of(grid, matrices, k, element_bytes));
}

DeepBlocks::DeepBlocks(int wanted) : before_(depth) { depth = wanted; }
DeepBlocks::~DeepBlocks() { depth = before_; }

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
  void* const memory = allocate_panel(static_cast<std::size_t>(bytes));
  if (memory == nullptr) fatal("no memory for a panel of " + std::to_string(bytes) + " bytes");
  return static_cast<char*>(memory);
}

extern "C" __attribute__((visibility("default"))) int pilaenv_(const int* context, const char* type) {
  if (depth > 0) return depth;
  const auto block = pblas().block;
  return block != nullptr ? block(context, type) : shallowest;
}

}  // namespace vernier::interpose
