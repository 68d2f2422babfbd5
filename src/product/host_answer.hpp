// A word in which a kernel answers the host.
#pragma once

#include <cstdint>
#include <optional>

#include "number/host_device.hpp"

namespace vernier {

// In the host's memory. The question's number is part of the answer, so that the host can tell answers apart.
struct HostAnswer {
  std::uint32_t* word = nullptr;  // null: nobody asks
  std::uint32_t question = 0;     // from 1 on

  // What was written before has to be seen by the host first: __threadfence_system().
  VERNIER_HD void give(bool yes) const { *static_cast<volatile std::uint32_t*>(word) = 2 * question + (yes ? 1 : 0); }

  std::optional<bool> given() const {
    const std::uint32_t text = *static_cast<const volatile std::uint32_t*>(word);
    if (text / 2 != question) return {};
    return text % 2 == 1;
  }
};

}  // namespace vernier
