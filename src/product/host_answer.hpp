// A word in which a kernel answers the host.
#pragma once

#include <cstdint>

namespace vernier {

// In the host's memory. The question's number is part of the answer, so that the host can tell answers apart.
struct HostAnswer {
  std::uint32_t* word = nullptr;  // null: nobody asks
  std::uint32_t question = 0;

  static constexpr std::uint32_t text(std::uint32_t question, bool yes) { return 2 * question + (yes ? 1 : 0); }
};

}  // namespace vernier
