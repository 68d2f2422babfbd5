// What a chain of attempts leaves behind in one word: which of them was made.
#pragma once

#include <cstdint>
#include <string>

#include "product/route.hpp"
#include "vernier/split.hpp"

namespace vernier {

// The word of cuda::Outcome, behind a DeviceRoute, that holds it; 0 where nothing was split.
inline constexpr int split_outcome_word = sizeof(cuda::DeviceRoute) / sizeof(std::int32_t);

std::uint32_t split_mark(const std::string& scheme);  // of split::schemes()
std::string split_made(std::uint32_t verdict);        // a scheme's name, or "conventional"

}  // namespace vernier
