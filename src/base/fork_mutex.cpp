#include "base/fork_mutex.hpp"

#include <pthread.h>

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

// Never destroyed: calls from other static destructors stay safe.
ForkMutexes& all() {
  static ForkMutexes& once = *new ForkMutexes;
  static const int registered =
      pthread_atfork([] { all().lock_all(); }, [] { all().unlock_all(); }, [] { all().unlock_all(); });
  static_cast<void>(registered);
  return once;
}

[[maybe_unused]] const ForkMutexes& mutexes = all();  // early: a child that registered once more would lock twice

ForkMutex& tables = *new ForkMutex;

}  // namespace

ForkMutex::ForkMutex() { all().add(*this); }

ForkMutex& once_mutex() { return tables; }

}  // namespace vernier
