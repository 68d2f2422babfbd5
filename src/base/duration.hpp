// Seconds in words.
#pragma once

#include <string>

namespace vernier {

// Three digits with a unit, from "1.2 us" to "3.4 days"; "over a year" beyond.
std::string duration_text(double seconds);

}  // namespace vernier
