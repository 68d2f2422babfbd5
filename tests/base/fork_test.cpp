// State of the whole process that a child of fork() can use, whatever the parent's threads were doing.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "base/fork_mutex.hpp"
#include "base/workspace.hpp"
#include "vernier/vernier.hpp"

namespace vernier::fork_test {
namespace {

// Forks while another thread does `work` all the time; the child does it once.
template <class Work>
void expect_children_are_free(const Work& work) {
  std::atomic<bool> ends{false};
  std::thread busy([&] {
    while (!ends) work();
  });
  for (int i = 0; i < 400; ++i) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      alarm(20);  // ends a child that waits for ever
      work();
      _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
      ADD_FAILURE() << "child " << i << " ended with status " << status;
      break;
    }
  }
  ends = true;
  busy.join();
}

TEST(Fork, LeavesMutexesFreeInTheChild) {
  static ForkMutex& mutex = *new ForkMutex;
  expect_children_are_free([] {
    mutex.lock();
    usleep(20);
    mutex.unlock();
    usleep(20);  // in which fork() finds it free: nothing makes a mutex fair
  });
}

TEST(Fork, LeavesThePoolOfWorkspacesFreeInTheChild) {
  expect_children_are_free([] {
    const Workspace small(4096), other(8192);
    release_workspace();
  });
}

}  // namespace
}  // namespace vernier::fork_test
