#include "near_name.hpp"

#include <algorithm>
#include <cctype>
#include <numeric>

namespace vernier::cli {
namespace {

// Letters to change, insert, leave out or exchange with a neighbour (optimal string alignment), whatever their case.
std::size_t distance(std::string_view x, std::string_view y) {
  const auto same = [&](std::size_t i, std::size_t j) {
    return std::tolower(static_cast<unsigned char>(x[i])) == std::tolower(static_cast<unsigned char>(y[j]));
  };
  std::vector<std::size_t> two_before(y.size() + 1), before(two_before), now(two_before);
  std::iota(before.begin(), before.end(), std::size_t{0});
  for (std::size_t i = 0; i < x.size(); ++i) {
    now[0] = i + 1;
    for (std::size_t j = 0; j < y.size(); ++j) {
      now[j + 1] = std::min({before[j + 1] + 1, now[j] + 1, before[j] + (same(i, j) ? 0U : 1U)});
      if (i > 0 && j > 0 && same(i, j - 1) && same(i - 1, j)) now[j + 1] = std::min(now[j + 1], two_before[j - 1] + 1);
    }
    two_before.swap(before);
    before.swap(now);
  }
  return before[y.size()];
}

}  // namespace

std::string near_name(std::string_view word, const std::vector<std::string>& names) {
  std::string nearest;
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& name : names) {
    const std::size_t d = distance(word, name);
    if (d < least) least = d, nearest = name;
  }
  return nearest;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& names) {
  const std::string nearest = near_name(word, names);
  return nearest.empty() ? "" : "; did you mean '" + nearest + "'?";
}

}  // namespace vernier::cli
