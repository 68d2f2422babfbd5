// Errors with formatted messages.
#pragma once

#include <utility>

#include "base/fmt.hpp"
#include "vernier/vernier.hpp"

namespace vernier {

template <class... Args>
[[noreturn, gnu::cold, gnu::noinline]] void fail(Status status, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(status, fmt::format(format, std::forward<Args>(args)...));
}

// The arguments are evaluated in any case: words that take time belong into fail().
template <class... Args>
[[gnu::always_inline]] inline void require(bool condition, fmt::format_string<Args...> format, Args&&... args) {
  if (!condition) [[unlikely]]
    fail<Args...>(Status::invalid_argument, format, std::forward<Args>(args)...);
}

}  // namespace vernier
