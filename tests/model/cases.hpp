// Stratified random operands for tests of the engine model: what normal or uniform data never reach.
#pragma once

#include <random>
#include <vector>

#include "model/spec.hpp"

namespace vernier::model::test {

enum class Stratum { cluster, cancelling, zero_heavy, subnormal, specials, uniform, near_overflow, near_floor };
inline constexpr int strata = 8;

class Cases {
 public:
  explicit Cases(unsigned seed) : random_(seed) {}

  // One number of the format around the exponent.
  std::uint64_t number(Format format, Stratum stratum, int exponent, int width) {
    if (is_integer(format)) return stratum == Stratum::zero_heavy && draw(4) != 0 ? 0 : random_() & 0xff;
    const FloatShape s = shape_of(format);
    const std::uint64_t mask = s.bits() == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << s.bits()) - 1;
    const std::uint64_t sign = draw(2) != 0 ? s.sign_bit() : 0;
    std::uint64_t fraction = random_() & ((std::uint64_t{1} << s.fraction_bits) - 1);
    if (draw(4) == 0) fraction = 0;
    if (stratum == Stratum::uniform) return (random_() & mask) << s.ignored_bits;
    if (stratum == Stratum::zero_heavy && draw(4) != 0) return sign << s.ignored_bits;
    if (stratum == Stratum::specials && draw(16) == 0)
      return (sign | s.infinity() | (draw(2) != 0 ? fraction : 0)) << s.ignored_bits;
    if (stratum == Stratum::subnormal && draw(2) != 0) return (sign | fraction) << s.ignored_bits;
    if (stratum == Stratum::near_overflow) exponent = s.emax() / 2;
    if (stratum == Stratum::near_floor) exponent = -64;
    int field = exponent + static_cast<int>(draw(static_cast<unsigned>(width) + 1)) - width / 2 - s.emin() + 1;
    field = std::min(std::max(field, 0), s.emax() - s.emin() + 1);
    return (sign | static_cast<std::uint64_t>(field) << s.fraction_bits | fraction) << s.ignored_bits;
  }

  struct Dot {
    std::vector<std::uint64_t> a, b;
    std::uint64_t c = 0;
  };
  Dot dot(const Engine& e, Stratum stratum) {
    const int width = 1 << draw(6);
    const int ea = static_cast<int>(draw(13)) - 6, eb = static_cast<int>(draw(13)) - 6;
    Dot d;
    for (int i = 0; i < e.k; ++i) {
      d.a.push_back(number(e.a, stratum, ea, width));
      d.b.push_back(number(e.b, stratum, eb, width));
      if (stratum == Stratum::cancelling && i % 2 != 0) {
        d.a[i] = d.a[i - 1] ^ (is_integer(e.a) ? 0 : shape_of(e.a).sign_bit() << shape_of(e.a).ignored_bits);
        d.b[i] = d.b[i - 1] ^ (draw(4) == 0 ? std::uint64_t{1} << shape_of(e.b).ignored_bits : 0);
      }
    }
    if (e.sum == Sum::integer)
      d.c = random_() & 0xffffffff;
    else if (draw(4) != 0)
      d.c = number(e.c, stratum, ea + eb + static_cast<int>(draw(61)) - 30, width);
    return d;
  }

  unsigned draw(unsigned n) { return static_cast<unsigned>(random_() % n); }

 private:
  std::mt19937_64 random_;
};

// Results of the description that differ from the engine's, on every kind of data.
inline int differences(const Engine& engine, const Engine& found, unsigned seed, int cases) {
  Cases random(seed);
  int different = 0;
  for (int s = 0; s < strata; ++s)
    for (int i = 0; i < cases; ++i) {
      const auto x = random.dot(engine, static_cast<Stratum>(s));
      different += dot(engine, x.a.data(), x.b.data(), x.c) != dot(found, x.a.data(), x.b.data(), x.c);
    }
  return different;
}

}  // namespace vernier::model::test
