#include "settings.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/uncancelled.hpp"
#include "preload.hpp"
#include "whole_number.hpp"

namespace vernier::interpose {
namespace {

long number(const char* name, long most, long otherwise) {
  const std::string value = variable(name);
  if (value.empty()) return otherwise;
  const std::optional<long> number = whole_number(value, most);
  if (!number) fatal(no_whole_number(name, value, most));
  return *number;
}

// Found unwritable now rather than after hours.
std::string writable(const char* name) {
  const std::string path = variable(name);
  if (path.empty()) return path;
  const int file = open_to_append(path);
  if (file < 0) fatal(std::string(name) + "=" + path + ": cannot be written: " + std::strerror(errno));
  close(file);
  return path;
}

Settings read() {
  const Uncancelled opens_a_file;
  Settings s;
  s.contract = variable("VERNIER_CONTRACT");
  for (const char* kept : {"", "fp32", "fp64", "fp64-normwise"}) s.native_serves |= s.contract == kept;
  s.engine = variable(preload.engine_variable);
  s.verbose = static_cast<int>(number("VERNIER_VERBOSE", most_verbose, 0));
  s.min_size = static_cast<double>(number("VERNIER_MIN_SIZE", largest_min_size, 256));
  s.min_operations = s.min_size * s.min_size * s.min_size;
  least_operations = s.min_operations;
  s.report = writable("VERNIER_REPORT");
  return s;
}

}  // namespace

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

const Settings& settings() {
  static const Settings& once = *new Settings(read());  // read until the very end of the program
  return once;
}

int open_to_append(const std::string& path) {
  return open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666);
}

void fatal(const std::string& message) {
  std::fprintf(stderr, "%s: %s\n", preload.name, message.c_str());
  std::fflush(nullptr);
  std::_Exit(2);
}

}  // namespace vernier::interpose
