// Which of two loops takes less on a core depends on what shares the core, from one millisecond to the next: both are
// timed in use, the slower one as seldom as it is slow.
#pragma once

#include <algorithm>
#include <limits>
#include <utility>

namespace vernier {
namespace {  // compiled for one instruction set

class LoopChoice {
 public:
  int loop() const { return loop_; }  // to take now: 0 or 1

  // The time of that loop, for as much work as ever.
  void took(double time) {
    double& mean = times_[loop_];
    const double other = times_[1 - loop_];
    const int far = time < 0.6 * mean ? -1 : time > 1.6 * mean ? 1 : 0;
    const bool changed = std::exchange(far_, far) == far && far != 0;  // twice: not a turn that was interrupted
    mean = looks_ || changed || mean == never ? time : 0.75 * mean + 0.25 * time;
    const bool faster = mean <= other;
    if (faster && --pause_ > 0 && !changed) {
      looks_ = false;
      return;
    }
    // A look in vain costs half a percent of the time until the next; what was faster until now is soon seen again.
    pause_ = faster ? longest_pause : looks_ ? 16 + std::min(200 * (mean / other - 1), 1.0 * longest_pause) : 2;
    looks_ = faster;
    loop_ = 1 - loop_;
    far_ = 0;
  }

 private:
  static constexpr double never = std::numeric_limits<double>::infinity();
  static constexpr int longest_pause = 400;
  double times_[2] = {never, never};
  int loop_ = 0;
  double pause_ = 1;    // turns until the other loop is looked at
  bool looks_ = false;  // this turn is such a look
  int far_ = 0;         // the last turn took less than the mean by far, or more
};

}  // namespace
}  // namespace vernier
