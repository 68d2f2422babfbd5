// What `vernier run` keeps on disk while the program runs: the counters, and names for the preloads that LD_PRELOAD can
// hold.
#pragma once

#include <filesystem>
#include <string>

#include "record.hpp"

namespace vernier::cli {

class RunFolder {
 public:
  RunFolder();
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  // A name of that file without spaces and colons, at which LD_PRELOAD is split: its own, or that of a link to it.
  std::string preloadable(const std::filesystem::path& library) const;

  std::string counters() const { return path_ / "counters"; }
  const interpose::Board& board() const { return *board_; }

 private:
  std::filesystem::path path_;
  const interpose::Board* board_ = nullptr;
};

}  // namespace vernier::cli
