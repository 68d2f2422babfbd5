// The environment of a program under the preload.
#pragma once

#include <atomic>
#include <string>

namespace vernier::interpose {

struct Settings {
  std::string contract;        // VERNIER_CONTRACT; empty: fp32 for single, fp64 for double precision
  bool native_serves = false;  // that contract is one that the conventional product keeps
  std::string engine;          // VERNIER_ENGINE, on GPUs VERNIER_CUDA_ENGINE; empty: the library chooses
  std::string report;          // VERNIER_REPORT: a file that gets one line of JSON from each process
  int verbose = 0;             // VERNIER_VERBOSE: 1 a summary at exit, 2 also a line for each call, 3 of PBLAS bits too
  double min_size = 256;       // VERNIER_MIN_SIZE: smaller (m n k)^(1/3) are passed on at once
  double min_operations = 0;   // its cube
};

// The value of an environment variable; empty if it is not set.
std::string variable(const char* name);

// Read once. A value that is none ends the program with a message.
const Settings& settings();
// Their min_operations, 0 until they are read: at hand for each call.
inline constinit std::atomic<double> least_operations{0};

// A file; below 0, with errno, where it cannot be: a pipe that nobody reads is not waited for.
int open_to_append(const std::string& path);

// The name of the preload and the message on stderr, and the end of the program: what a wrong setting deserves.
[[noreturn]] void fatal(const std::string& message);

}  // namespace vernier::interpose
