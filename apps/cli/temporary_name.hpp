#pragma once

#include <filesystem>
#include <string>

namespace vernier::cli {

// stem and what mkstemp and mkdtemp replace: six letters at the end.
inline std::string temporary_name(const std::filesystem::path& stem) {
  return stem.string() + '.' + std::string(6, 'X');
}

}  // namespace vernier::cli
