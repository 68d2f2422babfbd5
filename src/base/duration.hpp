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
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace vernier
