// The kernel of bf16 parts on emulated tiles, as an engine: for any machine with AVX-512's conversions to bf16.
#pragma once

#include <string>

#include "engine/part_engine.hpp"

namespace vernier::test {

const PartEngine& emulated_part_engine();

// What this machine lacks for it; empty if nothing.
std::string missing_for_parts();

}  // namespace vernier::test
