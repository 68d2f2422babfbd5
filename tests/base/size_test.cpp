#include "base/size.hpp"

#include <gtest/gtest.h>

#include "base/workspace.hpp"
#include "vernier/vernier.hpp"

namespace vernier::test::size_test {
namespace {

constexpr std::int64_t large = std::int64_t{1} << 32, largest = std::int64_t{1} << 40;

TEST(SizeProduct, IsTheProductWhileMemoryCouldHoldIt) {
  EXPECT_EQ(size_product({3, 5, 7}), 105U);
  EXPECT_EQ(size_product({large, std::int64_t{8}}), std::size_t{1} << 35);
  EXPECT_EQ(size_product({largest, std::int64_t{0}, largest}), 0U);
}

TEST(SizeProduct, NeverWrapsAround) {
  EXPECT_EQ(size_product({large, large}), largest_size);  // 2^64 is 0 in 64 bits
  EXPECT_EQ(size_product({large, large + 1, std::int64_t{8}}), largest_size);
  EXPECT_EQ(size_product({largest, largest, largest}), largest_size);
  EXPECT_EQ(size_sum(largest_size, largest_size), largest_size);
}

TEST(CheckedArea, RefusesWhatNoMemoryHolds) {
  EXPECT_EQ(checked_area<double>(1 << 20, 1 << 20), std::size_t{1} << 40);
  try {
    checked_area<double>(large, large);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::out_of_memory);
    EXPECT_NE(std::string(error.what()).find("4294967296 x 4294967296"), std::string::npos) << error.what();
  }
}

TEST(Arena, CountsWhatNoMemoryHoldsWithoutWrappingAround) {
  Arena count;
  count.take<double>(size_product({large, large}));
  count.take<double>(size_product({large, large}));
  EXPECT_GE(count.used(), largest_size);
  EXPECT_THROW(Workspace(count.used()), Error);
}

}  // namespace
}  // namespace vernier::test::size_test
