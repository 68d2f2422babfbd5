// The journal of a preload, written to by many threads: every call is counted once.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <thread>
#include <vector>

#include "journal.hpp"
#include "preload.hpp"
#include "record.hpp"
#include "support/temporary_folder.hpp"

namespace vernier::interpose {

// What a preload defines.
const Preload preload = {"vernier_test", "VERNIER_ENGINE", "vernier_", true};
void* find_underneath(const char*, May) { return nullptr; }
vernier_status perform(vernier_handle, const Call&) { return VERNIER_INTERNAL_ERROR; }
std::string out_of_reach(const std::string&) { return ""; }
Sizes largest_product(const Call& call) { return {call.m, call.n, call.k}; }

namespace {

constexpr int thread_count = 8, calls = 400;

Counts gemm_counts("dgemm_"), other_counts("cblas_dgemm");

void make_calls(int thread) {
  for (int i = 0; i < calls; ++i) {
    const Busy busy;
    const Call call{.routine = Routine::gemm, .type = VERNIER_D, .m = 64 + thread, .n = 64, .k = 64 + i % 3};
    vernier_report report = {};
    report.seconds = 0.5;
    report.fallback = i % 2;
    report.span_a = thread;
    if (i % 4 == 0) {
      other_counts.pass(Reason::native_faster);
      record_native(call);
      other_counts.add_time(3);
    } else {
      gemm_counts.take();
      record_taken(call, report);
    }
  }
}

// As `vernier run` sets it up, once for the process.
Board* board_of_run() {
  static const test::TemporaryFolder folder;
  static Board* const board = [] {
    const std::string path = folder.write("board", "");
    setenv("VERNIER_COUNTERS", path.c_str(), 1);
    return open_board(path.c_str(), true);
  }();
  return board;
}

TEST(Journal, CountsEveryCallOfEveryThreadOnce) {
  Board* const board = board_of_run();
  ASSERT_NE(board, nullptr);
  std::vector<std::thread> threads;
  for (int t = 0; t < thread_count; ++t) threads.emplace_back([t] { make_calls(t); });
  for (std::thread& thread : threads) thread.join();

  ASSERT_EQ(board->claimed, 1U);
  const Record& r = board->records[0];
  EXPECT_EQ(r.pid, getpid());
  EXPECT_EQ(r.threads, thread_count);
  EXPECT_EQ(r.seconds, 0.5 * thread_count * calls * 3 / 4);
  const auto lanes = std::count_if(std::begin(r.lanes), std::end(r.lanes), [](const Lane& l) { return l.ticks > 0; });
  EXPECT_TRUE(lanes >= 1 && lanes <= thread_count) << lanes << ": one may follow another that has ended";
  EXPECT_EQ(seconds_passed_on(r), r.seconds_per_tick * (3 * thread_count * calls / 4));
  EXPECT_EQ(r.fallbacks, static_cast<std::uint64_t>(thread_count * calls / 2));
  EXPECT_EQ(r.largest_span, thread_count - 1);
  EXPECT_EQ(r.largest_native.m, 64 + thread_count - 1);
  EXPECT_EQ(r.unfinished, 0);
  ASSERT_EQ(r.symbols_used, 2U);
  std::uint64_t taken = 0, passed = 0;
  for (int i = 0; i < 2; ++i) {
    taken += r.symbols[i].taken;
    passed += interpose::passed(r, i, Reason::native_faster);
  }
  EXPECT_EQ(taken, static_cast<std::uint64_t>(thread_count * calls * 3 / 4));
  EXPECT_EQ(passed, static_cast<std::uint64_t>(thread_count * calls / 4));
}

// While another one runs still: the process may end in it.
TEST(Journal, TimeCountsAsEachCallEndsAndWhatRunsIsTold) {
  Board* const board = board_of_run();
  ASSERT_NE(board, nullptr);
  make_calls(0);
  const Record& record = board->records[0];
  {
    const Busy outer;
    EXPECT_EQ(record.unfinished, 1);
    const double before = record.elapsed;
    {
      const Busy inner;
      EXPECT_EQ(record.unfinished, 2);
      usleep(1000);
    }
    EXPECT_GE(record.elapsed, before + 0.001);
  }
  EXPECT_EQ(record.unfinished, 0);
}

}  // namespace
}  // namespace vernier::interpose
