// Signals that reach `vernier run` while the program runs: they are the program's.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <utility>
#include <vector>

namespace vernier::cli {

// What is sent to the group, as by a keyboard, the program gets itself; what is sent to this process alone is handed
// on. Which it was, a process tells that waits in the same group.
class RunSignals {
 public:
  RunSignals();  // this process is told by errors, not by signals, what it cannot write
  ~RunSignals();
  RunSignals(const RunSignals&) = delete;
  RunSignals& operator=(const RunSignals&) = delete;

  void hold();                      // before fork(): what comes now waits
  void hand_on_to(pid_t program);   // after it
  void stop();                      // the program has ended
  void restore_in_program() const;  // as this process found them

 private:
  void act(int signal, void (*handler)(int, siginfo_t*, void*));

  std::vector<std::pair<int, struct sigaction>> before_;
  sigset_t mask_before_ = {};
};

}  // namespace vernier::cli
