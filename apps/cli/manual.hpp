// Manual pages and shell completions, made of the program's own options.
#pragma once

#include "command.hpp"

namespace vernier::cli {

// The type of a value by what is checked alone: {dp,cr} for TEXT:{dp,cr}.
std::string checked_type(const CLI::Option& option);

void add_manual(CLI::App& program, Work& chosen);
void add_completion(CLI::App& program, Work& chosen);

}  // namespace vernier::cli
