// Probes of engines that nobody has built: what they conclude is right, since the description found computes what the
// engine computes.
#include <gtest/gtest.h>

#include <bit>

#include "cases.hpp"
#include "vernier/vernier.hpp"

namespace vernier::model::test::random_probe_test {
namespace {

// L, F and the bits of results without regard for one another: F below the result's bits, beside them, and above.
Engine random_engine(Cases& random) {
  using enum Format;
  using enum Rounding;
  constexpr Format inputs[] = {fp16, bf16, tf32, e4m3, e5m2, fp16};
  constexpr Rounding outputs[] = {toward_zero, toward_zero, nearest_even, nearest_even, nearest_away, down, up};
  constexpr Rounding alignments[] = {toward_zero, toward_zero, toward_zero, toward_zero, nearest_even, nearest_away};
  Engine e;
  e.a = e.b = inputs[random.draw(6)];
  const bool wide = e.a == bf16 || e.a == tf32, bytes = e.a == e4m3 || e.a == e5m2;
  if (bytes && random.draw(8) == 0) e.b = e.a == e4m3 ? e5m2 : e4m3;
  e.c = !wide && random.draw(3) == 0 ? fp16 : fp32;
  e.block = 2 + static_cast<int>(random.draw(random.draw(4) == 0 ? 31 : 11));
  const int blocks = 1 + static_cast<int>(random.draw(e.block > 16 ? 2 : 3));
  e.k = e.block * blocks;
  if (blocks > 1 && e.block % 2 == 0 && random.draw(3) == 0) e.interleave = 2;
  if (e.block > 2 && random.draw(5) == 0) e.join = Join::last;
  const int bits = shape_of(e.c).fraction_bits;
  e.fraction_bits = 8 + static_cast<int>(random.draw(e.c == fp16 ? 18 : 21));
  e.output_fraction_bits = random.draw(4) == 0 ? 8 + static_cast<int>(random.draw(bits - 7)) : bits;
  e.rounding = outputs[random.draw(7)];
  e.join_rounding = outputs[random.draw(7)];
  e.alignment = alignments[random.draw(6)];
  e.normalise_products = random.draw(6) == 0;
  e.zero_exponent = (e.c == fp16 ? -19 : -130) - static_cast<int>(random.draw(5));
  e.zero_keeps_exponent = wide && random.draw(8) == 0;
  if (random.draw(10) == 0) e.carry_bits = std::bit_width(static_cast<unsigned>(e.block)) - 1;
  if (random.draw(6) == 0) e.early_fraction_bits = e.output_fraction_bits + 1 + static_cast<int>(random.draw(6));
  // Behind flushed inputs no single product of fp16 shows the exponent of zeros.
  e.flush_inputs = e.c != fp16 && random.draw(8) == 0;
  e.flush_c = random.draw(8) == 0;
  e.flush_output = random.draw(8) == 0;
  e.zero_sign = random.draw(4) == 0 ? ZeroSign::ieee : ZeroSign::positive;
  e.overflow = random.draw(4) == 0 ? Overflow::largest : Overflow::infinity;
  if (e.c == fp16) e.nan = 0x7fff;
  return e;
}

std::string description(const Engine& e) { return to_json({"engine", "", "", "", e}); }

// Where no product is small enough beside the largest one, the probe says that it sees no tree, and concludes nothing
// from it: such engines are few.
TEST(RandomEngines, AreReplayedByTheDescriptionsThatTheirProbesFind) {
  Cases random(20261126);
  int replayed = 0, unseen = 0;
  while (replayed < 210) {
    const Engine e = random_engine(random);
    ASSERT_NO_THROW(validate(e));
    const ProbeReport report = probe(ModelEngine(e));
    if (report.value("accumulation tree") == "not observable") {
      ASSERT_LE(++unseen, 5);
      continue;
    }
    ++replayed;
    EXPECT_EQ(differences(e, report.estimate, 1000 + replayed, 120), 0) << description(e) << report.text();
  }
}

// Three that an earlier probe misread: F below, at and one above the bits of the result.
TEST(RandomEngines, ShortAlignmentsAreToldFromShortResults) {
  struct Case {
    int block, f;
    Rounding rounding;
    const char *bits, *roundings;
  };
  const Case cases[] = {{12, 19, Rounding::toward_zero, "23", ""},
                        {12, 10, Rounding::toward_zero, "at least 15", ""},
                        {4, 22, Rounding::toward_zero, "23", ""},
                        {5, 23, Rounding::nearest_even, "23", "one"},
                        {5, 24, Rounding::nearest_even, "23", "one"}};
  for (const Case& x : cases) {
    Engine e = find_engine("volta-fp16-fp32").engine;
    e.k = e.block = x.block;
    e.fraction_bits = x.f;
    e.rounding = x.rounding;
    const ProbeReport report = probe(ModelEngine(e));
    SCOPED_TRACE(description(e));
    EXPECT_EQ(report.value("F"), std::to_string(x.f));
    EXPECT_EQ(report.value("output fraction bits"), x.bits);
    EXPECT_EQ(report.value("roundings of the output"), x.roundings);
    if (report.value("output rounding") != "not observable") {
      EXPECT_EQ(report.value("output rounding"), to_string(x.rounding));
    }
    EXPECT_EQ(differences(e, report.estimate, 7, 400), 0);
  }
}

}  // namespace
}  // namespace vernier::model::test::random_probe_test
