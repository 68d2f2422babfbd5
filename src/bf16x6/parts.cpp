#include "bf16x6/parts.hpp"

#include "number/formats.hpp"

namespace vernier {

PartScale part_scale(const MagnitudeRange& range) {
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
