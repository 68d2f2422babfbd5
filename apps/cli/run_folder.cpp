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

std::string with_reason(const std::string& path) { return fmt::format("{}: {}", path, std::strerror(errno)); }

}  // namespace

// Where temporary files go, or the first usual place without a character that splits LD_PRELOAD that has room.
RunFolder::RunFolder() : why_not_("all places for temporary files have spaces or colons") {
  std::error_code missing;  // TMPDIR may name a folder that is not there
  for (const std::filesystem::path& root :
       {std::filesystem::temp_directory_path(missing), std::filesystem::path("/tmp"), std::filesystem::path("/var/tmp"),
        std::filesystem::path("/dev/shm")}) {
    std::string path = temporary_name(root / "vernier-run");
    if (root.empty() || splits(path)) continue;
    if (mkdtemp(path.data()) == nullptr) {
      why_not_ = with_reason(path);
      continue;
    }
    if (!path_.empty()) std::filesystem::remove_all(path_, missing);
    path_ = path;
    if (keep_counters()) return;
  }
}

// Processes of the program that have given up their rights reach it too.
bool RunFolder::keep_counters() {
  using std::filesystem::perms;
  const std::string file = path_ / "counters";
  std::ofstream(file).close();
  board_ = interpose::open_board(file.c_str(), true);
  if (board_ == nullptr) why_not_ = with_reason(file);
  std::error_code refused;
  std::filesystem::permissions(path_, perms::owner_all | perms::group_exec | perms::others_exec, refused);
  const perms group = perms::group_read | perms::group_write, others = perms::others_read | perms::others_write;
  std::filesystem::permissions(file, perms::owner_read | perms::owner_write | group | others, refused);
  return board_ != nullptr;
}

RunFolder::~RunFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string RunFolder::preloadable(const std::filesystem::path& library) const {
  if (!splits(library)) return library;
  if (path_.empty()) throw std::runtime_error(fmt::format("no place for a link to {}: {}", library.string(), why_not_));
  const std::filesystem::path link = path_ / library.filename();
  std::filesystem::create_symlink(library, link);
  return link;
}

}  // namespace vernier::cli
