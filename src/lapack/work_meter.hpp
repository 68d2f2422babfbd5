// How much of a solver's work is done, for the caller who wants to know.
#pragma once

#include "product/progress.hpp"

namespace vernier {

// Operations that were counted against those that are expected; what comes on top of these is told as nearly done.
class WorkMeter {
 public:
  WorkMeter(const std::function<void(double)>& tell, double expected) : progress_(tell), expected_(expected) {}

  void add(double operations) {
    done_ += operations;
    progress_.at(done_ / expected_);
  }
  void finish() const { progress_.finish(); }

 private:
  Progress progress_;
  double expected_, done_ = 0;
};

}  // namespace vernier
