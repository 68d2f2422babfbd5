// A contest of methods for one class of products: which one is home, and when another is looked at
// (observed_times.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "product/plan/observed_times.hpp"

namespace vernier {

// Calls of one method in a row, or at home: what each took, as a share of its estimate.
class Run {
 public:
  void add(double seconds, double share);
  // The first calls pay for memory, and for threads of the method before that spin still: two calls that take ten
  // milliseconds together at their best, the last of which was not much faster than those before, or 32.
  bool tells() const { return tells_; }
  std::uint32_t calls() const { return calls_; }
  double seconds() const { return seconds_; }
  double share(std::size_t most = 8) const;  // of so many at the end: the least of four, the second least of eight

 private:
  std::array<float, 8> last_{};
  std::uint32_t calls_ = 0;
  double quickest_ = 0, seconds_ = 0;  // the least; all
  bool tells_ = false;
};

// choose() tells the same until took() follows a call.
class Contest {
 public:
  struct Choice {
    Method method;
    bool looks = false;  // at a method that may lose
  };
  Choice choose(std::span<const Rival> rivals) const;
  void took(std::span<const Rival> rivals, Method method, double seconds);
  double seen(const Rival& rival) const;  // seconds, or 0: not known

 private:
  // A method beside home: the ratio of their shares in each look.
  struct Beside {
    std::array<float, 5> ratios{};
    std::uint32_t looks = 0, pause = 0;  // calls at home before the next look
    float middle = 0;                    // 0: no looks
    void add(double ratio, bool native);
    void divide(float home);
    Beside inverted() const;
    double least() const;
  };

  Run& run(Method m) { return runs_[static_cast<std::size_t>(m)]; }
  const Run& run(Method m) const { return runs_[static_cast<std::size_t>(m)]; }
  Beside& beside(Method m) { return beside_[static_cast<std::size_t>(m)]; }
  const Beside& beside(Method m) const { return beside_[static_cast<std::size_t>(m)]; }
  double level(Method m) const;  // its share by now, 0 if that is not known
  double expected(std::span<const Rival> rivals, const Rival& rival) const;
  bool hopeless(std::span<const Rival> rivals, const Rival& rival) const;
  Method best(std::span<const Rival> rivals) const;
  void move(Method m);
  void pause_or_look(std::span<const Rival> rivals);
  void looked(std::span<const Rival> rivals, const Rival& rival);
  std::uint32_t pause(const Rival& rival, double at_home) const;

  std::array<Run, method_count> runs_;
  std::array<Beside, method_count> beside_;
  Method home_ = Method::native, looked_at_ = Method::native;
  bool begun_ = false, looking_ = false;
  double home_share_ = 0, beside_home_ = 0;  // home's share by now, and at the last look
};

}  // namespace vernier
