// Manual pages and shell completions, made of the program's own options.
#pragma once

#include "command.hpp"

namespace vernier::cli {

void add_manual(CLI::App& program, Work& chosen);
void add_completion(CLI::App& program, Work& chosen);

}  // namespace vernier::cli
