// One line of progress on stderr: redrawn on a terminal, one line a step elsewhere.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace demo {

class Progress {
 public:
  Progress(int steps, bool quiet);
  ~Progress();
  void step(const std::string& name);  // ends the step before

 private:
  void finish_step();
  void tick();  // redraws the line twice a second, since LAPACK does not call back
  void draw();

  const int steps_;
  const bool quiet_, terminal_;
  int done_ = 0;
  std::string name_;
  std::chrono::steady_clock::time_point begin_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::thread ticker_;
};

}  // namespace demo
