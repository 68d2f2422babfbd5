// State of the whole process that a child of fork() can use, whatever the parent's threads were doing.
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
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

// The parent's thread makes it until the child has ended; in the child there is no such thread.
struct MadeSlowly {
  static inline std::atomic<int> begun{0};
  static inline std::atomic<bool> child_ended{false};
  explicit MadeSlowly(pid_t process) {
    ++begun;
    while (getpid() == process && !child_ended) usleep(100);
  }
};
void make_slowly(pid_t process) { static const MadeSlowly once(process); }

// It waits for the gate: a thread that ended there would leave all others before it.
TEST(Fork, IsNotCancelledWhileItWaits) {
  std::atomic<bool> leaves{false}, holds{false};
  std::thread holder([&] {
    const ForkGate gate;
    holds = true;
    while (!leaves) usleep(100);
  });
  while (!holds) usleep(100);
  static std::atomic<pid_t> child;
  child = 0;
  pthread_t forking;
  const auto fork_once = [](void*) -> void* {
    const pid_t made = fork();
    if (made == 0) _exit(0);
    child = made;
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&forking, nullptr, fork_once, nullptr), 0);
  usleep(50'000);
  EXPECT_EQ(child, 0) << "the gate is held";
  ASSERT_EQ(pthread_cancel(forking), 0);
  usleep(50'000);
  leaves = true;
  holder.join();
  ASSERT_EQ(pthread_join(forking, nullptr), 0);
  ASSERT_GT(child, 0);
  int status = 1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  std::atomic<bool> entered{false};
  std::thread next([&] {
    const ForkGate gate;
    entered = true;
  });
  for (int i = 0; i < 2000 && !entered; ++i) usleep(1000);
  EXPECT_TRUE(entered);
  entered ? next.join() : next.detach();
}

void fork_in_a_handler(int) {
  static_cast<void>(fork());  // NOLINT: what programs do
}

// A thread that waits for the gate is not within a product: a fork() of its handler waits for the thread that is, and
// the child has nobody inside.
TEST(Fork, InAHandlerOfAThreadThatWaitsForTheGateWaitsToo) {
  const pid_t parent = getpid();
  const auto before = signal(SIGUSR1, fork_in_a_handler);
  int born[2] = {-1, -1};
  ASSERT_EQ(pipe(born), 0);
  std::atomic<bool> leaves{false}, holds{false};
  std::thread holder([&] {
    const ForkGate gate;
    holds = true;
    while (!leaves) usleep(100);
  });
  while (!holds) usleep(100);
  std::thread forking([&] {
    if (fork() == 0) _exit(0);
  });
  usleep(50'000);
  std::thread enters([&] {
    { const ForkGate gate; }
    if (getpid() == parent) return;
    alarm(5);
    const pid_t next = fork();
    if (next == 0) _exit(0);
    if (waitpid(next, nullptr, 0) != next || write(born[1], "", 1) != 1) _exit(1);
    _exit(0);
  });
  usleep(50'000);
  ASSERT_EQ(pthread_kill(enters.native_handle(), SIGUSR1), 0);
  usleep(50'000);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a child was born while a thread was inside";
  leaves = true;
  holder.join(), forking.join(), enters.join();
  close(born[1]);
  char byte = 0;
  EXPECT_EQ(read(born[0], &byte, 1), 1) << "the child's next fork() hung";
  close(born[0]);
  while (waitpid(-1, nullptr, 0) > 0) {
  }
  signal(SIGUSR1, before);
}

// Wherever in its way in or out the signal meets the thread.
TEST(Fork, InAHandlerOfAThreadThatEntersOrLeavesTheGateDoesNotWaitForThatThread) {
  const pid_t program = fork();
  ASSERT_GE(program, 0);
  if (program == 0) {
    alarm(20);  // ends it if it waits for ever
    signal(SIGCHLD, SIG_IGN);
    static std::atomic<int> born{0};
    signal(SIGUSR1, [](int) {
      const pid_t child = fork();
      if (child == 0) _exit(0);
      ++born;
    });
    std::atomic<bool> ends{false};
    std::thread enters([&] {
      while (!ends) const ForkGate gate;
    });
    for (int i = 0; i < 300; ++i) {
      pthread_kill(enters.native_handle(), SIGUSR1);
      while (born <= i) usleep(20);
    }
    ends = true;
    enters.join();
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(program, &status, 0), program);
  EXPECT_TRUE(WIFEXITED(status)) << "it hung";
}

TEST(Fork, AStaticVariableThatAThreadOfTheParentMakesIsMadeAgainInTheChild) {
  const pid_t parent = getpid();
  std::thread maker([&] { make_slowly(parent); });
  while (MadeSlowly::begun == 0) usleep(100);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(20);
    make_slowly(parent);
    make_slowly(parent);
    _exit(MadeSlowly::begun == 2 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  MadeSlowly::child_ended = true;
  std::thread waits([&] { make_slowly(parent); });
  maker.join();
  waits.join();
  EXPECT_EQ(status, 0);
  EXPECT_EQ(MadeSlowly::begun, 1);
}

TEST(Fork, AStaticVariableWhoseMakingFailsIsTriedAgain) {
  int tries = 0;
  const auto make = [&] {
    static const int once = ++tries < 3 ? throw 1 : tries;
    return once;
  };
  EXPECT_THROW(make(), int);
  EXPECT_THROW(make(), int);
  EXPECT_EQ(make(), 3);
  EXPECT_EQ(make(), 3);
}

}  // namespace
}  // namespace vernier::fork_test
