#include "base/file_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

namespace vernier {

FileLock::FileLock(const std::string& path, double seconds)
    : file_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  while (file_ >= 0 && !held_) {
    const int refusal = flock(file_, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
    held_ = refusal != EWOULDBLOCK && refusal != EINTR;
    if (!held_ && Clock::now() >= end) return;
    if (!held_) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

FileLock::~FileLock() {
  if (file_ >= 0) close(file_);
}

}  // namespace vernier
