#include "journal.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <utility>

#include "base/uncancelled.hpp"
#include "preload.hpp"
#include "settings.hpp"
#include "tell.hpp"

namespace vernier::interpose {

// What fork() has to reach.
struct CountsList {
  Counts* first = nullptr;

  void add(Counts& counts) {
    if (counts.listed_) return;
    counts.listed_ = true;
    counts.next_ = first;
    first = &counts;
  }
  void leave_places() const {
    for (Counts* c = first; c != nullptr; c = c->next_) c->record_ = nullptr;
  }
};

namespace {

constexpr std::size_t most_shapes = 10000;

struct Shape {
  vernier_type type;
  Routine routine;
  std::int64_t m, n, k;
  auto operator<=>(const Shape&) const = default;
};

struct Sum {
  std::uint64_t calls = 0;
  double seconds = 0;
};

// Never destroyed: calls may come until the very end.
struct Journal {
  std::mutex mutex;
  CountsList counts;
  Record* record = nullptr;  // this process's, once it has made a call
  std::map<Shape, Sum> shapes;
  int running = 0;
  double since = 0;                       // they run
  std::atomic<double> largest_native{0};  // as volume_of() has it
};

Journal& journal() {
  static Journal& once = *new Journal;
  return once;
}

// `vernier run` is not reached, as in a sandbox: this process tells its calls itself.
constinit bool uncounted = false;

std::string program_name() {
  std::ifstream file("/proc/self/cmdline");
  std::string line;
  std::getline(file, line, '\0');
  return line;
}

// One of the board that `vernier run` has set up, else one of this process alone.
Record* new_record() {
  static Record own;
  const std::string path = variable("VERNIER_COUNTERS");
  Record* const counted = path.empty() ? nullptr : claim_record(path.c_str());
  // It has ended before, where there is no file.
  if (!path.empty() && counted == nullptr && errno != ENOENT && errno != ENOSPC && !std::exchange(uncounted, true))
    std::fprintf(stderr, "%s: `vernier run` cannot count this process's calls (%s): it tells them itself, at exit\n",
                 preload.name, std::strerror(errno));
  Record& r = counted != nullptr ? *counted : own;
  if (&r == &own) std::memset(static_cast<void*>(&own), 0, sizeof own);
  r.pid = getpid();
  put(r.library, preload.name);
  put(r.program, program_name().c_str());
  put(r.contract, settings().contract.c_str());
  r.min_size = settings().min_size;
  r.log2_bound = no_bound;
  return &r;
}

// Lanes that have a thread, and which one this thread has; -1: none yet.
constinit std::atomic<std::uint32_t> lanes_owned{0}, next_shared{0};
constinit thread_local int this_lane = -1;

// Called as a thread ends that has a lane of its own: what it still passes on it counts with others.
void leave_lane(void*) {
  lanes_owned.fetch_and(~(1U << this_lane), std::memory_order_release);
  own_lane = nullptr;
  this_lane = own_lanes;
}

// A key of POSIX: to have a destructor called otherwise takes memory, without which the C library ends the program.
pthread_key_t leaves_lane{};
const bool is_told_of_ends = pthread_key_create(&leaves_lane, leave_lane) == 0;

int claim_lane() {
  std::uint32_t owned = lanes_owned.load(std::memory_order_relaxed);
  int lane = std::countr_one(owned);
  while (lane < own_lanes && !lanes_owned.compare_exchange_weak(owned, owned | 1U << lane, std::memory_order_acquire))
    lane = std::countr_one(owned);
  if (lane < own_lanes && is_told_of_ends && pthread_setspecific(leaves_lane, &leaves_lane) == 0) return lane;
  if (lane < own_lanes) lanes_owned.fetch_and(~(1U << lane), std::memory_order_release);
  return own_lanes + static_cast<int>(next_shared.fetch_add(1, std::memory_order_relaxed) % (most_lanes - own_lanes));
}

// A child of fork() tells of its own calls alone: it starts a record with its first.
void forget() {
  Journal& j = journal();
  j.counts.leave_places();
  own_lane = nullptr;
  lanes_owned = this_lane >= 0 && this_lane < own_lanes ? 1U << this_lane : 0;
  j.record = nullptr;
  j.shapes.clear();
  j.running = 0;
  j.largest_native = 0;
  j.mutex.unlock();
}

void tell_at_exit() {
  Record* record = journal().record;
  if (record != nullptr) tell(*record, uncounted);
}

// As the preload is loaded: a fork() before the first call may meet the journal's mutex held by another thread.
[[maybe_unused]] const int forks_seen =
    pthread_atfork([] { journal().mutex.lock(); }, [] { journal().mutex.unlock(); }, forget);

// With the mutex held.
Record& record_of(Journal& j) {
  static const int registered = std::atexit(tell_at_exit);
  static_cast<void>(registered);
  if (j.record == nullptr) {
    const Uncancelled opens_a_file;
    j.record = new_record();
  }
  return *j.record;
}

// As printf has them, but for the program's locale, which may write a comma.
struct Seconds {
  explicit Seconds(double seconds) {
    *std::to_chars(text, text + 31, seconds, std::chars_format::scientific, 2).ptr = 0;
  }
  char text[32];
};

std::string routine_name(vernier_type type, Routine routine) {
  return static_cast<char>(type - 'A' + 'a') + std::string(name(routine));
}

ShapeCounts shape_counts(const Shape& shape, const Sum& sum) {
  ShapeCounts counts{
      .routine = {}, .m = shape.m, .n = shape.n, .k = shape.k, .calls = sum.calls, .seconds = sum.seconds};
  put(counts.routine, routine_name(shape.type, shape.routine).c_str());
  return counts;
}

bool same(const ShapeCounts& x, const ShapeCounts& y) {
  return std::strcmp(x.routine, y.routine) == 0 && x.m == y.m && x.n == y.n && x.k == y.k;
}

// The slowest shapes, slowest first: a shape that is among them or slower than the last moves up to its place.
void keep_slowest(Record& r, const ShapeCounts& counts) {
  int at = 0;
  while (at < slowest_shown - 1 && r.slowest[at].calls > 0 && !same(r.slowest[at], counts)) ++at;
  if (!same(r.slowest[at], counts) && r.slowest[at].calls > 0 && r.slowest[at].seconds >= counts.seconds) return;
  r.slowest[at] = counts;
  for (; at > 0 && r.slowest[at - 1].seconds < r.slowest[at].seconds; --at) std::swap(r.slowest[at - 1], r.slowest[at]);
}

template <class Sizes>
double volume_of(const Sizes& s) {
  return static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k);
}

bool keep_largest(ShapeCounts& known, const Call& call, decltype(Record::native_reason)& reason) {
  if (volume_of(call) <= volume_of(known)) return false;
  known = shape_counts({call.type, call.routine, call.m, call.n, call.k}, {});
  put(reason, "");
  return true;
}

// Another thread may have met a larger one meanwhile.
void keep_reason(const ShapeCounts& known, const Call& call, decltype(Record::native_reason)& to, const char* reason) {
  if (same(known, shape_counts({call.type, call.routine, call.m, call.n, call.k}, {}))) put(to, reason);
}

}  // namespace

Lane& Counts::find_lane(Record& r) {
  if (this_lane < 0) this_lane = claim_lane();
  Lane& lane = r.lanes[this_lane];
  if (this_lane < own_lanes) own_lane = &lane;
  return lane;
}

Record& Counts::join() {
  Journal& j = journal();
  const std::lock_guard lock(j.mutex);
  if (Record* known = record_) return *known;  // two first calls at once
  Record& r = record_of(j);
  const std::uint32_t used = r.symbols_used, place = std::min<std::uint32_t>(used, most_symbols - 1);
  put(r.symbols[place].symbol, used < most_symbols ? symbol : "others");
  if (used < most_symbols) r.symbols_used = used + 1;
  j.counts.add(*this);
  place_ = place;
  record_.store(&r, std::memory_order_release);
  return r;
}

Busy::Busy() {
  Journal& j = journal();
  const std::lock_guard lock(j.mutex);
  if (j.running++ == 0) j.since = now();
  try {
    record_of(j).unfinished = j.running;
  } catch (const std::bad_alloc&) {  // it goes uncounted
  }
}

// What ran until now counts, whatever runs still: the process may end meanwhile. A child born within a call has none
// that runs when this one ends.
Busy::~Busy() {
  Journal& j = journal();
  const std::lock_guard lock(j.mutex);
  const double since = std::exchange(j.since, now());
  const int running = std::exchange(j.running, std::max(j.running - 1, 0));
  if (running == 0 || j.record == nullptr) return;
  j.record->elapsed += j.since - since;
  j.record->unfinished = j.running;
}

bool record_taken(const Call& call, const vernier_report& report) {
  static thread_local const Record* counted = nullptr;
  Journal& j = journal();
  const std::lock_guard lock(j.mutex);
  Record& r = record_of(j);
  if (counted != &r) ++r.threads;
  counted = &r;
  r.seconds += report.seconds;
  r.fallbacks += static_cast<std::uint64_t>(report.fallback);
  const bool widest = report.fallback != 0 && keep_largest(r.largest_wide, call, r.normwise_reason);
  r.largest_span = std::max({r.largest_span, report.span_a, report.span_b});
  if (report.moduli > 0 || r.engine[0] == '\0') put(r.engine, report.engine);
  r.log2_bound = std::max(r.log2_bound, report.log2_bound);
  const Shape shape{call.type, call.routine, call.m, call.n, call.k};
  if (j.shapes.size() >= most_shapes && !j.shapes.contains(shape)) return widest;
  Sum& sum = j.shapes[shape];
  ++sum.calls;
  sum.seconds += report.seconds;
  keep_slowest(r, shape_counts(shape, sum));
  return widest;
}

bool record_wide(const Call& call) {
  Journal& j = journal();
  const std::lock_guard lock(j.mutex);
  Record& r = record_of(j);
  return keep_largest(r.largest_wide, call, r.normwise_reason);
}

bool record_native(const Call& call) {
  Journal& j = journal();
  const double volume = volume_of(call);
  if (volume <= j.largest_native.load(std::memory_order_relaxed)) return false;
  const std::lock_guard lock(j.mutex);
  j.largest_native = std::max(volume, j.largest_native.load());
  Record& r = record_of(j);
  return keep_largest(r.largest_native, call, r.native_reason);
}

void record_reason_of_wide(const Call& call, const char* reason) {
  Journal& j = journal();
  const std::lock_guard lock(j.mutex);
  Record& r = record_of(j);
  keep_reason(r.largest_wide, call, r.normwise_reason, reason);
}

void record_reason_of_native(const Call& call, const char* reason) {
  Journal& j = journal();
  const std::lock_guard lock(j.mutex);
  Record& r = record_of(j);
  keep_reason(r.largest_native, call, r.native_reason, reason);
}

void record_workspace(bool used) {
  Journal& j = journal();
  const std::lock_guard lock(j.mutex);
  Record& r = record_of(j);
  ++(used ? r.workspaces_used : r.workspaces_too_small);
}

void record_message(const char* message) {
  Journal& j = journal();
  const std::lock_guard lock(j.mutex);
  put(record_of(j).last_message, message);
}

void record_out_of_reach(const char* message) {
  Journal& j = journal();
  const std::lock_guard lock(j.mutex);
  if (j.record == nullptr) j.record = new_record();  // too late to ask for a call at exit
  put(j.record->out_of_reach, message);
}

bool any_call_seen() {
  Journal& j = journal();
  const std::lock_guard lock(j.mutex);
  return j.record != nullptr;
}

void say(const char* symbol, const Call& call, const char* what) {
  const Uncancelled writes;
  std::fprintf(stderr, "%s: %s m = %lld, n = %lld, k = %lld: %s\n", preload.name, symbol,
               static_cast<long long>(call.m), static_cast<long long>(call.n), static_cast<long long>(call.k), what);
}

void say_taken(const char* symbol, const Call& call, const vernier_report& report) {
  char what[96];
  std::snprintf(what, sizeof what, "%s, %s s", report.scheme, Seconds(report.seconds).text);
  say(symbol, call, what);
}

void say_passed_on(const char* symbol, const Call& call, Reason reason) {
  char what[96];
  std::snprintf(what, sizeof what, "passed on, %s", text_of(reason));
  say(symbol, call, what);
}

void say_underneath(double seconds) {
  const Uncancelled writes;
  std::fprintf(stderr, "%s: %s s in the library underneath\n", preload.name, Seconds(seconds).text);
}

}  // namespace vernier::interpose
