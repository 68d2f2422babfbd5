// Random tiles in strata that normal or uniform data never reach.
#pragma once

#include <algorithm>
#include <cstdint>

#include "model/hardware/processor.hpp"
#include "model/spec.hpp"

namespace vernier::model::cpu {

enum Stratum : int {
  cluster,
  cancelling,
  zero_heavy,
  subnormal,
  near_floor,
  specials,
  powers,
  uniform,
  near_overflow,
  cancels_c,
  strata,
};

class Random {  // splitmix64
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t operator()() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  int between(int low, int high) { return low + static_cast<int>((*this)() % static_cast<unsigned>(high - low + 1)); }

 private:
  std::uint64_t state_;
};

// One number of the shape with an exponent around the centre.
inline std::uint32_t make_number(const FloatShape& s, int stratum, int centre, int width, Random& random) {
  const std::uint64_t r = random();
  const auto t = static_cast<std::uint32_t>(r >> 32);
  const std::uint32_t mask = (1u << s.fraction_bits) - 1;
  const auto sign = static_cast<std::uint32_t>((r & 1) != 0 ? s.sign_bit() : 0);
  std::uint32_t fraction = static_cast<std::uint32_t>(r >> 1) & mask;
  int exponent = centre - width / 2 + static_cast<int>(t % static_cast<unsigned>(width + 1));
  if (stratum == uniform) return static_cast<std::uint32_t>(r >> 8 & (2 * s.sign_bit() - 1));
  if (stratum == zero_heavy && (t >> 24) % 4 != 0) return sign;
  if (stratum == specials && (t >> 24) % 48 == 0)
    return sign | static_cast<std::uint32_t>(s.infinity()) | ((t >> 20 & 1) != 0 ? fraction : 0);
  if (stratum == subnormal && (t >> 24 & 1) != 0) exponent = s.emin() - 1;
  if (stratum == powers && (t >> 24 & 7) != 0) fraction = 0;
  if ((t >> 28 & 7) == 0) fraction = mask ^ (t >> 27 & 1);  // long carries
  const int field = std::clamp(exponent - s.emin() + 1, 0, s.emax() - s.emin() + 1);
  return sign | static_cast<std::uint32_t>(field) << s.fraction_bits | fraction;
}

// Products in turn of opposite sign, now and then a last bit apart: the words of A's rows and the rows of B, or (pairs
// that stand alone) the two halves of each word.
inline void cancel(std::uint16_t* a, std::uint16_t* b, bool tile, Random& random) {
  for (int i = 0; i < 512; ++i) {
    if ((tile ? i / 2 : i) % 2 != 0)
      a[i] = static_cast<std::uint16_t>(a[tile ? i - 2 : i - 1] ^ 0x8000 ^ (random() % 4 == 0 ? 1 : 0));
    if ((tile ? i / 32 : i) % 2 != 0) b[i] = b[tile ? i - 32 : i - 1];
  }
}

// A and B hold fp16 or bf16: tiles, or 256 pairs that stand alone.
inline int fill_floats(Tiles& t, Format format, bool tile, Random& random) {
  const FloatShape shape = shape_of(format);
  const int stratum = random.between(0, strata - 1);
  const int width = 1 << random.between(0, 5);
  const int most = std::min(60, shape.emax());
  int ea = random.between(-most, most), eb = random.between(-most, most);
  if (stratum == near_floor || stratum == subnormal)
    eb = std::max(-126 - ea, 2 * shape.emin()) + random.between(-30, 30);
  if (stratum == near_overflow) eb = 127 - ea;
  auto* a = reinterpret_cast<std::uint16_t*>(t.a);
  auto* b = reinterpret_cast<std::uint16_t*>(t.b);
  for (int i = 0; i < 512; ++i) {
    a[i] = static_cast<std::uint16_t>(make_number(shape, stratum, ea, width, random));
    b[i] = static_cast<std::uint16_t>(make_number(shape, stratum, eb, width, random));
  }
  if (stratum == cancelling) cancel(a, b, tile, random);
  const int ec = ea + eb + random.between(-30, 30);
  for (auto& c : t.c) c = random() % 8 == 0 ? 0 : make_number(shape_of(Format::fp32), stratum, ec, width, random);
  return stratum;
}

inline int fill_integers(Tiles& t, Random& random) {
  constexpr int kinds[4] = {uniform, zero_heavy, near_overflow, powers};
  const int stratum = kinds[random() % 4];
  const auto byte = [&] {
    const std::uint64_t r = random();
    const auto any = static_cast<std::uint8_t>(r >> 8);
    if (stratum == zero_heavy && r % 4 != 0) return std::uint8_t{0};
    if (stratum == near_overflow && r % 4 != 0)
      return static_cast<std::uint8_t>(r >> 20 & 1 ? 0x80 : r >> 21 & 1 ? 0x7f : 0xff);
    return stratum == powers ? static_cast<std::uint8_t>(1u << any % 8) : any;
  };
  for (auto& a : t.a) a = byte();
  for (auto& b : t.b) b = byte();
  for (auto& c : t.c)
    c = stratum == near_overflow ? 0x7fffffffu + static_cast<std::uint32_t>(random.between(-4000000, 4000000))
                                 : static_cast<std::uint32_t>(random());
  return stratum;
}

}  // namespace vernier::model::cpu
