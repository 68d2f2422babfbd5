#include "symbol.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdio>
#include <cstring>
#include <new>
#include <utility>

#include "base/uncancelled.hpp"
#include "libvernier.hpp"
#include "original.hpp"
#include "outcome.hpp"

namespace vernier::interpose {
namespace {

class ByOwnBlas {
 public:
  explicit ByOwnBlas(bool own) : before_(std::exchange(this_thread.own, own)) {}
  ~ByOwnBlas() { this_thread.own = before_; }
  ByOwnBlas(const ByOwnBlas&) = delete;
  ByOwnBlas& operator=(const ByOwnBlas&) = delete;

 private:
  bool before_;
};

// On the heap: the loader has little room for the variables of threads in a library that is loaded late, as by Julia.
struct Decisions {
  using List = std::array<Decision, most_decisions>;
  List* list = nullptr;
  ~Decisions() {
    this_thread.decisions = nullptr;
    delete std::exchange(list, nullptr);
  }
};

Decision* decisions() {
  if (this_thread.decisions != nullptr) return this_thread.decisions;
  static thread_local Decisions own;
  if (own.list == nullptr) own.list = new Decisions::List;
  return this_thread.decisions = own.list->data();
}

// A child of fork() tells of its own calls, also of the largest that is faster underneath: each shape is looked at
// anew.
[[maybe_unused]] const int looks_anew = pthread_atfork(nullptr, nullptr, [] {
  for (std::size_t i = 0; this_thread.decisions != nullptr && i < most_decisions; ++i)
    this_thread.decisions[i].at_once = 0;
});

constexpr int shortest_pause = 4, longest_pause = 64, calls_a_look = 8;
constexpr double least_spent = 20;  // times what was lost: 5 %

// Not only a number of calls: a look at large data may have cost several.
bool pauses(const Decision& d) {
  if (d.left > 0 || d.passed == 0) return d.left > 0;
  return d.spent < least_spent * (d.lost - d.spent / d.passed);
}

Decision& decision_about(const Call& call) {
  const auto [m, n, k] = largest_product(call);
  Decision& d = decisions()[slot_of(call.type, m, n, k)];
  const bool known = d.m == m && d.n == n && d.k == k && d.type == call.type;
  // To look costs as much as all else. Where it is spared, a call that all threads might have made is passed on.
  if (known && !d.by_scheme && ++d.unlooked < calls_a_look) return d;
  const int threads = follow_team();
  d.unlooked = 0;
  if (known && d.threads == threads) return d;
  vernier_report plan;
  const vernier_status status = libvernier().explain(thread_handle(), call.type, m, n, k, &plan);
  // What the planner refuses is left to the call itself, which says why.
  const bool by_scheme = status != VERNIER_SUCCESS || std::strcmp(plan.scheme, "native") != 0;
  return d = {.m = m, .n = n, .k = k, .type = call.type, .threads = threads, .by_scheme = by_scheme};
}

bool gpu_may_take_it() {
  static const bool may = [] {
    const std::string device = variable("VERNIER_DEVICE");
    return device == "auto" || device == "cuda";
  }();
  return may;
}

// A product whose data turn out too wide has cost the look at them in vain. Where one did, the next will.
void learn(Decision& d, bool in_vain, double seconds) {
  d.vain = in_vain ? d.vain + 1 : 0;
  const bool pauses_now = passes_on_next(d.vain, gpu_may_take_it());
  d.pause = pauses_now ? std::clamp(4 * d.pause, shortest_pause, longest_pause) : 0;
  d.left = d.pause;
  d.passed = 0;
  d.spent = 0;
  d.lost = preload.waits ? seconds : 0;
}

Reason reason_of(vernier_status status) {
  return status == VERNIER_BOUND_NOT_MET   ? Reason::bound
         : status == VERNIER_OUT_OF_MEMORY ? Reason::memory
         : status == VERNIER_UNSUPPORTED   ? Reason::unsupported
                                           : Reason::other;
}

// The planner's words for the largest product of a call, under the contract asked for or another one.
std::string reason_of(const Call& call, const char* contract = nullptr) {
  const Inside inside;
  const Libvernier& l = libvernier();
  const auto [m, n, k] = largest_product(call);
  vernier_handle handle = thread_handle(), other = nullptr;
  if (contract != nullptr) {
    if (l.create(&other) != VERNIER_SUCCESS) return "";
    l.set_contract(handle = other, contract);
  }
  vernier_report plan;
  const bool planned = l.explain(handle, call.type, m, n, k, &plan) == VERNIER_SUCCESS;
  const std::string reason = planned ? l.reason(handle) : l.last_error(handle);
  if (other != nullptr) l.destroy(other);
  return reason;
}

void tell_of_wide(const Call& call) { record_reason_of_wide(call, reason_of(call, "fp64-normwise").c_str()); }

constinit std::atomic<bool> wheel_is_called{false};

// The names of wheels begin so. VERNIER_BLAS, where it is set, has what libvernier calls.
constexpr char prefix_of_wheels[] = "scipy_";

}  // namespace

bool calls_a_wheel() { return wheel_is_called.load(std::memory_order_relaxed); }

// Without memory for a record it goes uncounted.
void PassedOn::end() noexcept try {
  constexpr double briefly = 1e-4;
  const std::uint64_t spent = ticks_since(start_);
  const double seconds = static_cast<double>(spent) * seconds_per_tick();
  counts_.add_time(spent * static_cast<std::uint64_t>(std::exchange(this_thread.of_size, 0)));
  if (Decision* const shape = std::exchange(this_thread.shape, nullptr)) {
    shape->spent += seconds;
    shape->brief = seconds < briefly;
    if (!shape->brief) shape->at_once = 0;
  }
  if (settings().verbose > 1) say_underneath(seconds);
} catch (const std::bad_alloc&) {
}

void* Symbol::find_in_the_wheel() noexcept {
  void* found = nullptr;
  try {
    const std::string name = counts_.symbol;
    if (name.starts_with("cblas_") && name.back() != '_' && !name.ends_with("64"))
      found = original((prefix_of_wheels + name + "64_").c_str());
  } catch (const std::bad_alloc&) {
    return missing();  // for this call
  }
  wheel_.store(found != nullptr ? found : missing(), std::memory_order_release);
  return wheel_.load(std::memory_order_relaxed);
}

bool Symbol::of_a_wheel() const {
  return std::strncmp(counts_.symbol, prefix_of_wheels, sizeof prefix_of_wheels - 1) == 0;
}

// Without memory to look far: what comes next in the order of loading, for this call.
void* Symbol::find() noexcept {
  const Uncancelled reads_files;
  try {
    void* found = original(counts_.symbol);
    if (found == nullptr) found = missing();
    real_.store(found, std::memory_order_release);
    if (this_thread.depth > 0) return found;
    if (of_a_wheel() && variable("VERNIER_BLAS").empty()) wheel_is_called.store(true, std::memory_order_relaxed);
    const Inside inside;
    check_settings();  // may load libvernier, which asks what it stands on
    return found;
  } catch (const std::bad_alloc&) {
    void* next = real_.load(std::memory_order_acquire);  // found before
    if (next == nullptr) next = look_up(RTLD_NEXT, counts_.symbol);
    return next != nullptr ? next : missing();
  }
}

void Symbol::give_up(const std::string& why, bool ends) {
  const std::string text = std::string(counts_.symbol) + ": " + why;
  if (ends) fatal(text);
  if (!told_.exchange(true)) std::fprintf(stderr, "%s: %s\n", preload.name, text.c_str());
}

bool Symbol::offer(const Call& call, Complete complete, void* context) noexcept {
  try {
    return decide(call, complete, context);
  } catch (const std::bad_alloc&) {  // before libvernier was called, or in its place
    return is_missing() && refuse(call, Reason::other);
  }
}

bool Symbol::decide(const Call& call, Complete complete, void* context) {
  const auto what_hinders = [&] { return complete != nullptr ? complete(context) : std::nullopt; };
  if (underneath() == missing()) {
    if (const std::optional<Reason> hindrance = what_hinders()) return refuse(call, *hindrance);
    return compute(call);
  }
  Reason reason = Reason::native_faster;
  if (!valid(call)) {
    reason = Reason::invalid;
  } else if (trivial(call)) {
    reason = Reason::trivial;
  } else {
    const Inside inside;
    Decision& d = decision_about(call);
    if (d.by_scheme) {
      if (const std::optional<Reason> hindrance = what_hinders()) return refuse(call, *hindrance);
      if (!pauses(d)) return run(call, d.threads);
      d.left = std::max(d.left - 1, 0);
      ++d.passed;
      reason = Reason::bound;
    }
    const bool told = settings().verbose > 1;
    const bool each = d.by_scheme || told || (preload.waits && !d.brief);
    if (preload.waits) {
      this_thread.of_size = each ? 1 : d.unlooked == 0 ? calls_a_look : 0;
      this_thread.shape = this_thread.of_size > 0 ? &d : nullptr;
    }
    if (!each && call.routine == Routine::gemm) {  // the next after those is looked at, where there are teams
      d.at_once = preload.waits ? calls_a_look - 1 : INT_MAX;
      d.unlooked = calls_a_look - 1;
    }
  }
  return refuse(call, reason);
}

bool Symbol::has_nothing_to_multiply(const Product& p) noexcept try {
  if (underneath() == missing() || settings().verbose > 1 || !valid(p)) return false;
  counts_.pass(Reason::trivial);
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

bool Symbol::refuse(const Call& call, Reason reason) noexcept {
  try {
    counts_.pass(reason);
    if (reason == Reason::native_faster && record_native(call)) record_reason_of_native(call, reason_of(call).c_str());
  } catch (const std::bad_alloc&) {  // it goes uncounted
  }
  if (settings().verbose > 1) say_passed_on(counts_.symbol, call, reason);
  return false;
}

// One of a team has a processor: a wheel's BLAS may have threads of its own for each.
bool Symbol::run(const Call& call, int threads) {
  const Inside inside;
  const ByOwnBlas own(threads == 1 && !of_a_wheel());
  const Busy busy;
  const Libvernier& l = libvernier();
  const vernier_handle handle = thread_handle();
  const vernier_status status = perform(handle, call);
  if (status != VERNIER_SUCCESS) {
    // Of a batch, some products may be done: passed on, they would be added twice.
    if (call.batch != Call::Batch::none && status == VERNIER_OUT_OF_MEMORY)
      fatal(std::string(counts_.symbol) + ": out of memory within a batch; its results are incomplete");
    counts_.pass(reason_of(status));
    this_thread.of_size = preload.waits ? 1 : 0;
    if (std::exchange(this_thread.left, false)) {
      learn(decision_about(call), true, 0);
      if (record_wide(call)) tell_of_wide(call);
    }
    const char* const why = this_thread.why != nullptr ? std::exchange(this_thread.why, nullptr) : l.last_error(handle);
    record_message(why);
    if (settings().verbose > 1) say(counts_.symbol, call, why);
    return false;
  }
  record(call, handle);
  return true;
}

void Symbol::record(const Call& call, vernier_handle handle) noexcept {
  try {
    vernier_report report;
    if (libvernier().get_report(handle, &report) == VERNIER_SUCCESS) {
      learn(decision_about(call), tried_in_vain(report.fallback != 0, report.scheme), report.seconds);
      if (record_taken(call, report)) tell_of_wide(call);
      if (settings().verbose > 1) say_taken(counts_.symbol, call, report);
    }
    counts_.take();
  } catch (const std::bad_alloc&) {  // it goes uncounted
  }
}

bool Symbol::compute(const Call& call) {
  const bool ends = preload.not_supported == 0;
  if (!valid(call)) {
    give_up("an argument is invalid, and no library underneath has this routine", ends);
    return false;
  }
  const Inside inside;
  this_thread.alone = true;
  const bool done = run(call, follow_team());
  this_thread.alone = false;
  if (!done)
    give_up(std::string(libvernier().last_error(thread_handle())) + "; and no library underneath has this routine",
            ends);
  return done;
}

}  // namespace vernier::interpose
