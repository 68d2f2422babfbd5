#include "depth.hpp"

#include <algorithm>
#include <cstdint>

#include "pblas.hpp"

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
  return std::max(1, static_cast<int>(std::min({fits, deep, static_cast<double>(std::max(k, shallowest))})));
}

int block_depth_of(const Grid& grid, std::initializer_list<const SubMatrix*> matrices, int k,
                   std::size_t element_bytes) {
  return std::min(usual, depth_of(grid, matrices, k, element_bytes));
}

DeepBlocks::DeepBlocks(int wanted) : before_(depth) { depth = wanted; }
DeepBlocks::~DeepBlocks() { depth = before_; }

extern "C" __attribute__((visibility("default"))) int pilaenv_(const int* context, const char* type) {
  if (depth > 0) return depth;
  const auto block = pblas().block;
  return block != nullptr ? block(context, type) : shallowest;
}

}  // namespace vernier::interpose
