// Numbers in variables of the environment.
#pragma once

#include <charconv>
#include <optional>
#include <string>

namespace vernier::interpose {

inline constexpr long most_verbose = 3, largest_min_size = 1 << 20;

// From 0 to `most`; none if it is anything else.
inline std::optional<long> whole_number(const std::string& text, long most) {
  long result = 0;
  const char* const end = text.data() + text.size();
  const auto [read, error] = std::from_chars(text.data(), end, result);
  if (error != std::errc() || read != end || result < 0 || result > most) return std::nullopt;
  return result;
}

// What to say of a variable that is not.
inline std::string no_whole_number(const char* name, const std::string& text, long most) {
  return std::string(name) + "=" + text + ": expected a whole number from 0 to " + std::to_string(most);
}

}  // namespace vernier::interpose
