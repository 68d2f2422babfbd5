// One line of progress on stderr, with the time left by the shares of the steps: redrawn on a terminal, one line a step
// elsewhere.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace demo {

class Progress {
 public:
  Progress(std::vector<double> shares, bool quiet);  // of the steps
  ~Progress();
  void step(const std::string& name);  // ends the step before

 private:
  void finish_step();
  void tick();  // redraws the line twice a second, since LAPACK does not call back
  void draw();

  double seconds_left() const;  // by the steps that are done; negative while there are none

  const std::vector<double> shares_;
  const bool quiet_, terminal_;
  std::size_t done_ = 0;
  std::string name_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now(), begin_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::thread ticker_;
};

}  // namespace demo
