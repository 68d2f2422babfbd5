#pragma once

namespace vernier::cli {

// What main() does: results on stdout, messages on stderr; 0 done, 1 failed, 2 wrong usage.
int run_command_line(int argc, char** argv);

}  // namespace vernier::cli
