#include "blas/offload/place.hpp"

#include <algorithm>

namespace vernier {
namespace {

// At first a GPU is home only where its estimate is so much shorter than the CPU's, that of a long call less so: it may
// be the only one of its class, and its bytes are known best.
constexpr double clearly_shorter = 2.5, shorter_if_long = 1.5, long_seconds = 0.5;

// A GPU's cautious time beside a good one of the CPU's.
constexpr double margin = 1.15;

constexpr int look_calls = 4, least_look_calls = 2;
constexpr double look_ends = 0.02;      // seconds of a look that tell enough
constexpr double clearly_slower = 1.3;  // ends a look, too
constexpr double brief = 0.02;          // seconds up to which a look costs little, and estimates err most
constexpr double hopeless = 4, hopeless_long = 1.3;

constexpr double cost_of_looks = 0.02;  // of the time at home, at most
constexpr std::uint32_t first_pause = 8, least_pause = 16, longest_pause = 32768, hopeless_pause = 256;

constexpr int most_unsettled = 8;  // in a row

}  // namespace

void PlaceTimes::add(double seconds, double estimate) {
  last_[added_++ % last_.size()] = static_cast<float>(seconds / estimate);
  elapsed_ += seconds;
}

bool PlaceTimes::known() const { return added_ >= look_calls || (added_ >= least_look_calls && elapsed_ >= look_ends); }

double PlaceTimes::at(std::size_t index) const {
  std::array<float, 5> sorted = last_;
  std::sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(count()));
  return sorted[index];
}

double PlaceHistory::middle_of(const PlaceEstimate& estimate, Place place) const {
  return times(place).known() ? times(place).middle() * estimate.of(place) : estimate.of(place);
}

bool PlaceHistory::other_is_faster(const PlaceEstimate& estimate) const {
  const PlaceTimes &cpu = times(Place::cpu), &gpu = times(Place::gpu);
  if (!cpu.known() || !gpu.known()) return false;
  if (home_ == Place::cpu) return margin * gpu.cautious() * estimate.gpu < cpu.good() * estimate.cpu;
  return cpu.middle() * estimate.cpu < gpu.middle() * estimate.gpu;
}

// Only by estimate: what was seen has its pause.
bool PlaceHistory::other_is_hopeless(const PlaceEstimate& estimate) const {
  if (times(other()).known()) return false;
  const double at_home = middle_of(estimate, home_);
  const bool may_be_long = home_ == Place::gpu || at_home < brief;  // nothing is lost to the CPU by looking at it
  return estimate.of(other()) >= (may_be_long ? hopeless : hopeless_long) * at_home;
}

Place PlaceHistory::choose(const PlaceEstimate& estimate) const {
  const double shorter = estimate.cpu < long_seconds ? clearly_shorter : shorter_if_long;
  if (!begun_) return shorter * estimate.gpu < estimate.cpu ? Place::gpu : Place::cpu;
  return looking_ ? other() : home_;
}

Place PlaceHistory::expected(const PlaceEstimate& estimate) const {
  if (times(Place::cpu).known() && times(Place::gpu).known()) return home_;
  return estimate.gpu < estimate.cpu ? Place::gpu : Place::cpu;
}

void PlaceHistory::took(const PlaceEstimate& estimate, Place place, double seconds, bool settled) {
  if (!begun_) begun_ = true, home_ = place;
  if (!settled && unsettled_ < most_unsettled) {
    ++unsettled_;
    return;
  }
  unsettled_ = 0;
  if (place == home_) {
    times(place).add(seconds, estimate.of(place));
    took_at_home(estimate);
  } else {
    if (calls_ == 0) times(place) = {};  // what was seen before the pause is forgotten
    times(place).add(seconds, estimate.of(place));
    looked(estimate, seconds);
  }
}

void PlaceHistory::took_at_home(const PlaceEstimate& estimate) {
  if (looking_ || !times(home_).known()) return;
  if (other_is_faster(estimate)) return move(estimate);
  if (pause_ > 0) {
    --pause_;
  } else if (other_is_hopeless(estimate)) {
    pause_ = hopeless_pause;
  } else {
    looking_ = true;
    calls_ = 0, look_seconds_ = 0;
  }
}

void PlaceHistory::looked(const PlaceEstimate& estimate, double seconds) {
  least_ = calls_ == 0 ? seconds : std::min(least_, seconds);
  ++calls_;
  look_seconds_ += seconds;
  if (calls_ < least_look_calls) return;
  const bool slower = least_ > clearly_slower * middle_of(estimate, home_);
  if (calls_ >= look_calls || look_seconds_ >= look_ends || slower) end_look(estimate);
}

void PlaceHistory::end_look(const PlaceEstimate& estimate) {
  looking_ = false;
  if (other_is_faster(estimate)) return move(estimate);
  pause_ = pause(look_seconds_, calls_, middle_of(estimate, home_));
  ++looks_;
}

// A fiftieth of the calls at home takes as long as a look loses. A CPU that is not hopeless is soon looked at again:
// its first times may be those of a busy moment, and beside the CPU alone nothing is lost.
std::uint32_t PlaceHistory::pause(double look_seconds, int calls, double at_home) const {
  const double lost = std::max(0.0, look_seconds / at_home - calls);
  const auto wanted = static_cast<std::uint32_t>(std::clamp<double>(lost / cost_of_looks, least_pause, longest_pause));
  if (home_ == Place::cpu || look_seconds >= hopeless * at_home * calls) return wanted;
  return std::min(wanted, first_pause << std::min(looks_, 12));
}

void PlaceHistory::move(const PlaceEstimate& estimate) {
  home_ = other();
  looking_ = false;
  calls_ = looks_ = 0;
  pause_ = pause(least_look_calls * middle_of(estimate, other()), least_look_calls, middle_of(estimate, home_));
}

}  // namespace vernier
