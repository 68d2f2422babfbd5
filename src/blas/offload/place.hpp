// The CPU or a GPU for matrices of the host, where the choice is free: by what calls of a class took on both.
//
// One side is home; the other is looked at now and then, a few calls in a row. It is left for the other where that is
// faster beyond what the CPU's own times are apart: a tie, or noise, is the CPU's. The CPU is home first, so that its
// time is known, but where the estimate for a GPU is a fraction of its.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace vernier {

enum class Place : std::uint8_t { cpu, gpu };

// In seconds. Times count beside these, so that they serve other shapes of their class.
struct PlaceEstimate {
  double cpu = 0, gpu = 0;

  double of(Place place) const { return place == Place::cpu ? cpu : gpu; }
};

// The last times of one side, each a multiple of its estimate.
class PlaceTimes {
 public:
  void add(double seconds, double estimate);
  bool known() const;  // the first calls pay for memory, and for threads that have to wake up
  double good() const { return at(count() / 4); }
  double middle() const { return at((count() - 1) / 2); }
  double cautious() const { return at(count() < 3 ? 0 : count() / 2); }

 private:
  std::size_t count() const { return added_ < last_.size() ? added_ : last_.size(); }
  double at(std::size_t index) const;  // in order, the least first

  std::array<float, 5> last_{};
  std::size_t added_ = 0;
  double elapsed_ = 0;
};

// What is known of a class. took() follows a call; choose() may be asked without one.
class PlaceHistory {
 public:
  Place choose(const PlaceEstimate& estimate) const;
  Place expected(const PlaceEstimate& estimate) const;  // in the long run, for who asks once
  // settled: false where the CPU was trying methods of its own; such times count only where there are no others.
  void took(const PlaceEstimate& estimate, Place place, double seconds, bool settled);

 private:
  PlaceTimes& times(Place place) { return times_[static_cast<std::size_t>(place)]; }
  const PlaceTimes& times(Place place) const { return times_[static_cast<std::size_t>(place)]; }
  Place other() const { return home_ == Place::cpu ? Place::gpu : Place::cpu; }
  double middle_of(const PlaceEstimate& estimate, Place place) const;  // the estimate where nothing is known
  bool other_is_faster(const PlaceEstimate& estimate) const;
  bool other_is_hopeless(const PlaceEstimate& estimate) const;
  void took_at_home(const PlaceEstimate& estimate);
  void looked(const PlaceEstimate& estimate, double seconds);
  void end_look(const PlaceEstimate& estimate);
  std::uint32_t pause(double look_seconds, int calls, double at_home) const;
  void move(const PlaceEstimate& estimate);

  std::array<PlaceTimes, 2> times_;
  Place home_ = Place::cpu;
  bool begun_ = false, looking_ = false;
  std::uint32_t pause_ = 0;  // calls at home before the next look
  int looks_ = 0, calls_ = 0, unsettled_ = 0;
  double look_seconds_ = 0, least_ = 0;  // of this look
};

}  // namespace vernier
