// What `vernier run` keeps on disk while the program runs: the counters, and names for the preloads that LD_PRELOAD can
// hold. Where nothing can be written, calls are not counted.
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

  std::string counters() const { return board_ != nullptr ? path_ / "counters" : ""; }
  const interpose::Board* board() const { return board_; }
  const std::string& why_not() const { return why_not_; }

 private:
  bool keep_counters();

  std::filesystem::path path_;
  const interpose::Board* board_ = nullptr;
  std::string why_not_;  // there is no board
};

}  // namespace vernier::cli
