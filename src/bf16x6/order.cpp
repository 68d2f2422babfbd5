#include "bf16x6/order.hpp"

#include <utility>

#include "bf16x6/panel.hpp"

namespace vernier {

split::Scheme bf16x6_order() {
  constexpr int step = bf16x6_step;
  split::Scheme s{.name = "bf16x6_tiles",
                  .description = "three bf16 parts, six products in one accumulator of 128 k, corrections first",
                  .low = model::Format::bf16,
                  .shifts = {0, 0, 0},
                  .sums = {{bf16x6_chunk, 0}},
                  .step = bf16x6_chunk};
  for (int from = 0; from < bf16x6_chunk; from += step)
    for (const auto& [a, b] : {std::pair{2, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 2}})
      s.terms.push_back({a, b, 0, from, step});
  for (int from = bf16x6_chunk - step; from >= 0; from -= step) s.terms.push_back({0, 0, 0, from, step});
  return s;
}

}  // namespace vernier
