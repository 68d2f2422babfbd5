#pragma once

#include "command.hpp"

namespace vernier::cli {

void add_reproduce(CLI::App& program, Console& console, Work& chosen);

}  // namespace vernier::cli
