#include "base/status.hpp"

#include <iterator>

namespace vernier {

const char* to_string(Status status) {
  constexpr const char* words[] = {"ok",           "invalid argument", "out of memory", "unsupported", "bound not met",
                                   "device error", "internal error"};
  static_assert(std::size(words) == static_cast<std::size_t>(Status::internal_error) + 1);
  const auto i = static_cast<std::size_t>(status);
  return i < std::size(words) ? words[i] : "unknown status";
}

}  // namespace vernier
