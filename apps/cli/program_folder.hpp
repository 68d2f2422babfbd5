// Where this program lies.
#pragma once

#include <sys/auxv.h>

#include <filesystem>
#include <system_error>

namespace vernier::cli {

// By the link of the kernel, and where /proc is not mounted by the path that the kernel was given.
inline std::filesystem::path program_folder(const char* link = "/proc/self/exe") {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink(link, error);
  if (!error) return program.parent_path();
  return std::filesystem::canonical(reinterpret_cast<const char*>(getauxval(AT_EXECFN))).parent_path();
}

}  // namespace vernier::cli
