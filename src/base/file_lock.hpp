// A lock among processes, on a file that is made for it and stays.
#pragma once

#include <string>

namespace vernier {

class FileLock {
 public:
  // Waits while another process has it, at most so many seconds.
  FileLock(const std::string& path, double seconds);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  // Is this process alone? Where the file system has no locks, it counts as alone; not where the file cannot be made.
  bool held() const { return held_; }

 private:
  int file_;
  bool held_ = false;
};

}  // namespace vernier
