#include "run_folder.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <system_error>

#include "temporary_name.hpp"

namespace vernier::cli {
namespace {

bool splits(const std::string& path) { return path.find_first_of(" :\t\n") != std::string::npos; }

// Where temporary files go, or the first usual place without a character that splits LD_PRELOAD.
std::filesystem::path make_folder() {
  std::string tried;
  std::error_code missing;  // TMPDIR may name a folder that is not there
  for (const std::filesystem::path& root :
       {std::filesystem::temp_directory_path(missing), std::filesystem::path("/tmp"), std::filesystem::path("/var/tmp"),
        std::filesystem::path("/dev/shm")}) {
    if (root.empty()) continue;
    std::string path = temporary_name(root / "vernier-run");
    if (splits(path)) continue;
    if (mkdtemp(path.data()) != nullptr) return path;
    tried = fmt::format("{}: {}", path, std::strerror(errno));
  }
  throw std::runtime_error(fmt::format("no place for temporary files: {}; expected one that TMPDIR names",
                                       tried.empty() ? "all have spaces or colons" : tried));
}

}  // namespace

RunFolder::RunFolder() : path_(make_folder()) {
  std::ofstream(counters()).close();
  board_ = interpose::open_board(counters().c_str(), true);
  if (board_ != nullptr) return;
  const std::string why = fmt::format("{}: {}", counters(), std::strerror(errno));
  std::filesystem::remove_all(path_);
  throw std::runtime_error(why);
}

RunFolder::~RunFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string RunFolder::preloadable(const std::filesystem::path& library) const {
  if (!splits(library)) return library;
  const std::filesystem::path link = path_ / library.filename();
  std::filesystem::create_symlink(library, link);
  return link;
}

}  // namespace vernier::cli
