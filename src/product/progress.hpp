// How much of a product is done, for the caller who wants to know.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <thread>

#include "product/operand.hpp"

namespace vernier {

// A part of the work: where it begins, and its share of the whole.
struct WorkShare {
  double begin = 0, share = 1;

  double at(double part) const { return begin + share * part; }
  double at(std::int64_t done, std::int64_t all) const {
    return at(static_cast<double>(done) / static_cast<double>(all));
  }
  WorkShare of(double from, double to) const { return {at(from), share * (to - from)}; }
  WorkShare of(Range range, std::int64_t all) const {
    const double from = at(range.begin, all);
    return {from, at(range.begin + range.count, all) - from};
  }
};

// Tells rising fractions, some 100 at most; 1 comes once and last. Of the threads of a parallel region the one that
// made it is heard.
class Progress {
 public:
  explicit Progress(const std::function<void(double)>& tell) : wanted_(tell != nullptr), tell_(tell) {}

  bool wanted() const { return wanted_; }

  void at(double fraction) {
    if (due(fraction)) tell(fraction);
  }

  // The same between enter_thread() and leave_thread() of an engine: what is called may use the engine's registers.
  template <class Engine>
  void at(double fraction, const Engine& engine) {
    if (!due(fraction)) return;
    engine.leave_thread();
    tell(fraction);
    engine.enter_thread();
  }

  void finish() const {
    if (wanted_) tell_(1.0);
  }

 private:
  static constexpr double step = 0.01, most = 1 - step;

  bool due(double fraction) const {
    return wanted_ && std::this_thread::get_id() == caller_ && std::min(fraction, most) >= told_ + step;
  }

  void tell(double fraction) {
    told_ = std::min(fraction, most);
    tell_(told_);
  }

  const bool wanted_;
  const std::function<void(double)>& tell_;
  const std::thread::id caller_ = wanted_ ? std::this_thread::get_id() : std::thread::id();
  double told_ = -step;  // the caller's alone
};

}  // namespace vernier
