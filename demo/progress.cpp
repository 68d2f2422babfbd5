#include "progress.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <utility>

namespace demo {
namespace {

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

Progress::Progress(std::vector<double> shares, bool quiet)
    : shares_(std::move(shares)), quiet_(quiet), terminal_(!quiet && isatty(STDERR_FILENO)) {
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
  const std::string name = std::exchange(name_, "");
  ++done_;
  if (!quiet_ && !terminal_)
    fmt::print(stderr, "{:2}/{} {:<44} {:6.1f} s, about {:.0f} s left\n", done_, shares_.size(), name,
               seconds_since(begin_), std::max(0.0, seconds_left()));
}

void Progress::tick() {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, std::chrono::milliseconds(500), [this] { return stop_; }))
    if (!name_.empty()) draw();
}

double Progress::seconds_left() const {
  const auto now = static_cast<std::ptrdiff_t>(done_);
  const double before = std::accumulate(shares_.begin(), shares_.begin() + now, 0.0),
               after = std::accumulate(shares_.begin() + now, shares_.end(), 0.0);
  if (before == 0) return -1;
  const double steps = name_.empty() ? seconds_since(start_) : std::chrono::duration<double>(begin_ - start_).count();
  return steps * after / before - (name_.empty() ? 0 : seconds_since(begin_));
}

void Progress::draw() {
  constexpr std::size_t width = 24;
  const std::size_t filled = width * done_ / shares_.size();
  fmt::print(stderr, "\r\x1b[K[{:#<{}}{:.<{}}] {:2}/{} {} {:.0f} s", "", filled, "", width - filled, done_ + 1,
             shares_.size(), name_, seconds_since(begin_));
  if (const double left = seconds_left(); left > 0) fmt::print(stderr, ", about {:.0f} s left", left);
  std::fflush(stderr);
}

}  // namespace demo
