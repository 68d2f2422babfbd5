#include "base/duration.hpp"

#include "base/fmt.hpp"

namespace vernier {
namespace {

// As "{:.3g}", whose thousand instructions count in the plan of a brief product.
std::string three_digits(double x) {
  if (!(x >= 1 && x < 999.5)) return fmt::format("{:.3g}", x);
  const int decimals = x < 9.995 ? 2 : x < 99.95 ? 1 : 0;
  constexpr double powers[] = {1, 10, 100};
  auto digits = static_cast<int>(x * powers[decimals] + 0.5);
  int after = decimals;
  for (; after > 0 && digits % 10 == 0; --after) digits /= 10;
  std::string text = std::to_string(digits);
  if (after > 0) text.insert(text.size() - static_cast<std::size_t>(after), 1, '.');
  return text;
}

}  // namespace

std::string duration_text(double seconds) {
  struct Unit {
    double seconds;
    const char* name;
  };
  constexpr Unit units[] = {{86400, "days"}, {3600, "h"}, {60, "min"}, {1, "s"}, {1e-3, "ms"}};
  if (!(seconds < 366 * 86400.0)) return "over a year";
  for (const Unit& unit : units)
    if (seconds >= unit.seconds) return three_digits(seconds / unit.seconds) + " " + unit.name;
  return three_digits(seconds * 1e6) + " us";
}

}  // namespace vernier
