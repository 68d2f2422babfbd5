#include "base/fork_mutex.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

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

using Place = std::atomic<const ForkGate::Inside*>;

struct ForkGate::Inside {
  int depth = 0;
  Place* place = nullptr;  // the last one that it had
};

namespace {

constinit thread_local ForkGate::Inside of_thread;
constinit std::atomic<int> forks = 0;  // threads that are in fork()

// A thread with a ForkGate is in one of these places: it is there or not, never half, as a fork() in a signal's handler
// asks.
constexpr std::size_t count = 1024;
constinit Place places[count];

constexpr useconds_t moment = 50;

bool takes(const ForkGate::Inside& inside, Place& place) {
  const ForkGate::Inside* free = nullptr;
  return place.compare_exchange_strong(free, &inside);
}

[[gnu::noinline]] void take_place(ForkGate::Inside& inside) {
  constexpr std::uint64_t golden = 0x9E3779B97F4A7C15;
  const std::uint64_t first = reinterpret_cast<std::uintptr_t>(&inside) * golden >> 32;
  for (std::size_t i = 0;; ++i) {
    if (i >= count) usleep(moment);  // so many are inside
    inside.place = &places[(first + i) % count];
    if (takes(inside, *inside.place)) return;
  }
}

[[gnu::noinline]] void wait_for_forks(ForkGate::Inside& inside) {
  while (forks.load() > 0) {
    *inside.place = nullptr;
    const Uncancelled waits;
    while (forks.load() > 0) usleep(moment);
    take_place(inside);
  }
}

bool others_are_inside() {
  return std::any_of(std::begin(places), std::end(places), [](const Place& p) {
    const ForkGate::Inside* const found = p;
    return found != nullptr && found != &of_thread;
  });
}

// A child has one thread.
void leave_alone() {
  for (Place& p : places)
    if (p != &of_thread) p = nullptr;
}

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
        leave_alone();
        forks = 0;
        pthread_setcancelstate(cancelled_before, nullptr);
      });
  static_cast<void>(registered);
  return once;
}

[[maybe_unused]] const ForkMutexes& mutexes = all();  // early: a child that registered once more would lock twice

ForkMutex& tables = *new ForkMutex;

}  // namespace

ForkMutex::ForkMutex() { all().add(*this); }

ForkMutex& once_mutex() { return tables; }

[[gnu::hot]] ForkGate::Inside* ForkGate::enter() {
  Inside* here = &of_thread;
  asm("" : "+r"(here));  // else its address in this thread is asked for each time
  Inside& inside = *here;
  if (inside.depth++ > 0) return &inside;
  if (inside.place == nullptr || !takes(inside, *inside.place)) take_place(inside);
  if (forks.load() > 0) wait_for_forks(inside);
  return &inside;
}

[[gnu::hot]] void ForkGate::leave(Inside& inside) {
  if (--inside.depth == 0) inside.place->store(nullptr, std::memory_order_release);
}

}  // namespace vernier
