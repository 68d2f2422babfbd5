// Schedules as data: every entry of C once, every panel where its block looks for it, within the memory that there is.
#include "offload/schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/fmt.hpp"
#include "support/matrix.hpp"
#include "support/random.hpp"

namespace vernier::test::schedule_test {
namespace {

std::string text_of(const offload::Schedule& s) {
  std::string out = fmt::format("{} blocks of {} x {}, {} bytes up, {} down, {} on the device\n", s.blocks.size(),
                                s.m_block, s.n_block, s.bytes_up, s.bytes_down, s.bytes);
  int sent = 0;
  for (const offload::Block& b : s.blocks) {
    for (; sent <= std::max({b.a, b.b, b.c}); ++sent) {
      const offload::Panel& p = s.panels[static_cast<std::size_t>(sent)];
      out += fmt::format("  {:>3} {} {} x {} at ({}, {}) to {}", sent, "ABC"[static_cast<int>(p.matrix)], p.rows,
                         p.columns, p.row, p.column, p.offset);
      out += p.after >= 0 ? fmt::format(" after block {}\n", p.after) : std::string("\n");
    }
    out += fmt::format("      C({}, {}) = {} * {}\n", b.rows.begin, b.columns.begin, b.a, b.b);
  }
  return out;
}

using offload::Block, offload::make_schedule, offload::Panel, offload::Schedule, offload::ScheduleRequest;

std::size_t bytes_of(const Panel& p, const Schedule& s) {
  return static_cast<std::size_t>(p.rows * p.columns) * s.element;
}

bool overlap(std::size_t a, std::size_t a_bytes, std::size_t b, std::size_t b_bytes) {
  return a < b + b_bytes && b < a + a_bytes;
}

// "" or what of C is not written once.
std::string uncovered(const Schedule& s, std::int64_t m, std::int64_t n) {
  std::vector<int> count(static_cast<std::size_t>(m * n), 0);
  for (const Block& b : s.blocks)
    for (std::int64_t j = 0; j < b.columns.count; ++j)
      for (std::int64_t i = 0; i < b.rows.count; ++i)
        ++count.at(static_cast<std::size_t>(b.rows.begin + i + (b.columns.begin + j) * m));
  const auto wrong = std::find_if(count.begin(), count.end(), [](int c) { return c != 1; });
  return wrong == count.end() ? "" : joined("entry ", wrong - count.begin(), " is written ", *wrong, " times");
}

// "" or the panel that is not where block `index` looks for it: another may have come into its memory.
std::string misplaced(const Schedule& s, std::size_t index, int panel) {
  const Panel& p = s.panels.at(static_cast<std::size_t>(panel));
  for (std::size_t other = static_cast<std::size_t>(panel) + 1; other < s.panels.size(); ++other) {
    const Panel& q = s.panels[other];
    if (overlap(p.offset, bytes_of(p, s), q.offset, bytes_of(q, s)) && q.after < static_cast<int>(index))
      return joined("panel ", other, " may come into the memory of panel ", panel, " before block ", index);
  }
  return "";
}

std::string fault_of(const Schedule& s, const ScheduleRequest& r) {
  if (std::string text = uncovered(s, r.m, r.n); !text.empty()) return text;
  for (std::size_t i = 0; i < s.blocks.size(); ++i) {
    const Block& b = s.blocks[i];
    for (const int panel : {b.a, b.b, b.c})
      if (panel >= 0)
        if (std::string text = misplaced(s, i, panel); !text.empty()) return text;
    const Panel &a = s.panels[static_cast<std::size_t>(b.a)], &c = s.panels[static_cast<std::size_t>(b.b)];
    if ((r.a_by_rows ? a.column : a.row) != b.rows.begin) return "rows of another block";
    if ((r.b_by_columns ? c.column : c.row) != b.columns.begin) return "columns of another block";
    const std::size_t bytes = static_cast<std::size_t>(b.rows.count * b.columns.count) * s.element;
    for (const Panel& p : s.panels)
      if (p.matrix != offload::Matrix::c && overlap(p.offset, bytes_of(p, s), b.offset, bytes))
        return "C lies on a panel";
    for (std::size_t j = i + 1; j < s.blocks.size(); ++j)
      if (s.blocks[j].offset == b.offset && s.blocks[j].after < static_cast<int>(i)) return "C is overwritten";
  }
  return "";
}

TEST(Schedule, HoldsWhateverTheSizesAndTheMemory) {
  Random random(11);
  int empty = 0, cramped = 0;
  for (int i = 0; i < 3000; ++i) {
    ScheduleRequest r{.m = random.integer(1, 70), .n = random.integer(1, 70), .k = random.integer(1, 40)};
    r.element = random.integer(0, 1) != 0 ? 8 : 4;
    r.a_by_rows = random.integer(0, 1) != 0;
    r.b_by_columns = random.integer(0, 1) != 0;
    r.reads_c = random.integer(0, 1) != 0;
    r.m_block = random.integer(1, 20);
    r.n_block = random.integer(1, 20);
    r.memory = static_cast<std::size_t>(random.integer(2000, 60000));
    r.workspace = [](std::int64_t m, std::int64_t n) { return static_cast<std::size_t>(m + n) * 16; };
    const Schedule s = make_schedule(r);
    if (s.blocks.empty()) {
      ++empty;
      continue;
    }
    ASSERT_EQ(fault_of(s, r), "") << text_of(s);
    ASSERT_LE(s.bytes + r.workspace(std::min(s.m_block, r.m), std::min(s.n_block, r.n)), r.memory);
    const auto all = static_cast<std::size_t>(r.m * r.k + r.k * r.n) * r.element;
    const std::size_t of_c = r.reads_c ? static_cast<std::size_t>(r.m * r.n) * r.element : 0;
    EXPECT_GE(s.bytes_up, all + of_c);
    cramped += s.bytes_up > all + of_c;
  }
  EXPECT_GT(empty, 0);
  EXPECT_GT(cramped, 50);  // panels went up again
}

TEST(Schedule, SendsEachPanelOnceWhereAllFits) {
  const Schedule s = make_schedule({.m = 8192, .n = 8192, .k = 8192, .memory = std::size_t{1} << 40});
  EXPECT_EQ(s.bytes_up, 2ull * 8192 * 8192 * 8);
  EXPECT_EQ(s.bytes_down, 1ull * 8192 * 8192 * 8);
  EXPECT_EQ(s.blocks.front().after, -1);
}

// A and B come up in turns, and each product follows the later of its panels.
TEST(Schedule, GivesTheFirstProductsBeforeTheLastPanelsAreUp) {
  const Schedule s = make_schedule({.m = 8192, .n = 8192, .k = 8192, .memory = std::size_t{1} << 40});
  std::size_t early = 0;
  for (const Block& b : s.blocks) early += static_cast<std::size_t>(std::max(b.a, b.b)) + 2 < s.panels.size();
  EXPECT_GE(2 * early, s.blocks.size());
  EXPECT_EQ(std::max(s.blocks.front().a, s.blocks.front().b), 1);
}

// Parts of columns that the device reads from the host itself are at least 64 KiB long, and thin panels follow.
TEST(Schedule, ReadsLongRunsWhereNothingIsStaged) {
  const auto blocks = [](ScheduleRequest r) {
    r.k = 8192, r.memory = std::size_t{1} << 40, r.direct_a = r.direct_b = true;
    const Schedule s = make_schedule(r);
    return std::pair(s.m_block, s.n_block);
  };
  using Size = std::pair<std::int64_t, std::int64_t>;
  EXPECT_EQ(blocks({.m = 8192, .n = 8192}), Size(8192, 1024));
  EXPECT_EQ(blocks({.m = 20000, .n = 20000}), Size(10000, 2048));
  EXPECT_EQ(blocks({.m = 16384, .n = 1000, .element = 4}), Size(16384, 256));
  EXPECT_EQ(blocks({.m = 8192, .n = 8192, .b_by_columns = false}), Size(8192, 4096));
  EXPECT_EQ(blocks({.m = 8192, .n = 8192, .a_by_rows = true, .b_by_columns = false}), Size(1024, 8192));
  EXPECT_EQ(blocks({.m = 8192, .n = 8192, .a_by_rows = true}), Size(2048, 2048));
  EXPECT_EQ(blocks({.m = 8192, .n = 8192, .m_block = 512}), Size(512, 1024));
  EXPECT_EQ(blocks({.m = 100, .n = 60}), Size(100, 60));
}

// Rows stay in groups while columns go by: B goes up once for each group.
TEST(Schedule, KeepsWhatIsReadTwiceWhereMemoryIsShort) {
  ScheduleRequest r{.m = 4000, .n = 4000, .k = 1000, .m_block = 1000, .n_block = 1000};
  r.memory =
      9 * std::size_t{8000000} + 4096;  // of A or B: 4 panels each; C: 16 blocks; 3 of C, 2 of the one, 4 of the other
  const Schedule s = make_schedule(r);
  ASSERT_FALSE(s.blocks.empty());
  EXPECT_EQ(s.bytes_up, 2ull * 4000 * 1000 * 8);
  r.memory = 8 * std::size_t{8000000} + 4096;  // 3 of the other: two groups
  const Schedule short_of = make_schedule(r);
  ASSERT_FALSE(short_of.blocks.empty());
  EXPECT_GT(short_of.bytes_up, s.bytes_up);
  EXPECT_LT(short_of.bytes_up, 3ull * 4000 * 1000 * 8);
}

TEST(Schedule, IsEmptyWhereNotEvenTheLeastBlocksFit) {
  EXPECT_TRUE(make_schedule({.m = 100, .n = 100, .k = 100000, .memory = std::size_t{1} << 20}).blocks.empty());
}

TEST(Schedule, OfTwoBlocksByHand) {
  EXPECT_EQ(text_of(make_schedule({.m = 64, .n = 64, .k = 8, .memory = 1 << 20, .m_block = 32, .n_block = 64})),
            "2 blocks of 32 x 64, 8192 bytes up, 32768 down, 40960 on the device\n"
            "    0 A 32 x 8 at (0, 0) to 0\n"
            "    1 B 8 x 64 at (0, 0) to 4096\n"
            "      C(0, 0) = 0 * 1\n"
            "    2 A 32 x 8 at (32, 0) to 2048\n"
            "      C(32, 0) = 2 * 1\n");
}

TEST(Schedule, DealsPartsThatCoverCToEachDevice) {
  for (const auto& [m, n] : {std::pair<std::int64_t, std::int64_t>{1000, 3000}, {3000, 1000}, {5, 7}, {129, 129}})
    for (int devices = 1; devices <= 4; ++devices) {
      std::int64_t area = 0;
      for (const offload::Share& s : offload::deal(m, n, devices)) {
        EXPECT_GT(s.rows.count * s.columns.count, 0);
        area += s.rows.count * s.columns.count;
      }
      EXPECT_EQ(area, m * n);
    }
}

}  // namespace
}  // namespace vernier::test::schedule_test
