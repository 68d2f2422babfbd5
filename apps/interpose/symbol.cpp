#include "symbol.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>

#include "libvernier.hpp"
#include "original.hpp"
#include "preload.hpp"

namespace vernier::interpose {
namespace {

// The planner's answers for the shapes that this thread met last, and what their data made of them.
struct Decision {
  vernier_type type = VERNIER_S;
  std::int64_t m = -1, n = -1, k = -1;
  bool by_scheme = false;
  int pause = 0,
      left = 0;  // calls that are passed on unseen after one whose data were too wide, and those still to come
};

constexpr int shortest_pause = 4, longest_pause = 64;

Decision& decision_about(const Call& call) {
  static thread_local std::array<Decision, 16> last;
  const auto [m, n, k] = largest_product(call);
  const auto hash = static_cast<std::size_t>(m * 31 + n * 7 + k + call.type);
  Decision& d = last[hash % last.size()];
  if (d.m == m && d.n == n && d.k == k && d.type == call.type) return d;
  vernier_report plan;
  const vernier_status status = libvernier().explain(thread_handle(), call.type, m, n, k, &plan);
  // What the planner refuses is left to the call itself, which says why.
  const bool by_scheme = status != VERNIER_SUCCESS || std::strcmp(plan.scheme, "native") != 0;
  return d = {call.type, m, n, k, by_scheme};
}

// A product whose data turn out too wide has cost the look at them in vain. Where one did, the next will.
void learn(Decision& d, bool fell_back) {
  d.pause = fell_back ? std::clamp(4 * d.pause, shortest_pause, longest_pause) : 0;
  d.left = d.pause;
}

Reason reason_of(vernier_status status) {
  return status == VERNIER_BOUND_NOT_MET   ? Reason::bound
         : status == VERNIER_OUT_OF_MEMORY ? Reason::memory
         : status == VERNIER_UNSUPPORTED   ? Reason::unsupported
                                           : Reason::other;
}

}  // namespace

void* Symbol::missing() {
  static char mark;
  return &mark;
}

// Without memory to look far: what comes next in the order of loading, for this call.
void* Symbol::find() noexcept {
  try {
    void* found = original(counts_.symbol);
    if (found == nullptr) found = missing();
    real_.store(found, std::memory_order_release);
    if (this_thread.depth > 0) return found;
    const Inside inside;
    check_settings();
    return found;
  } catch (const std::bad_alloc&) {
    void* const next = look_up(RTLD_NEXT, counts_.symbol);
    return next != nullptr ? next : missing();
  }
}

void Symbol::give_up() const {
  fatal(std::string(counts_.symbol) + ": no library underneath has this routine, and Vernier does not take this call");
}

bool Symbol::offer(const Call& call) noexcept {
  try {
    return decide(call);
  } catch (const std::bad_alloc&) {  // before libvernier was called, or in its place
    return false;
  }
}

bool Symbol::decide(const Call& call) {
  if (underneath() == missing()) return compute(call);
  Reason reason = Reason::native_faster;
  if (!valid(call)) {
    reason = Reason::invalid;
  } else if (trivial(call)) {
    reason = Reason::trivial;
  } else {
    const Inside inside;
    Decision& d = decision_about(call);
    if (d.by_scheme && d.left == 0) return run(call);
    if (d.by_scheme) {
      --d.left;
      reason = Reason::bound;
    }
  }
  return refuse(call, reason);
}

bool Symbol::refuse(const Call& call, Reason reason) noexcept {
  try {
    counts_.pass(reason);
    if (reason == Reason::native_faster) record_native(call);
  } catch (const std::bad_alloc&) {  // it goes uncounted
  }
  this_thread.of_size = preload.waits;
  if (settings().verbose > 1) say(counts_.symbol, call, "passed on");
  return false;
}

bool Symbol::run(const Call& call) {
  const Inside inside;
  const Busy busy;
  const Libvernier& l = libvernier();
  const vernier_handle handle = thread_handle();
  const vernier_status status = perform(handle, call);
  if (status != VERNIER_SUCCESS) {
    // Of a batch, some products may be done: passed on, they would be added twice.
    if (call.batch != Call::Batch::none && status == VERNIER_OUT_OF_MEMORY)
      fatal(std::string(counts_.symbol) + ": out of memory within a batch; its results are incomplete");
    counts_.pass(reason_of(status));
    this_thread.of_size = preload.waits;
    record_message(l.last_error(handle));
    if (settings().verbose > 1) say(counts_.symbol, call, l.last_error(handle));
    return false;
  }
  record(call, handle);
  return true;
}

void Symbol::record(const Call& call, vernier_handle handle) noexcept {
  try {
    vernier_report report;
    if (libvernier().get_report(handle, &report) == VERNIER_SUCCESS) {
      learn(decision_about(call), report.fallback != 0);
      record_taken(call, report);
      if (settings().verbose > 1) say(counts_.symbol, call, report.scheme);
    }
    counts_.take();
  } catch (const std::bad_alloc&) {  // it goes uncounted
  }
}

bool Symbol::compute(const Call& call) {
  if (!valid(call))
    fatal(std::string(counts_.symbol) + ": an argument is invalid, and no library underneath has this routine");
  if (!run(call))
    fatal(std::string(counts_.symbol) + ": " + libvernier().last_error(thread_handle()) +
          "; and no library underneath has this routine");
  return true;
}

}  // namespace vernier::interpose
