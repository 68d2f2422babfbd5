#include "bf16x6/engine.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/cpu_features.hpp"
#include "engine/int8_engine.hpp"
#include "engine/panel.hpp"
#include "number/formats.hpp"

namespace vernier {

const Bf16x6Engine* bf16x6_engine() {
#if VERNIER_X86
  static constexpr Bf16x6Engine amx{.name = bf16_tile_engine,
                                    .description = "AMX tiles (TDPBF16PS), six products of bf16 parts for one of fp32",
                                    .model = "amx-bf16",
                                    .missing = [] { return missing_features(InstructionSet::amx_bf16); },
                                    .enter_thread = configure_amx_tiles,
                                    .leave_thread = release_amx_tiles,
                                    .multiply = multiply_bf16x6_amx};
  return &amx;
#else
  return nullptr;
#endif
}

[[gnu::hot]] const Bf16x6Engine* usable_bf16x6_engine() {
  static const Bf16x6Engine* usable = [] {
    const Bf16x6Engine* engine = bf16x6_engine();
    return engine != nullptr && engine->missing().empty() ? engine : nullptr;
  }();
  return usable;
}

double bf16x6_error_bound(const model::Engine& e, std::int64_t k) {
  const bool as_proven = e.a == model::Format::bf16 && e.b == model::Format::bf16 && e.c == model::Format::fp32 &&
                         e.sum == model::Sum::chain && e.join == model::Join::last && e.sum_bits == 24 &&
                         e.product_bits == 0 && e.rounding == model::Rounding::nearest_even &&
                         e.join_rounding == model::Rounding::nearest_even && bf16x6_step % e.k == 0;
  if (!as_proven) return std::numeric_limits<double>::infinity();
  const std::int64_t chain = e.k / e.lanes, in_step = std::min<std::int64_t>(k, e.k);
  const std::int64_t steps = divide_up(std::min<std::int64_t>(k, bf16x6_chunk), e.k);
  const std::int64_t chunks = divide_up(std::min<std::int64_t>(k, bf16x6_group), bf16x6_chunk);
  const auto inside = static_cast<double>(std::min(in_step, chain) - 1 + divide_up(in_step, chain) - 1);
  const auto outside = static_cast<double>(chunks - 1 + divide_up(k, bf16x6_group) - 1);
  constexpr double left_out = 1.01, parts = 1.02, corrections = 1.02 / 128;
  const double all = static_cast<double>(steps);
  // The addition that comes last is u32 |T|.
  return left_out + parts * (inside + all + outside - 1) + corrections * (inside + 5 * all);
}

bool bf16x6_keeps_fp32(const model::Engine& engine, std::int64_t k) {
  return bf16x6_error_bound(engine, k) <= static_cast<double>(k) + 1;
}

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

PartScale part_scale(const PartRange& range) {
  if (range.zero()) return {0, true};
  if (!range.finite()) return {};
  const auto exponent = [](std::uint32_t bits) {
    return bits >> 23 != 0 ? static_cast<int>(bits >> 23) - 127 : leading_bit(std::uint64_t{bits}) - 149;
  };
  // One factor that is a float: vectors of very small numbers stay lower.
  const int s = std::min(part_largest_exponent - exponent(range.largest), 127);
  return {s, exponent(range.least + 1) + s >= part_least_exponent};
}

}  // namespace vernier
