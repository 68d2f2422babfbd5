// The kernel of bf16 parts on emulated tiles, as an engine: for any machine with AVX-512's conversions to bf16.
#pragma once

#include <string>

#include "bf16x6/engine.hpp"

namespace vernier::test {

const Bf16x6Engine& emulated_bf16x6_engine();

// What this machine lacks for it; empty if nothing.
std::string missing_for_bf16x6();

}  // namespace vernier::test
