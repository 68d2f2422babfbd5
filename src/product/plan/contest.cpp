#include "product/plan/contest.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace vernier {
namespace {

// Threads of two pools keep one another from the processors for some milliseconds after a change between methods.
constexpr double settling = 0.01;  // seconds
constexpr std::uint32_t least_calls = 2, most_calls = 32;

// A look ends early where its method takes so much longer than home.
constexpr std::uint32_t losing_calls = 6;
constexpr double losing_seconds = 0.005, losing = 1.5;

// A method not seen yet is not looked at where its estimate is so many times what home takes. Rates of a busy moment
// err: for a brief product only ratios beyond 4 are hopeless, and the native one is always looked at.
constexpr double brief = 0.02;  // seconds
constexpr double hopeless_brief = 4, hopeless_long = 1.3;

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
constexpr std::uint32_t hurry = 4;

const Rival* find(std::span<const Rival> rivals, Method m) {
  const auto found = std::find_if(rivals.begin(), rivals.end(), [&](const Rival& r) { return r.method == m; });
  return found == rivals.end() ? nullptr : &*found;
}

}  // namespace

void Run::add(double seconds, double share) {
  const bool falls = calls_ > 0 && share < 0.75 * this->share(3);
  last_[calls_++ % last_.size()] = static_cast<float>(share);
  quickest_ = calls_ == 1 ? seconds : std::min(quickest_, seconds);
  seconds_ += seconds;
  tells_ |= calls_ >= most_calls || (calls_ >= least_calls && !falls && quickest_ * calls_ >= settling);
}

double Run::share(std::size_t most) const {
  const std::size_t n = std::min<std::size_t>({calls_, most, last_.size()});
  if (n == 0) return 0;
  std::array<float, 8> some;
  for (std::size_t i = 0; i < n; ++i) some[i] = last_[(calls_ - 1 - i) % last_.size()];
  std::sort(some.begin(), some.begin() + static_cast<std::ptrdiff_t>(n));
  return some[(n - 1) / 4];
}

// Its middle; of an even number: the one that speaks for the native product.
void Contest::Beside::add(double ratio, bool native) {
  ratios[looks++ % ratios.size()] = static_cast<float>(ratio);
  std::array<float, 5> some = ratios;
  const std::size_t n = std::min<std::size_t>(looks, some.size());
  std::sort(some.begin(), some.begin() + static_cast<std::ptrdiff_t>(n));
  middle = some[native ? (n - 1) / 2 : n / 2];
}

// By ratios to another home, whose middle is `home`.
void Contest::Beside::divide(float home) {
  for (float& x : ratios) x /= home;
  middle /= home;
}

Contest::Beside Contest::Beside::inverted() const {
  Beside home = *this;
  for (float& x : home.ratios) x = x > 0 ? 1 / x : 0;
  home.middle = 1 / middle;
  return home;
}

double Contest::Beside::least() const {
  return *std::min_element(ratios.begin(), ratios.begin() + std::min<std::ptrdiff_t>(looks, std::ssize(ratios)));
}

double Contest::level(Method m) const { return m == home_ ? home_share_ : beside(m).middle * home_share_; }

double Contest::seen(const Rival& rival) const { return level(rival.method) * rival.estimate; }

// What neighbours leave of the tile units makes residues and bf16 parts slow alike.
double Contest::expected(std::span<const Rival> rivals, const Rival& rival) const {
  if (const double known = seen(rival); known > 0) return known;
  double slow = 1;
  if (rival.method != Method::native)
    for (const Rival& other : rivals)
      if (other.method != Method::native) slow = std::max(slow, level(other.method));
  return slow * rival.estimate;
}

// Of those that were seen, if any was.
Method Contest::best(std::span<const Rival> rivals) const {
  const bool any = std::any_of(rivals.begin(), rivals.end(), [&](const Rival& r) { return seen(r) > 0; });
  double least = std::numeric_limits<double>::infinity();
  Method best = Method::native;
  for (const Rival& r : rivals) {
    if (any && seen(r) == 0) continue;
    const double factor = any && r.method != home_ && r.method != Method::native ? margin : 1;
    if (const double seconds = factor * expected(rivals, r); seconds < least) least = seconds, best = r.method;
  }
  return best;
}

bool Contest::hopeless(std::span<const Rival> rivals, const Rival& rival) const {
  if (beside(rival.method).looks > 0) return false;
  const Rival* home = find(rivals, home_);
  if (home == nullptr) return true;
  const double at_home = seen(*home), other = expected(rivals, rival);
  if (at_home >= brief) return other >= hopeless_long * at_home;
  return rival.method != Method::native && other >= hopeless_brief * at_home;
}

Contest::Choice Contest::choose(std::span<const Rival> rivals) const {
  const Rival* rival = looking_ ? find(rivals, looked_at_) : nullptr;
  if (rival != nullptr && !hopeless(rivals, *rival)) return {looked_at_, true};
  return {best(rivals)};
}

void Contest::took(std::span<const Rival> rivals, Method method, double seconds) {
  const Rival* rival = find(rivals, method);
  if (rival == nullptr) return;
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
  if (looking_ && find(rivals, looked_at_) == nullptr) looking_ = false;
  if (!looking_) pause_or_look(rivals);
}

void Contest::move(Method m) {
  Beside known = beside(m).inverted();
  const float ratio = beside(m).middle;
  for (Beside& other : beside_) other.divide(ratio);
  const double most = known.looks < first_looks ? least_soon : home_ == Method::native ? pause_if_near : usual_pause;
  known.pause = std::min(known.pause, static_cast<std::uint32_t>(most));
  beside(home_) = known;
  beside(m) = {};
  home_ = m;
  home_share_ = beside_home_ = run(m).share();
}

void Contest::pause_or_look(std::span<const Rival> rivals) {
  const std::uint32_t step = home_share_ > changed * beside_home_ ? hurry : 1;
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
  beside(rival.method).pause = pause(rival, at_home);
  beside_home_ = share;
  looking_ = false;
}

// After a look.
std::uint32_t Contest::pause(const Rival& rival, double at_home) const {
  const Run& own = run(rival.method);
  const Beside& other = beside(rival.method);
  const bool native = rival.method == Method::native;
  const double lost = std::max(0.0, own.seconds() - own.calls() * at_home), lost_calls = lost / at_home;
  const bool is_near = seen(rival) < near * at_home || (native && lost < little);
  const bool is_clear = other.looks > 1 && other.least() * rival.estimate * home_share_ > clear * at_home;
  const bool contradicts = own.share() * rival.estimate < at_home && seen(rival) >= at_home;
  const auto calls = [&] {
    if (contradicts || (other.looks < first_looks && is_near && !is_clear))
      return std::clamp(soon / at_home, least_soon, most_soon);
    if (other.looks < first_looks && !is_clear) return std::max(least_soon, lost_calls / cost_of_first_looks);
    const double rare = native && is_near ? pause_if_near : usual_pause * std::exp2(std::min(other.looks, 9U));
    return std::max(rare, lost_calls / cost_of_looks);
  };
  return static_cast<std::uint32_t>(std::min(calls(), longest_pause));
}

}  // namespace vernier
