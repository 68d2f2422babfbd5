#include "depth.hpp"

#include <algorithm>
#include <cstdint>

#include "pblas.hpp"

namespace vernier::interpose {
namespace {

constexpr int deepest = 1024, shallowest = 32;
constexpr double most_bytes = 2147483647.0 / 2;  // of a panel; some take two

thread_local int depth = 0;

}  // namespace

int depth_of(const Grid&, std::initializer_list<const SubMatrix*> matrices, int k, std::size_t element_bytes) {
  int longest = 1;
  for (const SubMatrix* x : matrices) longest = std::max({longest, x->most_rows(), x->most_columns()});
  const double fits = most_bytes / (static_cast<double>(longest) * static_cast<double>(element_bytes));
  return std::max(1, std::min({deepest, std::max(k, shallowest), static_cast<int>(std::min(fits, 1e6))}));
}

DeepBlocks::DeepBlocks(int wanted) : before_(depth) { depth = wanted; }
DeepBlocks::~DeepBlocks() { depth = before_; }

extern "C" __attribute__((visibility("default"))) int pilaenv_(const int* context, const char* type) {
  if (depth > 0) return depth;
  const auto block = pblas().block;
  return block != nullptr ? block(context, type) : shallowest;
}

}  // namespace vernier::interpose
