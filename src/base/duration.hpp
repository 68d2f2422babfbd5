// Seconds: by the clock, of a call, and in words.
#pragma once

#include <chrono>
#include <string>

namespace vernier {

inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
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
