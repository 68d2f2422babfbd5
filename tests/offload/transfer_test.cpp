// The executor on devices in memory of the host: whatever the shapes, threads and faults, an entry of C is either the
// product's or said to be missing, and then as it was.
#include "offload/transfer.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <vector>

#include "fake_link.hpp"
#include "support/compare.hpp"
#include "support/matrix.hpp"

namespace vernier::test::transfer_test {
namespace {

// C = A B + beta C of small integers, which any order of additions gives exactly.
struct Case {
  std::int64_t m, n, k, m_block, n_block;
  double beta;
  bool turned_a, turned_b;  // stored as the transposes
  bool direct_a, direct_b, direct_c;
  std::int64_t pad;
  std::size_t memory, piece;
  int threads, devices;
};

Case random_case(Random& random) {
  const auto coin = [&] { return random.integer(0, 1) != 0; };
  Case c{.m = random.integer(1, 60), .n = random.integer(1, 60), .k = random.integer(1, 30)};
  c.m_block = random.integer(1, 60), c.n_block = random.integer(1, 60);
  c.beta = coin() ? 0 : 2;
  c.turned_a = coin(), c.turned_b = coin();
  c.direct_a = coin(), c.direct_b = coin(), c.direct_c = coin() && c.beta == 0;
  c.pad = random.integer(0, 3);
  c.memory = static_cast<std::size_t>(coin() ? 1 << 20 : random.integer(20000, 60000));
  c.piece = 8 * static_cast<std::size_t>(random.integer(10, 300));
  c.threads = static_cast<int>(random.integer(1, 3));
  c.devices = static_cast<int>(random.integer(1, 3));
  return c;
}

class Transfer {
 public:
  Transfer(const Case& x, std::uint64_t seed)
      : case_(x),
        a_(integers(x.m, x.k, seed)),
        b_(integers(x.k, x.n, seed + 1)),
        c_(padded(integers(x.m, x.n, seed + 2), x.pad)),
        before_(c_),
        stored_a_(stored(x.turned_a ? Op::transpose : Op::none, a_, x.pad)),
        stored_b_(stored(x.turned_b ? Op::transpose : Op::none, b_, x.pad)) {}

  // False: a device does not hold the least blocks.
  bool run(std::uint64_t seed, const Fault* fault) {
    std::vector<offload::Lane> lanes;
    std::vector<std::unique_ptr<FakeLink>> links;
    shares_ = offload::deal(case_.m, case_.n, case_.devices);
    for (const offload::Share& share : shares_) {
      offload::ScheduleRequest r{.m = share.rows.count, .n = share.columns.count, .k = case_.k};
      r.a_by_rows = case_.turned_a, r.b_by_columns = !case_.turned_b;
      r.reads_c = case_.beta != 0;
      r.memory = case_.memory;
      r.m_block = case_.m_block, r.n_block = case_.n_block;
      links.push_back(std::make_unique<FakeLink>([this](const auto& block) { multiply(block); }, seed + links.size(),
                                                 links.empty() ? fault : nullptr));
      offload::Lane lane{.link = links.back().get(), .schedule = make_schedule(r)};
      if (lane.schedule.blocks.empty()) return false;
      lane.a = host(stored_a_, case_.turned_a ? 0 : share.rows.begin, case_.turned_a ? share.rows.begin : 0);
      lane.b = host(stored_b_, case_.turned_b ? share.columns.begin : 0, case_.turned_b ? 0 : share.columns.begin);
      lane.c = lane.out = host(c_, share.rows.begin, share.columns.begin);
      lane.direct_a = case_.direct_a, lane.direct_b = case_.direct_b, lane.direct_c = case_.direct_c;
      lanes.push_back(std::move(lane));
    }
    const std::function<void(double)> nobody;
    Progress progress(nobody);
    results_ =
        offload::run(lanes, {.threads = case_.threads, .piece_bytes = case_.piece, .direct_bytes = 4096}, progress);
    return true;
  }

  // "" or the first entry that is neither right nor missing; missing ones are as they were, unless C is not read.
  std::string fault() {
    if (std::string text = c_.broken_guard(); !text.empty()) return text;
    std::vector<char> missing(static_cast<std::size_t>(case_.m * case_.n), 0);
    for (std::size_t lane = 0; lane < results_.size(); ++lane)
      for (const offload::Rectangle& r : results_[lane].missing)
        for (std::int64_t j = 0; j < r.columns; ++j)
          for (std::int64_t i = 0; i < r.rows; ++i)
            missing.at(static_cast<std::size_t>(shares_[lane].rows.begin + r.row + i +
                                                (shares_[lane].columns.begin + r.column + j) * case_.m)) = 1;
    for (std::int64_t j = 0; j < case_.n; ++j)
      for (std::int64_t i = 0; i < case_.m; ++i) {
        const bool absent = missing[static_cast<std::size_t>(i + j * case_.m)] != 0;
        if (absent && case_.beta == 0) continue;
        const double expected = absent ? before_(i, j) : entry(i, j);
        if (c_(i, j) != expected) return joined("(", i, ", ", j, ") is ", c_(i, j), ", expected ", expected);
      }
    return "";
  }

  std::int64_t missing() const {
    std::int64_t count = 0;
    for (const offload::LaneResult& lane : results_)
      for (const offload::Rectangle& r : lane.missing) count += r.rows * r.columns;
    return count;
  }
  const std::vector<offload::LaneResult>& results() const { return results_; }

 private:
  static Matrix<double> integers(std::int64_t rows, std::int64_t columns, std::uint64_t seed) {
    Random random(seed);
    return Matrix<double>::of(rows, columns, [&](auto, auto) { return random.integer(-9, 9); });
  }
  static offload::HostMatrix host(Matrix<double>& x, std::int64_t row, std::int64_t column) {
    return {reinterpret_cast<std::byte*>(&x(row, column)), x.ld(), sizeof(double)};
  }

  double entry(std::int64_t i, std::int64_t j) const {
    double sum = case_.beta == 0 ? 0 : case_.beta * before_(i, j);
    for (std::int64_t l = 0; l < case_.k; ++l) sum += a_(i, l) * b_(l, j);
    return sum;
  }

  void multiply(const offload::BlockOnDevice& block) const {
    const auto *a = reinterpret_cast<const double*>(block.a), *b = reinterpret_cast<const double*>(block.b);
    auto* c = reinterpret_cast<double*>(block.c);
    const std::int64_t m = block.block->rows.count, n = block.block->columns.count, k = case_.k;
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < m; ++i) {
        double sum = case_.beta == 0 ? 0 : case_.beta * c[i + j * m];
        for (std::int64_t l = 0; l < k; ++l)
          sum += (case_.turned_a ? a[l + i * k] : a[i + l * m]) * (case_.turned_b ? b[j + l * n] : b[l + j * k]);
        c[i + j * m] = sum;
      }
  }

  Case case_;
  Matrix<double> a_, b_, c_, before_, stored_a_, stored_b_;
  std::vector<offload::Share> shares_;
  std::vector<offload::LaneResult> results_;
};

TEST(Transfer, GivesTheProductWhateverTheBlocksPiecesThreadsAndDevices) {
  Random random(3);
  int done = 0;
  for (std::uint64_t i = 0; i < 400; ++i) {
    Transfer transfer(random_case(random), i);
    if (!transfer.run(i, nullptr)) continue;
    ASSERT_EQ(transfer.fault(), "") << "case " << i;
    ASSERT_EQ(transfer.missing(), 0) << "case " << i;
    ++done;
  }
  EXPECT_GT(done, 200);
}

TEST(Transfer, TakesFewThreadsAndSmallPiecesForFewBytes) {
  const auto of = [](std::size_t bytes) { return offload::fitted({.threads = 16}, bytes); };
  EXPECT_EQ(of(100).threads, 1);
  EXPECT_EQ(of(100).piece_bytes, std::size_t{256} << 10);
  EXPECT_EQ(of(std::size_t{1} << 20).threads, 5);
  EXPECT_EQ(of(std::size_t{16} << 20).piece_bytes, std::size_t{512} << 10);
  EXPECT_EQ(of(std::size_t{16} << 20).threads, 16);
  EXPECT_EQ(of(std::size_t{1} << 30).piece_bytes, offload::TransferSettings{}.piece_bytes);
  EXPECT_EQ(offload::fitted({.threads = 2, .piece_bytes = 64}, 1 << 20).piece_bytes, 64u) << "as it was asked for";
}

TEST(Transfer, TakesAThreadALaneForWhatTheDeviceReachesItself) {
  const auto threads = [](bool direct_a, bool direct_c, std::size_t count, int asked) {
    const auto none = [](std::int64_t, std::int64_t) { return std::size_t{0}; };
    offload::Lane lane{.schedule = offload::make_schedule(
                           {.m = 2048, .n = 2048, .k = 2048, .memory = std::size_t{1} << 30, .workspace = none}),
                       .direct_a = direct_a,
                       .direct_b = true,
                       .direct_c = direct_c};
    std::vector<offload::Lane> lanes(count, lane);
    return offload::fitted({.threads = asked}, lanes).threads;
  };
  EXPECT_EQ(threads(true, true, 1, 16), 1);
  EXPECT_EQ(threads(true, true, 2, 16), 2);
  EXPECT_EQ(threads(true, true, 2, 1), 1);
  EXPECT_EQ(threads(false, true, 1, 16), 16);
  EXPECT_EQ(threads(true, false, 1, 8), 8);
}

// The first device stops at a call of any kind, for good or once.
TEST(Transfer, TellsWhatIsMissingWhereverADeviceStops) {
  Random random(4);
  int partial = 0, none = 0;
  for (std::uint64_t i = 0; i < 400; ++i) {
    const Case x = random_case(random);
    Fault fault{.lost = random.integer(0, 1) != 0};
    {
      Transfer counted(x, i);
      if (!counted.run(i, &fault)) continue;
    }
    fault.at_call = static_cast<int>(random.integer(0, fault.calls - 1));
    fault.calls = 0;
    Transfer transfer(x, i);
    ASSERT_TRUE(transfer.run(i, &fault));
    ASSERT_EQ(transfer.fault(), "") << "case " << i << ", call " << fault.at_call;
    const offload::LaneResult& first = transfer.results().front();
    if (fault.calls <= fault.at_call) continue;  // threads took another way, with fewer calls
    EXPECT_NE(first.error.find("the fake device fails"), std::string::npos);
    (first.untouched ? none : partial) += first.missing.empty() ? 0 : 1;
    for (std::size_t lane = 1; lane < transfer.results().size(); ++lane)
      EXPECT_TRUE(transfer.results()[lane].missing.empty());
  }
  EXPECT_GT(partial, 30);
  EXPECT_GT(none, 30);
}

}  // namespace
}  // namespace vernier::test::transfer_test
