// The memory that `vernier run` shares with the processes that it counts.
#include "record.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <string>

#include "outcome.hpp"
#include "support/temporary_folder.hpp"

namespace vernier::interpose::record_test {
namespace {

class SharedRecords : public testing::Test {
 protected:
  struct File {
    test::TemporaryFolder folder;
    std::string path = folder.write("board", "");
    Board* board = open_board(path.c_str(), true);

    std::size_t bytes() const {  // that the file system has given
      struct stat status = {};
      stat(path.c_str(), &status);
      return static_cast<std::size_t>(status.st_blocks) * 512;
    }
  };

  File first_, second_;
};

// What the file system has not given may be missing when it is written to, and the process gets a signal.
TEST_F(SharedRecords, AClaimedRecordIsTheBoardsAndHasMemoryBeforeItIsWrittenTo) {
  ASSERT_NE(first_.board, nullptr);
  ASSERT_LT(first_.bytes(), sizeof(Record));
  ASSERT_NE(claim_record(first_.path.c_str()), nullptr);
  Record* const second = claim_record(first_.path.c_str());
  ASSERT_NE(second, nullptr);
  EXPECT_GE(first_.bytes(), 2 * sizeof(Record));
  second->pid = 5;
  EXPECT_EQ(first_.board->records[1].pid, 5);
  EXPECT_EQ(first_.board->claimed, 2U);
}

TEST_F(SharedRecords, WhereThereIsNoRoomForAnotherTheBoardTellsIt) {
  ASSERT_NE(first_.board, nullptr);
  first_.board->claimed = most_records;
  EXPECT_EQ(claim_record(first_.path.c_str()), nullptr);
  EXPECT_EQ(errno, ENOSPC);
  EXPECT_EQ(first_.board->claimed, most_records + 1);
  EXPECT_EQ(claim_record("/nowhere/board"), nullptr);
  EXPECT_EQ(errno, ENOENT);
}

TEST_F(SharedRecords, WhatThreadsCountInLanesIsAddedUp) {
  Record& r = first_.board->records[0];
  r.symbols_used = 2;
  r.symbols[1].passed[static_cast<int>(Reason::bound)] = 1;
  r.seconds_per_tick = 0.5;
  for (Lane& lane : r.lanes) {
    lane.passed[1][static_cast<int>(Reason::small)] = 2;
    lane.passed[0][static_cast<int>(Reason::native_faster)] = 3;
    lane.ticks = 4;
  }
  const auto json = to_json(r);
  EXPECT_EQ(json["passed_on"]["small"], 2 * most_lanes);
  EXPECT_EQ(json["passed_on"]["native is faster"], 3 * most_lanes);
  EXPECT_EQ(json["passed_on"]["data too wide"], 1);
  EXPECT_EQ(json["seconds_passed_on"], 0.5 * 4 * most_lanes);
  EXPECT_TRUE(any_call(r));
}

TEST_F(SharedRecords, OneBoardsRecordsAreAddedToAnothers) {
  ASSERT_NE(second_.board, nullptr);
  second_.board->claimed = 1;
  second_.board->records[0].pid = 7;
  first_.board->claimed = 3;  // the second process has written nothing yet
  first_.board->records[0].pid = 8;
  first_.board->records[2].pid = 9;
  add_records(*first_.board, second_.path.c_str());
  EXPECT_EQ(second_.board->claimed, 3U);
  EXPECT_EQ(second_.board->records[0].pid, 7);
  EXPECT_EQ(second_.board->records[1].pid, 8);
  EXPECT_EQ(second_.board->records[2].pid, 9);
  add_records(*first_.board, "/nowhere/board");
}

TEST_F(SharedRecords, TellABoundOnlyWhereACallHasOne) {
  ASSERT_NE(first_.board, nullptr);
  Record& r = first_.board->records[0];
  r.log2_bound = no_bound;
  EXPECT_TRUE(to_json(r)["log2_bound"].is_null());
  r.log2_bound = -47;
  EXPECT_EQ(to_json(r)["log2_bound"], -47);
}

TEST_F(SharedRecords, CountNoMoreSymbolsThanTheyHoldWhateverTheFileSays) {
  Record& record = first_.board->records[0];
  record.symbols[most_symbols - 1].taken = 3;
  for (const std::uint32_t used : {64U, 65U, 0x80000000U, 0xffffffffU}) {
    record.symbols_used = used;
    EXPECT_TRUE(any_call(record)) << used;
    EXPECT_EQ(to_json(record)["taken"], 3) << used;
  }
  record.symbols_used = 63;
  EXPECT_FALSE(any_call(record));
}

TEST_F(SharedRecords, AFileOfAnotherLayoutIsNoBoard) {
  second_.board->mark = 1;
  for (const std::string& path : {second_.path, second_.folder.write("text", "no board")}) {
    errno = ENOENT;  // by which a process would be taken for one that outlives `vernier run`
    EXPECT_EQ(open_board(path.c_str(), false), nullptr);
    EXPECT_EQ(errno, EINVAL);
    errno = ENOENT;
    EXPECT_EQ(claim_record(path.c_str()), nullptr);
    EXPECT_EQ(errno, EINVAL);
  }
  EXPECT_EQ(open_board("/nowhere/board", false), nullptr);
  EXPECT_NE(open_board(first_.path.c_str(), false), nullptr);
}

// Else a program whose matrices go to a GPU would have the next calls of that shape made by the CPU.
TEST(Outcome, WhatAGpuMultipliesNativelyWasNotTriedInVain) {
  EXPECT_FALSE(tried_in_vain(false, "native"));
  EXPECT_FALSE(tried_in_vain(false, "residues"));
  EXPECT_TRUE(tried_in_vain(true, "native"));
  EXPECT_TRUE(tried_in_vain(true, "residues"));
  EXPECT_FALSE(tried_in_vain(true, "cublas"));
}

// Auto looks at the CPU twice before it goes back to the GPU: what follows is still its to place.
TEST(Outcome, TheCpusTurnsLeaveTheNextCallsToAGpu) {
  EXPECT_FALSE(passes_on_next(0, false));
  EXPECT_TRUE(passes_on_next(1, false));
  EXPECT_FALSE(passes_on_next(4, true));
  EXPECT_TRUE(passes_on_next(5, true));
}

}  // namespace
}  // namespace vernier::interpose::record_test
