#include "base/duration.hpp"

#include "base/fmt.hpp"

namespace vernier {

std::string duration_text(double seconds) {
  struct Unit {
    double seconds;
    const char* name;
  };
  constexpr Unit units[] = {{86400, "days"}, {3600, "h"}, {60, "min"}, {1, "s"}, {1e-3, "ms"}};
  if (!(seconds < 366 * 86400.0)) return "over a year";
  for (const Unit& unit : units)
    if (seconds >= unit.seconds) return fmt::format("{:.3g} {}", seconds / unit.seconds, unit.name);
  return fmt::format("{:.3g} us", seconds * 1e6);
}

}  // namespace vernier
