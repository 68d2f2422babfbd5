#include "base/fork_mutex.hpp"

#include <pthread.h>
#include <unistd.h>

#include "base/uncancelled.hpp"

namespace vernier {

struct ForkMutexes {
  std::mutex mutex;
  ForkMutex* first = nullptr;

  void lock_all() {
    mutex.lock();
    for (ForkMutex* m = first; m != nullptr; m = m->next_) m->lock();
  }
  void unlock_all() {
    for (ForkMutex* m = first; m != nullptr; m = m->next_) m->unlock();
    mutex.unlock();
  }
  void add(ForkMutex& m) {
    const std::lock_guard lock(mutex);
    m.next_ = first;
    first = &m;
  }
};

namespace {

constinit std::atomic<int> inside = 0, forks = 0;  // threads with a ForkGate, and those that are in fork()
constinit thread_local int depth = 0;
constinit thread_local volatile bool counted = false;  // among those inside, as a fork() in a signal's handler asks

constexpr useconds_t moment = 50;

bool others_are_inside() { return inside.load() > (counted ? 1 : 0); }

constinit thread_local int cancelled_before = PTHREAD_CANCEL_ENABLE;

// A thread cancelled before the end of its fork(), here or where OpenBLAS's handler joins threads, would leave all
// others waiting.
void prepare_fork() {
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelled_before);
  ++forks;
  while (others_are_inside()) usleep(moment);
}

// Never destroyed: calls from other static destructors stay safe.
ForkMutexes& all() {
  static ForkMutexes& once = *new ForkMutexes;
  static const int registered = pthread_atfork(
      [] {
        prepare_fork();
        all().lock_all();
      },
      [] {
        all().unlock_all();
        --forks;
        pthread_setcancelstate(cancelled_before, nullptr);
      },
      [] {
        all().unlock_all();
        inside = counted ? 1 : 0, forks = 0;
        pthread_setcancelstate(cancelled_before, nullptr);
      });
  static_cast<void>(registered);
  return once;
}

[[maybe_unused]] const ForkMutexes& mutexes = all();  // early: a child that registered once more would lock twice

ForkMutex& tables = *new ForkMutex;

void leave_for_forks() {
  counted = false;
  --inside;
}

}  // namespace

ForkMutex::ForkMutex() { all().add(*this); }

ForkMutex& once_mutex() { return tables; }

[[gnu::hot]] void ForkGate::enter() {
  if (depth++ > 0) return;
  while (true) {
    ++inside;
    counted = true;
    if (forks.load() == 0) return;
    leave_for_forks();
    const Uncancelled waits;
    while (forks.load() > 0) usleep(moment);
  }
}

[[gnu::hot]] void ForkGate::leave() {
  if (--depth == 0) leave_for_forks();
}

}  // namespace vernier
