// Which part of k is enough for a conventional product of elements that decay along k.
#include "product/native/enough_k.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "gpu/on_device.hpp"

namespace vernier::test::enough_k_test {
namespace {

// Vectors whose elements decay from places between `first` and `last` of k, each with a factor of its own.
struct Vectors {
  std::int64_t count, k;
  std::vector<double> x;  // [vector][k]

  Vectors(std::int64_t vectors, std::int64_t length, double rate, double first, double last)
      : count(vectors), k(length), x(static_cast<std::size_t>(vectors * length)) {
    for (std::int64_t v = 0; v < count; ++v)
      for (std::int64_t l = 0; l < k; ++l) {
        const double place =
            (first + (last - first) * static_cast<double>(v) / static_cast<double>(count)) * static_cast<double>(k);
        at(v, l) = std::ldexp(std::exp(-rate * std::abs(static_cast<double>(l) - place)) * ((v + l) % 3 == 0 ? -1 : 1),
                              static_cast<int>(v % 7) * 100 - 300);
      }
  }
  double& at(std::int64_t v, std::int64_t l) { return x[static_cast<std::size_t>(v * k + l)]; }
  double at(std::int64_t v, std::int64_t l) const { return x[static_cast<std::size_t>(v * k + l)]; }
};

// In device memory, vectors or elements of an index side by side.
struct Placed {
  OnDevice<double> memory;
  Operand<double> operand;

  static std::vector<double> turned(const Vectors& v, bool contiguous) {
    std::vector<double> y = v.x;
    if (!contiguous)
      for (std::int64_t i = 0; i < v.count; ++i)
        for (std::int64_t l = 0; l < v.k; ++l) y[static_cast<std::size_t>(l * v.count + i)] = v.at(i, l);
    return y;
  }
  Placed(const Vectors& v, bool contiguous)
      : memory(turned(v, contiguous)),
        operand{.data = memory.data(),
                .vectors = v.count,
                .k = v.k,
                .ld = contiguous ? v.k : v.count,
                .k_contiguous = contiguous} {}
};

bool serves(const Vectors& a, const Vectors& b, Range kept, bool contiguous = false) {
  const Placed left(a, contiguous), right(b, !contiguous);
  return cuda::EnoughK({left.operand, right.operand}, kept, nullptr).serves();
}

// What is left out of any entry, beside |A||B|, at most.
long double largest_share(const Vectors& a, const Vectors& b, Range kept) {
  long double largest = 0;
  for (std::int64_t i = 0; i < a.count; ++i)
    for (std::int64_t j = 0; j < b.count; ++j) {
      long double all = 0, left_out = 0;
      for (std::int64_t l = 0; l < a.k; ++l) {
        const long double term = std::abs(static_cast<long double>(a.at(i, l)) * static_cast<long double>(b.at(j, l)));
        all += term;
        if (l < kept.begin || l >= kept.begin + kept.count) left_out += term;
      }
      if (left_out > 0) largest = std::max(largest, left_out / all);
    }
  return largest;
}

TEST(EnoughKOnGpu, LeavesOutLessThanHalfAUnit) {
  int enough = 0, not_enough = 0;
  for (const double rate : {0.02, 0.05, 0.1, 0.4})
    for (const auto& [first, last] : {std::pair{0.0, 0.3}, {0.4, 0.6}, {0.7, 1.0}}) {
      const Vectors a(70, 1900, rate, first, last), b(45, 1900, rate, first, last);
      for (const Range kept : {Range{0, 1024}, {640, 640}, {384, 1152}, {896, 1004}})
        for (const bool contiguous : {false, true}) {
          const bool taken = serves(a, b, kept, contiguous);
          (taken ? enough : not_enough) += 1;
          if (taken) {
            EXPECT_LE(largest_share(a, b, kept), 0x1p-54L) << rate << ", from " << first << ", kept " << kept.begin;
          }
        }
    }
  EXPECT_GE(enough, 16);
  EXPECT_GE(not_enough, 40);
}

// One element in what is left out, on either side and end; none of a vector meets zeros alone.
TEST(EnoughKOnGpu, SeesSingleElements) {
  const Vectors a(300, 1500, 0.2, 0.5, 0.6), b(33, 1500, 0.2, 0.5, 0.6);
  const Range kept{512, 768};
  ASSERT_TRUE(serves(a, b, kept));
  for (const std::int64_t l : {3, 511, 1280, 1499}) {
    for (const double value : {0x1p-20, 1.0}) {
      Vectors c = a, d = b;
      c.at(299, l) = std::ldexp(value, 200);  // beside its vector's largest element
      d.at(32, l) = std::ldexp(value, 100);
      EXPECT_FALSE(serves(c, d, kept)) << value << " at " << l;
    }
    for (const double value :
         {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN(), 0x1p1000}) {
      Vectors c = a, d = b;
      c.at(299, l) = value;
      d.at(32, l) = -value;
      EXPECT_FALSE(serves(c, b, kept)) << value << " at " << l;
      EXPECT_FALSE(serves(a, d, kept)) << value << " at " << l;
    }
  }
  Vectors none = a;
  for (std::int64_t l = 0; l < none.k; ++l) none.at(4, l) = 0;
  EXPECT_TRUE(serves(none, b, kept)) << "a vector of zeros";
  none.at(4, 1400) = 1;
  EXPECT_FALSE(serves(none, b, kept)) << "it is all that there is of some entries";
}

TEST(EnoughKOnGpu, IsGuessedFromTheSample) {
  const Vectors a(300, 6000, 0.05, 0.3, 0.5), b(2100, 6000, 0.05, 0.3, 0.5);  // more than a panel of columns
  const Placed left(a, false), right(b, true);
  const Range kept = cuda::guess_enough_k({left.operand, right.operand}, nullptr);
  EXPECT_LT(kept.count, 3500);
  EXPECT_TRUE(serves(a, b, kept));
  Vectors last = b, first = a;
  last.at(2099, 5990) = 0x1p100;
  first.at(0, 5990) = 0x1p-100;
  EXPECT_FALSE(serves(first, last, kept)) << "of the last column";
  const Vectors even(300, 6000, 0, 0, 0);
  const Placed rows(even, false), columns(even, true);
  EXPECT_EQ(cuda::guess_enough_k({rows.operand, columns.operand}, nullptr).count, 6000);
}

}  // namespace
}  // namespace vernier::test::enough_k_test
