#include "product/plan/observed_times.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "base/variable.hpp"
#include "product/plan/class_table.hpp"

namespace vernier {
namespace {

// Threads of two pools keep one another from the processors for some milliseconds after a change between methods.
constexpr double settling = 0.01;  // seconds
constexpr std::uint32_t least_calls = 2, most_calls = 32;

// A look ends early where its method takes so much longer than home.
constexpr std::uint32_t losing_calls = 6;
constexpr double losing_seconds = 0.005, losing = 1.5;

// A method not seen yet is not looked at where its estimate is so many times what home takes. Rates of a busy moment
// err, and rates of another BLAS: for a brief product only ratios beyond 4 are hopeless, and the native one is always
// looked at; beside a long one it is once what that should cost is a twentieth of all that home took.
constexpr double brief = 0.02;  // seconds
constexpr double hopeless_brief = 4, hopeless_long = 1.3, cost_of_blind_look = 0.05;

// A method that is neither home nor native has to be so much faster than home; the native one has to be faster.
constexpr double margin = 1.08;

// The first three looks follow one another soon where the ratio is near 1 or the native product loses little; no third
// one where two are clear. Later looks take 2 % of all time, earlier ones a tenth, and are twice as rare each time but
// where the native product is near. A look that contradicts those before is repeated soon.
constexpr std::uint32_t first_looks = 3;
constexpr double near = 1.5, clear = 1.3;
constexpr double soon = 0.02, little = 0.03;  // seconds
constexpr double cost_of_first_looks = 0.1, cost_of_looks = 0.02;
constexpr double least_soon = 8, most_soon = 64, pause_if_near = 32, usual_pause = 64, longest_pause = 32768;  // calls

// Home takes so much more than it did beside its rivals: pauses count so much faster.
constexpr double changed = 1.25;
constexpr std::uint32_t hurry = 4, most_spared = 15;

// Ratios of a class may not be those of a shape that comes on end for so long: the native product is looked at anew.
constexpr double on_end = 0.1;  // seconds

const Rival* find(std::span<const Rival> rivals, Method m) {
  const auto found = std::find_if(rivals.begin(), rivals.end(), [&](const Rival& r) { return r.method == m; });
  return found == rivals.end() ? nullptr : &*found;
}

// Calls of one method in a row, or at home: what each took, as a share of its estimate.
class Run {
 public:
  void add(double seconds, double share) {
    const bool falls = calls_ > 0 && share < 0.75 * this->share(3);
    last_[calls_++ % last_.size()] = static_cast<float>(share);
    quickest_ = calls_ == 1 ? seconds : std::min(quickest_, seconds);
    seconds_ += seconds;
    tells_ |= calls_ >= most_calls || (calls_ >= least_calls && !falls && quickest_ * calls_ >= settling);
  }
  // The first calls pay for memory, and for threads of the method before that spin still: two calls that take ten
  // milliseconds together at their best, the last of which was not much faster than those before, or 32.
  bool tells() const { return tells_; }
  std::uint32_t calls() const { return calls_; }
  double seconds() const { return seconds_; }
  // Of so many at the end: the median.
  double share(std::size_t most = 8) const {
    const std::size_t n = std::min<std::size_t>({calls_, most, last_.size()});
    std::array<float, 8> some{};
    for (std::size_t i = 0; i < n; ++i) some[i] = last_[(calls_ - 1 - i) % last_.size()];
    std::sort(some.begin(), some.begin() + static_cast<std::ptrdiff_t>(n));
    return n == 0 ? 0 : some[(n - 1) / 2];
  }

 private:
  std::array<float, 8> last_{};
  std::uint32_t calls_ = 0;
  double quickest_ = 0, seconds_ = 0;  // the least; all
  bool tells_ = false;
};

// A method beside home: the ratio of their shares in each look.
struct Beside {
  std::array<float, 5> ratios{};
  std::uint32_t looks = 0, pause = 0;  // calls at home before the next look
  float middle = 0;                    // of the ratios; of an even number the one that speaks for the native product

  void add(double ratio, bool native) {
    ratios[looks++ % ratios.size()] = static_cast<float>(ratio);
    std::array<float, 5> some = ratios;
    const std::size_t n = std::min<std::size_t>(looks, some.size());
    std::sort(some.begin(), some.begin() + static_cast<std::ptrdiff_t>(n));
    middle = some[native ? (n - 1) / 2 : n / 2];
  }
};

// Of one class. choose() tells the same until took() follows a call.
class Contest {
 public:
  // Seconds, or 0: not known.
  double seen(const Rival& r) const {
    return home_share_ * r.estimate * (r.method == home_ ? 1 : beside(r.method).middle);
  }
  bool looks_at(Method m) const { return looking_ && m == looked_at_; }
  Method choose(std::span<const Rival> rivals) const {
    const Rival* rival = looking_ ? find(rivals, looked_at_) : nullptr;
    return rival != nullptr && !hopeless(rivals, *rival) ? looked_at_ : best(rivals);
  }
  void took(std::span<const Rival> rivals, Method method, double seconds, std::uint32_t unseen);
  std::uint32_t spare(std::span<const Rival> rivals) const {
    std::uint32_t calls = begun_ && home_ == Method::native && !looking_ ? most_spared : 0;
    for (const Rival& r : rivals)
      if (r.method != home_ && !hopeless(rivals, r)) calls = std::min(calls, beside(r.method).pause / 2);
    return calls;
  }

 private:
  Run& run(Method m) { return runs_[static_cast<std::size_t>(m)]; }
  const Run& run(Method m) const { return runs_[static_cast<std::size_t>(m)]; }
  Beside& beside(Method m) { return beside_[static_cast<std::size_t>(m)]; }
  const Beside& beside(Method m) const { return beside_[static_cast<std::size_t>(m)]; }

  double expected(const Rival& rival) const;
  bool hopeless(std::span<const Rival> rivals, const Rival& rival) const;
  Method best(std::span<const Rival> rivals) const;
  void move(Method m);
  void pause_or_look(std::span<const Rival> rivals, std::uint32_t calls);
  void looked(std::span<const Rival> rivals, const Rival& rival);
  double pause(const Rival& rival, double at_home) const;

  std::array<Run, method_count> runs_;
  std::array<Beside, method_count> beside_;
  Method home_ = Method::native, looked_at_ = Method::native;
  bool begun_ = false, looking_ = false;
  double home_share_ = 0, beside_home_ = 0;  // home's share by now, and at the last look
  // The last shape, by its first estimate; seconds of it on end at home; that of the last look at the native product.
  double shape_ = 0, on_end_ = 0, looked_shape_ = 0;
};

// What neighbours leave of the tile units makes residues and bf16 parts slow alike.
double Contest::expected(const Rival& rival) const {
  if (const double known = seen(rival); known > 0) return known;
  const double slow = std::max(seen({Method::residues, 1}), seen({Method::bf16x6, 1}));
  const bool tiles = rival.method == Method::residues || rival.method == Method::bf16x6;
  return tiles ? std::max(1.0, slow) * rival.estimate : rival.estimate;
}

// Of those that were seen, if any was.
Method Contest::best(std::span<const Rival> rivals) const {
  const bool any = std::any_of(rivals.begin(), rivals.end(), [&](const Rival& r) { return seen(r) > 0; });
  double least = std::numeric_limits<double>::infinity();
  Method best = Method::native;
  for (const Rival& r : rivals) {
    if (any && seen(r) == 0) continue;
    const double factor = any && r.method != home_ && r.method != Method::native ? margin : 1;
    if (const double seconds = factor * expected(r); seconds < least) least = seconds, best = r.method;
  }
  return best;
}

bool Contest::hopeless(std::span<const Rival> rivals, const Rival& rival) const {
  const Rival* home = find(rivals, home_);
  if (beside(rival.method).looks > 0 || home == nullptr) return false;
  const double at_home = seen(*home), other = expected(rival);
  const bool native = rival.method == Method::native;
  if (at_home < brief) return !native && other >= hopeless_brief * at_home;
  const bool cheap = native && least_calls * (other - at_home) <= cost_of_blind_look * run(home_).seconds();
  return other >= hopeless_long * at_home && !cheap;
}

void Contest::took(std::span<const Rival> rivals, Method method, double seconds, std::uint32_t unseen) {
  const Rival* rival = find(rivals, method);
  if (rival == nullptr || !(seconds > 0)) return;
  run(method).add(seconds, seconds / rival->estimate);
  if (!begun_) {
    if (!run(method).tells()) return;
    begun_ = true, home_ = method;
    beside_home_ = run(method).share();
  }
  if (looking_ && method == looked_at_) return looked(rivals, *rival);
  if (method != home_) {  // best for this shape
    if (looking_ || beside(method).looks == 0) return;
    move(method);
  }
  home_share_ = run(home_).share();
  const double shape = rivals.front().estimate;
  on_end_ = std::exchange(shape_, shape) == shape ? on_end_ + seconds : 0;
  Beside& native = beside(Method::native);
  if (home_ != Method::native && shape != looked_shape_ && on_end_ >= on_end &&
      least_calls * (native.middle - 1) * seconds <= cost_of_blind_look * on_end_)
    looked_shape_ = shape, native.looks = native.pause = 0;
  if (looking_ && find(rivals, looked_at_) == nullptr) looking_ = false;
  if (!looking_) pause_or_look(rivals, 1 + unseen);
}

void Contest::move(Method m) {
  const Beside known = beside(m);
  for (Beside& other : beside_) {
    for (float& x : other.ratios) x /= known.middle;
    other.middle /= known.middle;
  }
  Beside& before = beside(home_) = known;
  for (float& x : before.ratios) x = x > 0 ? 1 / x : 0;  // programs trap divisions by 0
  before.middle = 1 / known.middle;
  const double most = known.looks < first_looks ? least_soon : home_ == Method::native ? pause_if_near : usual_pause;
  before.pause = std::min(known.pause, static_cast<std::uint32_t>(most));
  beside(m) = {};
  home_ = m;
  home_share_ = beside_home_ = run(m).share();
}

void Contest::pause_or_look(std::span<const Rival> rivals, std::uint32_t calls) {
  const std::uint32_t step = home_share_ > changed * beside_home_ ? hurry * calls : calls;
  for (const Rival& r : rivals) {
    if (r.method == home_) continue;
    Beside& other = beside(r.method);
    other.pause -= std::min(other.pause, step);
    if (looking_ || other.pause > 0 || hopeless(rivals, r)) continue;
    looking_ = true, looked_at_ = r.method;
    run(r.method) = {};
  }
}

void Contest::looked(std::span<const Rival> rivals, const Rival& rival) {
  const Run& own = run(rival.method);
  const Rival* home = find(rivals, home_);
  const double share = run(home_).share(own.calls()),
               at_home = home != nullptr ? share * home->estimate : own.seconds() / own.calls();
  const bool loses =
      own.calls() >= losing_calls && own.seconds() >= losing_seconds && own.share() * rival.estimate > losing * at_home;
  if (!own.tells() && !loses) return;
  beside(rival.method).add(own.share() / share, rival.method == Method::native);
  beside(rival.method).pause = static_cast<std::uint32_t>(std::min(pause(rival, at_home), longest_pause));
  beside_home_ = share;
  looking_ = false;
  if (rival.method == Method::native) looked_shape_ = rivals.front().estimate;
}

// Calls at home after a look.
double Contest::pause(const Rival& rival, double at_home) const {
  const Run& own = run(rival.method);
  const std::uint32_t looks = beside(rival.method).looks;
  const bool native = rival.method == Method::native;
  const double lost = std::max(0.0, own.seconds() - own.calls() * at_home), lost_calls = lost / at_home;
  const bool is_near = seen(rival) < near * at_home || (native && lost < little);
  const bool contradicts = own.share() * rival.estimate < at_home && seen(rival) >= at_home;
  const bool is_open = looks < 2 || (looks < first_looks && seen(rival) < clear * at_home);
  if (contradicts || (is_open && is_near)) return std::clamp(soon / at_home, least_soon, most_soon);
  if (is_open) return std::max(least_soon, lost_calls / cost_of_first_looks);
  const double rare = native && is_near ? pause_if_near : usual_pause * std::exp2(std::min(looks, 9U));
  return std::max(rare, lost_calls / cost_of_looks);
}

using Table = ClassTable<Contest>;

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
  if (!observes()) return Contest{}.choose(rivals);
  return Table::instance().with(key_of(product), [&](const Contest& contest) {
    for (Rival& r : rivals) r.seen = contest.seen(r);
    const Method method = contest.choose(rivals);
    if (contest.looks_at(method)) ++looks_so_far;
    return method;
  });
}

void observe(const ProductClass& product, std::span<const Rival> rivals, Method taken, double seconds) {
  calls_to_spare = Table::instance().with(key_of(product), [&](Contest& contest) {
    contest.took(rivals, taken, seconds, std::exchange(calls_spared, 0));
    return contest.spare(rivals);
  });
}

void forget_observations() { Table::instance().clear(); }

}  // namespace vernier
