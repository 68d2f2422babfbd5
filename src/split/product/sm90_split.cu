#include "split/product/sm90_split.hpp"

#include <algorithm>

#include "cuda/device.hpp"

namespace vernier::cuda {

int multiprocessors_for(const SplitProduct& product) {
  const int all = cuda::current_device().multiprocessors;
  return product.multiprocessors > 0 ? std::min(product.multiprocessors, all) : all;
}

SplitArguments arguments_of(const SplitProduct& product, int group, const Pace& pace) {
  SplitArguments g{product};
  g.products = static_cast<int>(g.b.count / g.b.of_product());
  for (FloatVectors* x : {&g.a, &g.b}) x->count = x->of_product();
  g.lines = static_cast<int>(g.a_plane.line_count);
  g.group = group;
  g.pairs_aligned = g.ldc % 2 == 0 && g.product_stride_c % 2 == 0 && reinterpret_cast<std::uintptr_t>(g.c) % 8 == 0;
  g.pace = pace;
  return g;
}

}  // namespace vernier::cuda
