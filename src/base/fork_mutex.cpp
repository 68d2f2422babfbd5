#include "base/fork_mutex.hpp"

#include <pthread.h>

namespace vernier {

struct ForkMutex::List {
  std::mutex mutex;
  ForkMutex* first = nullptr;
};

ForkMutex::List& ForkMutex::list() {
  static List& once = *new List;  // never destroyed: a program may fork until its very end
  return once;
}

ForkMutex::ForkMutex() {
  static const int registered = pthread_atfork(lock_all, unlock_all, unlock_all);
  static_cast<void>(registered);
  List& all = list();
  const std::lock_guard lock(all.mutex);
  next_ = all.first;
  all.first = this;
}

void ForkMutex::lock_all() {
  list().mutex.lock();
  for (ForkMutex* m = list().first; m != nullptr; m = m->next_) m->lock();
}

void ForkMutex::unlock_all() {
  for (ForkMutex* m = list().first; m != nullptr; m = m->next_) m->unlock();
  list().mutex.unlock();
}

}  // namespace vernier
