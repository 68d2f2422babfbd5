// What the measurements on a GPU share: failures, time by events, medians.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

inline void check(cudaError_t code, const char* what) {
  if (code != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(code));
}

class Timer {
 public:
  Timer() {
    check(cudaEventCreate(&begin_), "event");
    check(cudaEventCreate(&end_), "event");
  }

  // Of one call, on the default stream.
  template <class Body>
  double seconds(int repeat, Body body) {
    check(cudaEventRecord(begin_), "event");
    for (int i = 0; i < repeat; ++i) body();
    check(cudaEventRecord(end_), "event");
    check(cudaEventSynchronize(end_), "event");
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin_, end_), "event");
    return ms * 1e-3 / repeat;
  }

 private:
  cudaEvent_t begin_, end_;
};

inline double median(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  return x[x.size() / 2];
}

}  // namespace bench
