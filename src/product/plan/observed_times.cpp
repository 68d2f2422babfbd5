#include "product/plan/observed_times.hpp"

#include <bit>
#include <cstring>

#include "base/variable.hpp"
#include "product/plan/class_table.hpp"
#include "product/plan/contest.hpp"

namespace vernier {
namespace {

using Table = ClassTable<Contest>;

thread_local std::uint64_t looks_of_thread = 0;

}  // namespace

std::uint64_t key_of(const ProductClass& p) {
  const auto octave = [](std::int64_t x) {
    return static_cast<std::uint64_t>(std::bit_width(static_cast<std::uint64_t>(x)));
  };
  return 1 + (static_cast<std::uint64_t>(p.type) | static_cast<std::uint64_t>(p.form) << 2 | octave(p.shape.m) << 4 |
              octave(p.shape.n) << 12 | octave(p.shape.k) << 20 | static_cast<std::uint64_t>(p.threads) << 32 |
              static_cast<std::uint64_t>(p.contract) << 48);
}

bool observes() {
  static constinit Variable variable("VERNIER_RATES");
  const char* rates = variable.get();
  return rates == nullptr || std::strcmp(rates, "none") != 0;
}

double cautious(double estimate) {
  constexpr double caution = 1.15;  // residues took that of their estimates on 16 busy processors
  return observes() ? caution * estimate : estimate;
}

Method choose_method(const ProductClass& product, std::span<Rival> rivals) {
  if (!observes()) return Contest{}.choose(rivals).method;
  return Table::instance().with(key_of(product), [&](const Contest& contest) {
    for (Rival& r : rivals) r.seen = contest.seen(r);
    const Contest::Choice choice = contest.choose(rivals);
    if (choice.looks) ++looks_of_thread;
    return choice.method;
  });
}

void observe(const ProductClass& product, std::span<const Rival> rivals, Method taken, double seconds) {
  Table::instance().with(key_of(product), [&](Contest& contest) { contest.took(rivals, taken, seconds); });
}

double observed_seconds(const ProductClass& product, const Rival& rival) {
  return Table::instance().with(key_of(product), [&](const Contest& contest) { return contest.seen(rival); });
}

std::uint64_t looks_so_far() { return looks_of_thread; }

void forget_observations() { Table::instance().clear(); }

}  // namespace vernier
