#include "scheme/part_scheme.hpp"

#include <utility>

#include "base/part_panel.hpp"

namespace vernier {

split::Scheme part_scheme() {
  constexpr int step = part_step;
  split::Scheme s{.name = "bf16x6_tiles",
                  .description = "three bf16 parts, six products in one accumulator of 128 k, corrections first",
                  .low = model::Format::bf16,
                  .shifts = {0, 0, 0},
                  .sums = {{part_chunk, 0}},
                  .step = part_chunk};
  for (int from = 0; from < part_chunk; from += step)
    for (const auto& [a, b] : {std::pair{2, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 2}})
      s.terms.push_back({a, b, 0, from, step});
  for (int from = part_chunk - step; from >= 0; from -= step) s.terms.push_back({0, 0, 0, from, step});
  return s;
}

}  // namespace vernier
