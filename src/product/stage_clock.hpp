// Wall clock of the stages of a parallel region.
#pragma once

#include "base/duration.hpp"

namespace vernier {

// The calling thread's time between the stages' barriers.
class StageClock {
 public:
  void lap(double& stage) {
#pragma omp master
    {
      const double end = seconds_now();
      stage += end - last_;
      last_ = end;
    }
  }

 private:
  double last_ = seconds_now();
};

}  // namespace vernier
