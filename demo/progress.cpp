#include "progress.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>

namespace demo {
namespace {

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

Progress::Progress(int steps, bool quiet) : steps_(steps), quiet_(quiet), terminal_(!quiet && isatty(STDERR_FILENO)) {
  if (terminal_) ticker_ = std::thread([this] { tick(); });
}

Progress::~Progress() {
  {
    const std::lock_guard lock(mutex_);
    finish_step();
    stop_ = true;
  }
  wake_.notify_one();
  if (ticker_.joinable()) ticker_.join();
  if (terminal_) fmt::print(stderr, "\r\x1b[K");
}

void Progress::step(const std::string& name) {
  const std::lock_guard lock(mutex_);
  finish_step();
  name_ = name;
  begin_ = std::chrono::steady_clock::now();
  if (terminal_) draw();
}

void Progress::finish_step() {
  if (name_.empty()) return;
  ++done_;
  if (!quiet_ && !terminal_)
    fmt::print(stderr, "{:2}/{} {:<44} {:6.1f} s\n", done_, steps_, name_, seconds_since(begin_));
  name_.clear();
}

void Progress::tick() {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, std::chrono::milliseconds(500), [this] { return stop_; }))
    if (!name_.empty()) draw();
}

void Progress::draw() {
  constexpr int width = 24;
  const int filled = width * done_ / steps_;
  fmt::print(stderr, "\r\x1b[K[{:#<{}}{:.<{}}] {:2}/{} {} {:.0f} s", "", filled, "", width - filled, done_ + 1, steps_,
             name_, seconds_since(begin_));
  std::fflush(stderr);
}

}  // namespace demo
