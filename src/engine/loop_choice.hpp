// Which of two loops takes less on a core depends on what shares the core, from one millisecond to the next: both are
// timed in use, the slower one as seldom as it is slow.
#pragma once

#include <algorithm>
#include <limits>
#include <utility>

namespace vernier {

class LoopChoice {
 public:
  int loop() const { return loop_; }  // to take now: 0 or 1

  // The time of that loop, for as much work as ever.
  void took(double time) {
    const double other = times_[1 - loop_], before = std::exchange(times_[loop_], time);
    const bool faster = time <= other, changed = time < 0.65 * before || time > 1.5 * before;
    if (faster && --pause_ > 0 && !(changed && !looks_)) {
      looks_ = false;
      return;
    }
    // A look in vain costs half a percent of the time until the next; what was faster until now is soon seen again.
    pause_ = faster ? longest_pause : looks_ ? 16 + std::min(200 * (time / other - 1), 1.0 * longest_pause) : 2;
    looks_ = faster;
    loop_ = 1 - loop_;
  }

 private:
  static constexpr int longest_pause = 400;
  double times_[2] = {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  int loop_ = 0;
  double pause_ = 1;    // turns until the other loop is looked at
  bool looks_ = false;  // this turn is such a look
};

}  // namespace vernier
