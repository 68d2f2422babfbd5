#include "parallel_symbol.hpp"

#include <cstdio>
#include <new>

#include "libvernier.hpp"
#include "preload.hpp"

namespace vernier::interpose {

bool contract_fixes_bits() {
  static const bool once = [] {
    const std::string& contract = settings().contract;
    return contract.find("+reproducible") != std::string::npos || contract.rfind("exact", 0) == 0;
  }();
  return once;
}

void* ParallelSymbol::underneath() {
  if (original_ == nullptr) original_ = original(counts_.symbol);
  if (original_ == nullptr) fatal(std::string(counts_.symbol) + ": no ScaLAPACK underneath has this routine");
  return original_;
}

bool ParallelSymbol::concerns(std::int64_t m, std::int64_t n, std::int64_t k) {
  if (pblas().grid == nullptr) return false;
  const double operations = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  if (operations > 0 && operations >= settings().min_operations) return true;
  counts_.pass(operations > 0 ? Reason::small : Reason::trivial);
  return false;
}

bool ParallelSymbol::wanted() {
  if (!pblas().missing.empty()) {
    refuse(Reason::unsupported, "this ScaLAPACK is not one that is known: " + pblas().missing);
    return false;
  }
  if (contract_fixes_bits()) return true;
  counts_.pass(Reason::mode);
  return false;
}

void ParallelSymbol::refuse(Reason reason, const std::string& message) {
  counts_.pass(reason);
  if (message.empty()) return;
  record_message(message.c_str());
  if (settings().verbose > 0)
    std::fprintf(stderr, "%s: %s is passed on: %s\n", preload.name, counts_.symbol, message.c_str());
}

void ParallelSymbol::count(const Call& call, double seconds) {
  try {
    vernier_report report = {};
    libvernier().explain(thread_handle(), call.type, call.m, call.n, call.k, &report);
    report.seconds = seconds;
    record_taken(call, report);
    counts_.take();
    if (settings().verbose > 1) say_taken(counts_.symbol, call, report);
  } catch (const std::bad_alloc&) {  // it goes uncounted
  }
}

Ran ParallelSymbol::run(const Grid& grid, const DistributedCall& call) {
  const Busy busy;
  const double start = now();
  const Outcome outcome = multiply_distributed(grid, call);
  if (!outcome.done) {
    refuse(outcome.reason, outcome.message);
    return outcome.reason == Reason::memory ? Ran::without_memory : Ran::refused;
  }
  count({.routine = routine_, .type = type, .m = call.m, .n = call.n, .k = call.k}, now() - start);
  return Ran::done;
}

}  // namespace vernier::interpose
