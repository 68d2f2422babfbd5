// The named schemes as rules for host and device, and the word in which a chain of attempts leaves which of them was
// made.
#pragma once

#include <cstdint>
#include <string>

#include "product/route.hpp"
#include "split/split.hpp"
#include "vernier/split.hpp"

namespace vernier {

SplitRule split_rule(const split::Scheme& scheme);

// The word of cuda::Outcome, behind a DeviceRoute, that holds it; 0 where nothing was split.
inline constexpr int split_outcome_word = sizeof(cuda::DeviceRoute) / sizeof(std::int32_t);

std::uint32_t split_mark(const std::string& scheme);  // of split::schemes()
std::string split_made(std::uint32_t verdict);        // a scheme's name, or "conventional"

}  // namespace vernier
