// Sums over ranks by NCCL, whose place a library of the same name takes (fake/nccl.c): no GPU, no NCCL.
#include "cuda/nccl.hpp"

#include <gtest/gtest.h>

#include "vernier/vernier.hpp"

namespace vernier::nccl_test {
namespace {

struct Communicator {
  int ranks = 2, code = 0, type = -1, operation = -1;
  const std::int64_t* others = nullptr;
};

std::string message_of(Communicator& c, int most) {
  std::int64_t words[] = {1};
  try {
    cuda::sum_over_ranks(&c, most, words, 1, nullptr);
  } catch (const Error& error) {
    EXPECT_EQ(words[0], 1);
    return error.what();
  }
  return "";
}

TEST(SumOverRanks, AddsWordsAsNcclsInt64) {
  const std::int64_t others[] = {4, -(std::int64_t{1} << 60), 0};
  Communicator c{.ranks = 16, .others = others};
  std::int64_t words[] = {1, 3, -5};
  cuda::sum_over_ranks(&c, 16, words, 3, nullptr);
  EXPECT_EQ(words[0], 5);
  EXPECT_EQ(words[1], 3 - (std::int64_t{1} << 60));
  EXPECT_EQ(words[2], -5);
  EXPECT_EQ(c.type, 4);       // ncclInt64
  EXPECT_EQ(c.operation, 0);  // ncclSum
}

TEST(SumOverRanks, RefusesMoreRanksThanWordsHold) {
  Communicator c{.ranks = 17};
  EXPECT_NE(message_of(c, 16).find("17 ranks; expected at most 16"), std::string::npos);
  EXPECT_EQ(c.type, -1) << "nothing is sent";
}

TEST(SumOverRanks, TellsWhatNcclSays) {
  const std::int64_t others[] = {1};
  Communicator c{.code = 2, .others = others};
  EXPECT_NE(message_of(c, 16).find("ncclAllReduce: unhandled system error"), std::string::npos);
}

}  // namespace
}  // namespace vernier::nccl_test
