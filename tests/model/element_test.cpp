// The scalar model against an oracle written apart from it, in floating point.
#include <gtest/gtest.h>
#include <immintrin.h>

#include <algorithm>
#include <cmath>

#include "cases.hpp"
#include "model/element.hpp"
#include "model/spec.hpp"

namespace vernier::model::test::element_test {
namespace {

// Exponent with which a value counts: that of its unnormalised form.
int exponent_of(Format format, std::uint64_t word) {
  const double x = std::fabs(decode(format, word));
  return std::max(x == 0 ? -10000 : std::ilogb(x), shape_of(format).emin());
}

double toward_zero_float(double x, int fraction_bits) {
  if (x == 0 || std::isinf(x)) return x;
  const int e = std::max(std::ilogb(x), -126);
  const double unit = std::ldexp(1.0, e - fraction_bits);
  const double cut = std::trunc(x / unit) * unit;
  return std::fabs(cut) >= std::ldexp(1.0, 128) ? std::copysign(INFINITY, cut) : cut;
}

double nearest_half(double x) {
  if (x == 0) return 0;
  const double unit = std::ldexp(1.0, std::max(std::ilogb(x), -14) - 10);
  const double r = std::nearbyint(x / unit) * unit;
  return std::fabs(r) >= 65536 ? std::copysign(INFINITY, r) : r;
}

// The rule of docs/engines.md for one block, with doubles that hold every intermediate value.
double block_oracle(const Engine& e, const Cases::Dot& x, int first, int count, int step, double c, int c_exponent) {
  double special = c;
  int e_max = c == 0 ? e.zero_exponent : c_exponent;
  for (int t = 0; t < count; ++t) {
    const int i = block_index(e, step, first, t);
    const double p = decode(e.a, x.a[i]) * decode(e.b, x.b[i]);
    if (!std::isfinite(p)) {
      special += p;
      continue;
    }
    e_max = std::max(e_max, p == 0 ? e.zero_exponent : exponent_of(e.a, x.a[i]) + exponent_of(e.b, x.b[i]));
  }
  if (!std::isfinite(special)) return special;
  const double unit = std::ldexp(1.0, e_max - e.fraction_bits);
  double sum = std::trunc(c / unit);
  for (int t = 0; t < count; ++t) {
    const int i = block_index(e, step, first, t);
    sum += std::trunc(decode(e.a, x.a[i]) * decode(e.b, x.b[i]) / unit);
  }
  return e.c == Format::fp16 ? nearest_half(sum * unit) : toward_zero_float(sum * unit, e.output_fraction_bits);
}

double dot_oracle(const Engine& e, const Cases::Dot& x) {
  const int blocks = e.k / e.block;
  const double c = decode(e.c, x.c);
  double d = e.join == Join::first ? c : 0;
  int exponent = e.join == Join::first ? exponent_of(e.c, x.c) : 0;
  for (int q = 0; q < blocks; ++q) {
    d = block_oracle(e, x, q, e.block, blocks, d, exponent);
    exponent = d == 0 || !std::isfinite(d) ? 0 : std::max(std::ilogb(d), shape_of(e.c).emin());
  }
  if (e.join == Join::first) return d;
  if (e.c != Format::fp16) return static_cast<double>(static_cast<float>(d) + static_cast<float>(c));
  return std::isfinite(d + c) ? nearest_half(d + c) : d + c;
}

// The model runs in the compiler too, which refuses undefined shifts.
constexpr std::uint64_t of_zeros(const Engine& e) {  // whose exponents lie far above that of zeros
  const std::uint64_t a[32] = {}, b[32] = {};
  return element<32>(e, a, b, 0);
}
static_assert(of_zeros(fp8_engine(Format::e4m3, Format::fp16, 32, 32, -133)) == 0);

// 2^23 - 2^23 - 0.5 - 0.25 - 0.125, the fingerprint of a generation.
constexpr std::uint64_t fingerprint(const Engine& e) {
  const std::uint64_t a[16] = {0x6800, 0xe800, 0xb800, 0xb400, 0xb000},
                      b[16] = {0x6c00, 0x6c00, 0x3c00, 0x3c00, 0x3c00};
  return element<16>(e, a, b, 0);
}
static_assert(fingerprint(block_engine(Format::fp16, Format::fp32, 16, 16, 25, -133)) == 0xbf400000);  // -0.75, Hopper
static_assert(fingerprint(block_engine(Format::fp16, Format::fp32, 16, 8, 24, -132)) == 0xbf000000);   // -0.5, Ampere
static_assert(fingerprint(block_engine(Format::fp16, Format::fp32, 8, 8, 24, -132)) == 0xbf000000);    // -0.5, Turing
static_assert(fingerprint(block_engine(Format::fp16, Format::fp32, 4, 4, 23, -131)) == 0);             // Volta

TEST(ModelElement, BlocksEqualTheOracle) {
  Cases cases(1);
  for (const NamedEngine& named : engines()) {
    const Engine& e = named.engine;
    if (e.sum != Sum::block || e.fraction_bits == exact_alignment) continue;
    for (int s = 0; s < strata; ++s)
      for (int i = 0; i < 1500; ++i) {
        const auto x = cases.dot(e, static_cast<Stratum>(s));
        const std::uint64_t d = dot(e, x.a.data(), x.b.data(), x.c);
        const double want = dot_oracle(e, x);
        if (std::isnan(want))
          ASSERT_EQ(d, e.nan) << named.name << " stratum " << s << " case " << i;
        else
          ASSERT_EQ(decode(e.c, d), want) << named.name << " stratum " << s << " case " << i;
      }
  }
}

TEST(ModelElement, DoubleChainsAreFusedMultiplyAdds) {
  Cases cases(2);
  const Engine& e = find_engine("hopper-fp64").engine;
  for (int s = 0; s < strata; ++s)
    for (int i = 0; i < 4000; ++i) {
      const auto x = cases.dot(e, static_cast<Stratum>(s));
      double want = decode(e.c, x.c);
      for (int k = 0; k < e.k; ++k) want = std::fma(decode(e.a, x.a[k]), decode(e.b, x.b[k]), want);
      const std::uint64_t d = dot(e, x.a.data(), x.b.data(), x.c);
      if (std::isnan(want))
        ASSERT_TRUE(std::isnan(decode(e.c, d)));
      else
        ASSERT_EQ(d, std::bit_cast<std::uint64_t>(want)) << "stratum " << s << " case " << i;
    }
}

TEST(ModelElement, DoubleChainsHandOnTheNaNThatTheRulePrefers) {
  constexpr std::uint64_t a = 0x7ff800000000000a, b = 0xfff800000000000b, c = 0x7ff800000000000c;
  constexpr std::uint64_t quiet = 0x0008000000000000, infinity = 0x7ff0000000000000;
  Engine e = find_engine("hopper-fp64").engine;
  std::vector<std::uint64_t> x(16, 0), y(16, 0);
  x[3] = infinity;
  EXPECT_EQ(dot(e, x.data(), y.data(), 0), e.nan) << "inf * 0";
  EXPECT_EQ(dot(e, x.data(), y.data(), c ^ quiet), c) << "made quiet";
  x[3] = a;
  y[3] = b;
  const std::pair<NanRule, std::uint64_t> preferred[] = {{NanRule::abs, a}, {NanRule::asb, a}, {NanRule::bas, b},
                                                         {NanRule::bsa, b}, {NanRule::sab, c}, {NanRule::sba, c}};
  for (const auto& [rule, nan] : preferred) {
    e.nan_rule = rule;
    EXPECT_EQ(dot(e, x.data(), y.data(), c), nan);
  }
  e.nan_rule = NanRule::bsa;
  y[3] = 0;
  EXPECT_EQ(dot(e, x.data(), y.data(), c), c);
  e.nan_rule = NanRule::canonical;
  EXPECT_EQ(dot(e, x.data(), y.data(), c), e.nan);
}

TEST(ModelElement, AmxBfloatIsTwoChainsThenC) {
  Cases cases(3);
  const Engine& e = find_engine("amx-bf16").engine;
  const auto flush = [](float x) { return std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x; };
  for (int s : {0, 1, 2, 4, 6})  // without subnormal numbers on the way flushing is plain
    for (int i = 0; i < 4000; ++i) {
      const auto x = cases.dot(e, static_cast<Stratum>(s));
      float lane[2] = {0, 0};
      for (int k = 0; k < e.k; ++k) {
        const auto a = static_cast<float>(decode(e.a, x.a[k])), b = static_cast<float>(decode(e.b, x.b[k]));
        lane[k % 2] = std::fma(flush(a), flush(b), lane[k % 2]);
      }
      const float want = (lane[0] + lane[1]) + flush(static_cast<float>(decode(e.c, x.c)));
      const std::uint64_t d = dot(e, x.a.data(), x.b.data(), x.c);
      if (std::isnan(want))
        ASSERT_TRUE(std::isnan(decode(e.c, d)));
      else
        ASSERT_EQ(d, std::bit_cast<std::uint32_t>(want)) << "stratum " << s << " case " << i;
    }
}

TEST(ModelElement, AmxHandsOnTheNaNOfCThenOfTheEvenElements) {
  const Engine& e = find_engine("amx-bf16").engine;
  std::vector<std::uint64_t> a(32, 0), b(32, 0);
  a[5] = 0x7f81;  // made quiet: 0x7fc1
  EXPECT_EQ(dot(e, a.data(), b.data(), 0), 0x7fc10000u);
  b[5] = 0xffc2;
  EXPECT_EQ(dot(e, a.data(), b.data(), 0), 0x7fc10000u) << "a before b";
  b[7] = 0xffc3;
  EXPECT_EQ(dot(e, a.data(), b.data(), 0), 0xffc30000u) << "a later product before the sum";
  b[2] = 0x7fc4;
  EXPECT_EQ(dot(e, a.data(), b.data(), 0), 0x7fc40000u) << "even before odd";
  EXPECT_EQ(dot(e, a.data(), b.data(), 0x7f800005), 0x7fc00005u) << "c before all";
}

#if VERNIER_X86
__attribute__((target("avx512bf16,avx512vl"))) std::uint32_t vdpbf16ps(const Cases::Dot& x) {
  const auto pair = [](const std::vector<std::uint64_t>& v) { return static_cast<int>(v[0] | v[1] << 16); };
  const __m128 d = _mm_dpbf16_ps(_mm_castsi128_ps(_mm_set1_epi32(static_cast<int>(x.c))),
                                 (__m128bh)_mm_set1_epi32(pair(x.a)), (__m128bh)_mm_set1_epi32(pair(x.b)));
  return static_cast<std::uint32_t>(_mm_cvtsi128_si32(_mm_castps_si128(d)));
}

TEST(ModelElement, Avx512BfloatEqualsThisProcessor) {
  if (!__builtin_cpu_supports("avx512bf16")) GTEST_SKIP() << "this processor has no AVX512_BF16";
  Cases cases(4);
  const Engine& e = find_engine("avx512-bf16").engine;
  for (int s = 0; s < strata; ++s)
    for (int i = 0; i < 100000; ++i) {
      const auto x = cases.dot(e, static_cast<Stratum>(s));
      const std::uint32_t hardware = vdpbf16ps(x);
      const std::uint64_t d = dot(e, x.a.data(), x.b.data(), x.c);
      ASSERT_EQ(d, hardware) << std::hex << "stratum " << s << " a " << x.a[0] << " " << x.a[1] << " b " << x.b[0]
                             << " " << x.b[1] << " c " << x.c;
    }
}
#endif

TEST(ModelElement, IntegersWrapOrSaturate) {
  std::vector<std::uint64_t> a(32, 0), b(32, 0);
  a[0] = b[0] = 1;
  a[1] = 0xff;  // -1
  b[1] = 1;
  EXPECT_EQ(dot(find_engine("nvidia-int8").engine, a.data(), b.data(), 0x7fffffff), 0x7fffffffu);
  EXPECT_EQ(dot(find_engine("nvidia-int8-satfinite").engine, a.data(), b.data(), 0x7fffffff), 0x7fffffffu);
  Engine each = find_engine("nvidia-int8-satfinite").engine;
  each.overflow = Overflow::saturate_blocks;
  each.block = 1;
  EXPECT_EQ(dot(each, a.data(), b.data(), 0x7fffffff), 0x7ffffffeu);
  a[0] = b[0] = 0x80;
  a[1] = 0;
  EXPECT_EQ(dot(find_engine("nvidia-int8-satfinite").engine, a.data(), b.data(), 0x7fffc000), 0x7fffffffu);
  b[0] = 0x40;
  EXPECT_EQ(dot(find_engine("nvidia-int8-satfinite").engine, a.data(), b.data(), 0x80000000), 0x80000000u);
  a[0] = b[0] = 1;
  EXPECT_EQ(dot(find_engine("nvidia-int8").engine, a.data(), b.data(), 0x7fffffff), 0x80000000u);
  EXPECT_EQ(dot(find_engine("nvidia-int8-satfinite").engine, a.data(), b.data(), 0x7fffffff), 0x7fffffffu);
}

// Blanchard et al. 2020: u_add = u_mul = 0 leaves one rounding; anything else leaves more.
TEST(ModelElement, TrueBlockFmaRoundsOnce) {
  const std::uint64_t one = encode(Format::fp16, 1), tiny = encode(Format::fp16, 0x1p-12);
  const std::uint64_t a[4] = {one, tiny, tiny, encode(Format::fp16, -1)}, b[4] = {one, tiny, tiny, one};
  const double c = 0x1p-40;
  const std::uint64_t word = encode(Format::fp32, c);
  EXPECT_EQ(decode(Format::fp32, dot(find_engine("block-fma-true").engine, a, b, word)), 0x1p-23 + c);
  EXPECT_EQ(decode(Format::fp32, dot(find_engine("block-fma-tc32").engine, a, b, word)), c);
  const std::uint64_t a2[4] = {one, tiny, encode(Format::fp16, 0x1p-13), encode(Format::fp16, -1)};
  EXPECT_EQ(decode(Format::fp32, dot(find_engine("block-fma-true").engine, a2, b, 0)), 0x1.8p-24);
  EXPECT_EQ(decode(Format::fp32, dot(find_engine("block-fma-tc32").engine, a2, b, 0)), 0);
}

// Ootomo and Yokota 2021, section 3.2: the two differ in the addition of C alone.
TEST(ModelElement, OotomosEnginesDifferInTheAdditionOfC) {
  std::vector<std::uint64_t> a(16, 0), b(16, 0);
  a[0] = encode(Format::fp16, 1.5);
  b[0] = encode(Format::fp16, 0x1p-24);
  const std::uint64_t one = encode(Format::fp32, 1);
  EXPECT_EQ(decode(Format::fp32, dot(find_engine("mma-rn").engine, a.data(), b.data(), one)), 1 + 0x1p-23);
  EXPECT_EQ(decode(Format::fp32, dot(find_engine("mma-rz").engine, a.data(), b.data(), one)), 1);
}

}  // namespace
}  // namespace vernier::model::test::element_test
