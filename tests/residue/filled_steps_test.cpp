#include "residue/convert/filled_steps.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/matrix.hpp"

namespace vernier::test::filled_steps_test {
namespace {

template <class T>
class FilledStepsOf : public testing::Test {};
using Types = testing::Types<double, float>;
TYPED_TEST_SUITE(FilledStepsOf, Types);

// 20 vectors of 5 steps, the last one short, in either order of memory.
template <class T>
struct Case {
  static constexpr std::int64_t vectors = 20, k = 4 * step_size + 7;

  bool k_contiguous;
  Matrix<T> x = k_contiguous ? Matrix<T>::of(k, vectors, [](auto, auto) { return 0; })
                             : Matrix<T>::of(vectors, k, [](auto, auto) { return 0; });
  int scales[strip_size] = {};

  T& at(std::int64_t v, std::int64_t l) { return k_contiguous ? x(l, v) : x(v, l); }
  FilledSteps steps() const { return filled_steps(Operand<T>{x.data(), vectors, k, x.ld(), k_contiguous}, scales); }
};

TYPED_TEST(FilledStepsOf, ReachFromTheFirstToTheLastThatHoldsSomething) {
  for (const bool k_contiguous : {false, true}) {
    Case<TypeParam> c{k_contiguous};
    EXPECT_EQ(c.steps(), (FilledSteps{0, 0}));
    c.at(19, 4 * step_size + 6) = 1;
    EXPECT_EQ(c.steps(), (FilledSteps{4, 5}));
    c.at(0, 2 * step_size - 1) = -1;
    EXPECT_EQ(c.steps(), (FilledSteps{1, 5}));
    c.at(7, 0) = 1;
    EXPECT_EQ(c.steps(), (FilledSteps{0, 5}));
  }
}

// By each vector's scale; halves are rounded to zero, with a factor below two quarters.
TYPED_TEST(FilledStepsOf, HoldWhatIsMoreThanAQuarterOfAUnit) {
  using Limits = std::numeric_limits<TypeParam>;
  for (const bool k_contiguous : {false, true})
    for (const int scale : {-Limits::max_exponent + 2, -9, 0, 40, -Limits::min_exponent + Limits::digits - 3}) {
      Case<TypeParam> c{k_contiguous};
      c.scales[3] = scale;
      c.at(3, 100) = -std::ldexp(TypeParam{0.25}, -scale);
      EXPECT_EQ(c.steps(), (FilledSteps{0, 0})) << scale;
      c.at(3, 100) = std::nextafter(c.at(3, 100), -Limits::infinity());
      EXPECT_EQ(c.steps(), (FilledSteps{1, 2})) << scale;
      c.at(3, 100) = Limits::quiet_NaN();
      EXPECT_EQ(c.steps(), (FilledSteps{1, 2})) << scale;
    }
}

// Whose powers of two leave the type.
TYPED_TEST(FilledStepsOf, KnowExtremeScales) {
  using Limits = std::numeric_limits<TypeParam>;
  Case<TypeParam> c{true};
  c.at(3, 100) = Limits::denorm_min();
  c.scales[3] = -Limits::min_exponent + Limits::digits;
  EXPECT_EQ(c.steps(), (FilledSteps{1, 2}));
  c.at(3, 100) = Limits::max();
  c.scales[3] = -Limits::max_exponent - 2;
  EXPECT_EQ(c.steps(), (FilledSteps{0, 0}));
}

}  // namespace
}  // namespace vernier::test::filled_steps_test
