// The command line of a benchmark, which is read once, here, by CLI11.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

namespace vernier::bench {

// "--name" with its value, a flag where that is a bool; or a name without dashes: all words that are left. An int is a
// count, at least 1; commas separate the values of a list.
struct ProgramOption {
  const char* name;
  std::variant<bool*, int*, std::int64_t*, std::size_t*, double*, std::string*, std::vector<std::string>*,
               std::vector<std::int64_t>*>
      value;
};

// The program: 2 where the line is none of its own, 1 where run() throws, what is said on stderr; else 0.
int program(const std::string& name, int argc, char** argv, const std::vector<ProgramOption>& options,
            const std::function<void()>& run);

}  // namespace vernier::bench
