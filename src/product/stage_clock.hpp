// Wall clock of the stages of a parallel region.
#pragma once

#include <chrono>

namespace vernier {

// The calling thread's time between the stages' barriers.
class StageClock {
 public:
  void lap(double& stage) {
#pragma omp master
    {
      const double end = now();
      stage += end - last_;
      last_ = end;
    }
  }

 private:
  static double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
  double last_ = now();
};

}  // namespace vernier
