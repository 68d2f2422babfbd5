#include "split/verdict.hpp"

#include <algorithm>

#include "base/status.hpp"
#include "split/plane.hpp"

namespace vernier {

std::uint32_t split_mark(const std::string& scheme) {
  const auto& all = split::schemes();
  const auto at = std::ranges::find(all, scheme, &split::Scheme::name);
  return static_cast<std::uint32_t>(at - all.begin()) + 1;
}

std::string split_made(std::uint32_t verdict) {
  if (verdict == conventional_mark) return "conventional";
  require(verdict > 0 && verdict <= split::schemes().size(),
          "outcome: {} names no scheme; expected what a product left behind that has ended", verdict);
  return split::schemes()[verdict - 1].name;
}

}  // namespace vernier
