// Children of a process whose other threads are in the middle of something.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "base/workspace.hpp"

namespace vernier::test {
namespace {

// The child's status; -1 where it hangs for 20 seconds, and is ended.
template <class Body>
int status_of_child(Body body) {
  const pid_t id = fork();
  if (id == 0) {
    alarm(20);
    body();
    _exit(0);
  }
  int status = -1;
  if (waitpid(id, &status, 0) != id) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Fork, WhileThreadsTakeWorkspacesLeavesAChildThatCanTakeOne) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      while (!stop) const Workspace workspace(4096);
    });
  int hung = 0;
  for (int i = 0; i < 300 && hung == 0; ++i)
    if (status_of_child([] { const Workspace workspace(4096); }) != 0) ++hung;
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(hung, 0);
}

}  // namespace
}  // namespace vernier::test
