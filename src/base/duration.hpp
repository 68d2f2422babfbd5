// Seconds: by the clock, of a call, and in words.
#pragma once

#include <time.h>

#include <string>

namespace vernier {

// std::chrono::steady_clock, without the page of the C++ library between: a brief call pays for each.
inline double seconds_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Three digits with a unit, from "1.2 us" to "3.4 days"; "over a year" beyond.
std::string duration_text(double seconds);

class Clock {
 public:
  double seconds() const { return seconds_now() - start_; }

 private:
  double start_ = seconds_now();
};

// Adds the seconds that it lives.
class StageTime {
 public:
  explicit StageTime(double& stage) : stage_(stage) {}
  ~StageTime() { stage_ += clock_.seconds(); }
  StageTime(const StageTime&) = delete;
  StageTime& operator=(const StageTime&) = delete;

 private:
  double& stage_;
  Clock clock_;
};

}  // namespace vernier
