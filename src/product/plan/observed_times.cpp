#include "product/plan/observed_times.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/variable.hpp"
#include "product/plan/class_table.hpp"

namespace vernier {
namespace {

constexpr int kept = 3, needed = 2;
// Threads of two pools keep one another from the processors for some milliseconds after a change between methods.
constexpr double settling = 0.01;  // seconds
constexpr std::uint32_t enough = 32, few = 5;
constexpr double least_pause = 32, longest_pause = 32768;  // calls
constexpr double cost_of_looks = 0.02;                     // of the time of all calls, at most

// Times of one method a multiplication, but for `quickest`.
struct History {
  std::array<float, kept> last{};
  std::uint32_t count = 0;
  std::uint16_t left = 0;  // calls until it is forgotten
  std::uint16_t looks = 0;
  float quickest = 0, looked = 0;  // of the looks that made it known: the least, in seconds; all
  bool known = false;
  bool asked = false;  // the next time is that of a look

  void add(double seconds, double unit) {
    const auto time = static_cast<float>(seconds / unit);
    const bool falls = count > 0 && time < 0.75f * recent();
    last[count++ % kept] = time;
    if (known && !asked) return;
    asked = false;
    ++looks, looked += time;
    if (known) return;
    quickest = count == 1 ? static_cast<float>(seconds) : std::min(quickest, static_cast<float>(seconds));
    known = count >= enough || (count >= needed && !falls && quickest * static_cast<float>(count) >= settling);
  }
  double least() const { return known ? recent() : 0; }
  bool lasts() const { return count >= enough; }
  bool young() const { return count < few; }
  // Another method was taken, which takes `best`; 0: it is only being looked at.
  void pass_by(double best) {
    if (!known || best <= 0) return;
    if (left == 0)
      left = pause(best);
    else if (--left == 0)
      *this = {};
  }

 private:
  float recent() const { return *std::min_element(last.begin(), last.begin() + std::min<std::uint32_t>(count, kept)); }
  // Calls of which a fiftieth takes as long as the looks lose.
  std::uint16_t pause(double best) const {
    const double lost = looked / best - looks;
    return static_cast<std::uint16_t>(std::clamp(lost / cost_of_looks, least_pause, longest_pause));
  }
};

struct Entry {
  std::array<History, method_count> methods;
};
using Table = ClassTable<Entry>;

History& of(Entry& entry, Method method) { return entry.methods[static_cast<std::size_t>(method)]; }

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

void observe(const ProductClass& product, Method method, double seconds) {
  Table::instance().with(key_of(product),
                         [&](Entry& entry) { of(entry, method).add(seconds, product.shape.multiplications()); });
}

double observed_seconds(const ProductClass& product, Method method) {
  return Table::instance().with(key_of(product), [&](Entry& entry) { return of(entry, method).least(); }) *
         product.shape.multiplications();
}

void note_choice(const ProductClass& product, Method chosen) {
  Table::instance().with(key_of(product), [&](Entry& entry) {
    const double best = of(entry, chosen).least() * product.shape.multiplications();
    for (int i = 0; i < method_count; ++i) {
      const auto method = static_cast<Method>(i);
      if (method != chosen) of(entry, method).pass_by(best / product.shape.multiplications());
    }
    of(entry, chosen).left = 0;
  });
}

Method choose_method(const ProductClass& product, std::span<Rival> rivals) {
  constexpr double brief = 0.02;     // seconds up to which a look costs little, and estimates err most
  constexpr double long_call = 0.1;  // seconds: no more than two looks
  constexpr double wrong = 3;        // times slower than an estimate that serves for nothing
  constexpr double hopeless_brief = 4, hopeless_long = 1.3;  // times slower than the best
  constexpr double doubtful = 4;  // times slower than its estimate: a busy moment of the machine, unless it lasts
  const bool seen = observes();
  return Table::instance().with(key_of(product), [&](Entry& entry) {
    for (Rival& r : rivals) {
      const History& history = of(entry, r.method);
      const double least = seen ? history.least() * product.shape.multiplications() : 0;
      const bool doubt = r.method == Method::native && least < brief && least > doubtful * r.estimate;
      r.seen = doubt && !history.lasts() ? 0 : least;
    }
    // What neighbours leave of the tile units makes residues and bf16 parts slow alike.
    const auto expected = [&](const Rival& r) {
      double slow = 1;
      for (const Rival& other : rivals)
        if (&other != &r && other.method != Method::native) slow = std::max(slow, other.seen / other.estimate);
      return r.method == Method::native ? r.estimate : slow * r.estimate;
    };
    const auto seconds = [&](const Rival& r) { return r.seen > 0 ? r.seen : expected(r); };
    const Rival& best = *std::min_element(rivals.begin(), rivals.end(),
                                          [&](const Rival& x, const Rival& y) { return seconds(x) < seconds(y); });
    const auto ask = [&](const Rival& r) {
      of(entry, r.method).asked = true;
      return r.method;
    };
    if (best.seen == 0) return ask(best);
    const auto hopeless = [&](const Rival& r) {
      if (best.seen >= brief) return expected(r) >= hopeless_long * best.seen;
      return r.method != Method::native && expected(r) >= hopeless_brief * best.seen;  // rates of a busy moment err
    };
    const auto promising = [&](const Rival& r) {  // a busy moment may have made it slow
      return &r != &best && expected(r) < best.seen && best.seen < long_call && r.seen < wrong * r.estimate &&
             of(entry, r.method).young();
    };
    for (const Rival& r : rivals)
      if (r.seen == 0 ? !hopeless(r) : promising(r)) {
        ++looks_of_thread;
        return ask(r);
      }
    return best.method;
  });
}

std::uint64_t looks_so_far() { return looks_of_thread; }

void forget_observations() { Table::instance().clear(); }

}  // namespace vernier
