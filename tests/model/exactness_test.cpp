// Slices of exact_bits() are summed exactly on the model; one bit more is not, where the engine rounds at all.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "cases.hpp"
#include "model/replay.hpp"
#include "vernier/vernier.hpp"

namespace vernier::model::test::exactness_test {
namespace {

// The largest power of two that brings `most` into the format.
double scale_for(Format format, double most) {
  double scale = 1;
  while (decode(format, encode(format, most * scale)) != most * scale) scale /= 2;
  return scale;
}

// The product of random or extreme integers below 2^bits is exact?
bool is_exact(const Engine& e, int bits, std::int64_t k, int kind, std::mt19937_64& random) {
  const auto n = static_cast<std::size_t>(k);
  std::vector<char> a(n * static_cast<std::size_t>(storage_bytes(e.a))),
      b(n * static_cast<std::size_t>(storage_bytes(e.b)));
  const std::int64_t most = (std::int64_t{1} << bits) - 1;
  const double scale_a = scale_for(e.a, static_cast<double>(most)), scale_b = scale_for(e.b, static_cast<double>(most));
  std::int64_t exact = 0;
  for (std::size_t i = 0; i < n; ++i) {
    std::int64_t x = most, y = most;
    if (kind == 0)
      x = static_cast<std::int64_t>(random() % static_cast<unsigned>(2 * most + 1)) - most,
      y = static_cast<std::int64_t>(random() % static_cast<unsigned>(2 * most + 1)) - most;
    if (kind == 2 && i + 1 == n) x = y = 1;
    if (kind == 4 && i + 1 == n) x = y = 0;
    if (kind == 3 && i % 5 == 4) x = 1, y = -1;
    if (e.a == Format::uint8) x = std::abs(x);
    if (e.b == Format::uint8) y = std::abs(y);
    exact += x * y;
    const std::uint64_t wa = encode(e.a, scale_a * static_cast<double>(x)),
                        wb = encode(e.b, scale_b * static_cast<double>(y));
    EXPECT_EQ(decode(e.a, wa), scale_a * static_cast<double>(x));
    std::memcpy(&a[i * static_cast<std::size_t>(storage_bytes(e.a))], &wa,
                static_cast<std::size_t>(storage_bytes(e.a)));
    std::memcpy(&b[i * static_cast<std::size_t>(storage_bytes(e.b))], &wb,
                static_cast<std::size_t>(storage_bytes(e.b)));
  }
  std::uint64_t c = 0, d = 0;
  multiply(e, {}, 1, 1, k, a.data(), k, b.data(), k, &c, &d, 1);
  return decode(e.c, d) == scale_a * scale_b * static_cast<double>(exact);
}

TEST(Exactness, NothingIsLostWithinTheBits) {
  std::mt19937_64 random(1);
  for (const NamedEngine& named : engines())
    for (const std::int64_t k : {1, 7, 16, 64, 300, 1024, 5000}) {
      const int bits = std::min(exact_bits(named.engine, k), 26);
      for (int kind = 0; kind < 5 && bits > 0; ++kind)
        ASSERT_TRUE(is_exact(named.engine, bits, k, kind, random))
            << named.name << " k " << k << " bits " << bits << " kind " << kind;
    }
}

TEST(Exactness, OneBitMoreIsLostSomewhere) {
  std::mt19937_64 random(2);
  for (const char* name : {"volta-fp16-fp32", "turing-fp16-fp32", "hopper-mma-fp16-fp32", "hopper-wgmma-fp16-fp16",
                           "mma-rn", "block-fma-tc32"})
    for (const std::int64_t k : {64, 1024}) {
      const Engine& e = find_engine(name).engine;
      const int bits = exact_bits(e, k);
      bool lost = false;
      for (int kind = 0; kind < 5; ++kind)
        for (int repeat = 0; repeat < 20; ++repeat) lost = lost || !is_exact(e, bits + 1, k, kind, random);
      EXPECT_TRUE(lost) << name << " k " << k << " bits " << bits;
    }
}

TEST(Exactness, KnownValues) {
  const Engine& hopper = find_engine("hopper-mma-fp16-fp32").engine;
  EXPECT_EQ(exact_bits(hopper, 1), 11);     // the input format
  EXPECT_EQ(exact_bits(hopper, 64), 9);     // 64 * 511^2 < 2^24
  EXPECT_EQ(exact_bits(hopper, 1024), 7);   // 1024 * 127^2 < 2^24 < 1024 * 255^2
  EXPECT_EQ(exact_length(hopper, 8), 258);  // 258 * 255^2 <= 2^24
  EXPECT_EQ(exact_bits(find_engine("nvidia-int8").engine, 133000), 7);
  EXPECT_EQ(exact_bits(find_engine("nvidia-int8").engine, 134000), 6);
  EXPECT_THROW(exact_bits(hopper, 0), Error);
}

}  // namespace
}  // namespace vernier::model::test::exactness_test
