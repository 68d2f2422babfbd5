// Errors with formatted messages.
#pragma once

#include <utility>

#include "base/fmt.hpp"
#include "vernier/vernier.hpp"

namespace vernier {

template <class... Args>
[[noreturn]] void fail(Status status, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(status, fmt::format(format, std::forward<Args>(args)...));
}

template <class... Args>
void require(bool condition, fmt::format_string<Args...> format, Args&&... args) {
  if (!condition) throw Error(Status::invalid_argument, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace vernier
