#include "base/workspace.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "support/data_limit.hpp"
#include "support/temporary_folder.hpp"
#include "vernier/vernier.hpp"

namespace vernier::test::workspace_test {
namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

// Each test starts with an empty pool, and leaves one.
class WorkspaceTest : public testing::Test {
 protected:
  void SetUp() override { release_workspace(); }
  void TearDown() override { release_workspace(); }
};

std::byte* used_and_returned(std::size_t bytes) {
  const Workspace workspace(bytes);
  std::memset(workspace.data(), 0x5a, bytes);
  return workspace.data();
}

TEST_F(WorkspaceTest, IsWritableToItsLastByte) {
  for (const std::size_t bytes : {std::size_t{1}, 2 * mebibyte - 1, 2 * mebibyte, 2 * mebibyte + 1}) {
    const Workspace workspace(bytes);
    EXPECT_EQ(workspace.bytes(), bytes);
    std::memset(workspace.data(), 1, bytes);
  }
}

TEST_F(WorkspaceTest, GoesBackToThePoolAndServesTheNextRequest) {
  std::byte* first = used_and_returned(5 * mebibyte);
  EXPECT_EQ(used_and_returned(5 * mebibyte), first);
  const Workspace smaller(mebibyte);
  EXPECT_EQ(smaller.data(), first);
  EXPECT_EQ(smaller.bytes(), mebibyte);
}

TEST_F(WorkspaceTest, TakesTheSmallestBufferThatIsLargeEnough) {
  std::byte *small = nullptr, *large = nullptr;
  {
    const Workspace a(4 * mebibyte), b(16 * mebibyte);
    small = a.data();
    large = b.data();
  }
  const Workspace third(3 * mebibyte), fifth(5 * mebibyte);
  EXPECT_EQ(third.data(), small);
  EXPECT_EQ(fifth.data(), large);
}

// Pages fresh from the system are zero, those of the pool are not.
TEST_F(WorkspaceTest, ReleaseGivesIdleBuffersBack) {
  used_and_returned(4 * mebibyte);
  {
    const Workspace from_pool(4 * mebibyte);
    EXPECT_EQ(from_pool.data()[100], std::byte{0x5a});
  }
  release_workspace();
  const Workspace fresh(4 * mebibyte);
  EXPECT_EQ(fresh.data()[100], std::byte{0});
}

TEST_F(WorkspaceTest, BuffersThatAreTooSmallAreGivenBack) {
  used_and_returned(4 * mebibyte);
  const Workspace large(32 * mebibyte);
  const Workspace small(4 * mebibyte);
  EXPECT_EQ(small.data()[100], std::byte{0});
}

TEST_F(WorkspaceTest, ReleaseLeavesBuffersInUseAlone) {
  const Workspace workspace(4 * mebibyte);
  std::memset(workspace.data(), 7, workspace.bytes());
  release_workspace();
  EXPECT_TRUE(std::all_of(workspace.data(), workspace.data() + workspace.bytes(),
                          [](std::byte b) { return b == std::byte{7}; }));
}

TEST_F(WorkspaceTest, OfTheCallerIsUsedAsItIsAndStaysTheCallers) {
  std::vector<std::byte> own(4 * mebibyte, std::byte{9});
  {
    const Workspace workspace(own.size(), own.data());
    EXPECT_EQ(workspace.data(), own.data());
    EXPECT_EQ(workspace.bytes(), own.size());
  }
  release_workspace();
  EXPECT_EQ(own.front(), std::byte{9});
  const Workspace other(own.size());
  EXPECT_NE(other.data(), own.data());
}

TEST_F(WorkspaceTest, OfImpossibleSizeIsOutOfMemory) {
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  for (const std::size_t bytes : {most, most - 1, most - 2 * mebibyte, most - 2 * mebibyte + 1, most / 2, most / 4}) {
    try {
      const Workspace workspace(bytes);
      ADD_FAILURE() << bytes << " bytes were granted";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::out_of_memory);
      EXPECT_NE(std::string(error.what()).find(std::to_string(bytes)), std::string::npos) << error.what();
    }
  }
}

TEST_F(WorkspaceTest, ThreadsNeverShareABuffer) {
  std::vector<std::thread> threads;
  std::vector<int> broken(4);
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 300; ++i) {
        const Workspace workspace(static_cast<std::size_t>(1 + i % 3) * 2 * mebibyte);
        auto* mark = reinterpret_cast<volatile int*>(workspace.data());
        *mark = t;
        if (i % 50 == 0) release_workspace();
        std::this_thread::yield();
        if (*mark != t) ++broken[static_cast<std::size_t>(t)];
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const int count : broken) EXPECT_EQ(count, 0);
}

TEST(Arena, HandsOutPagesThatDoNotOverlap) {
  std::vector<std::byte> buffer(20 * Arena::alignment);
  std::byte* begin = Arena::first_page(buffer.data());
  Arena arena(begin, 19 * Arena::alignment);
  const std::byte* end = begin;
  for (const std::size_t count : {std::size_t{1}, std::size_t{511}, std::size_t{512}, std::size_t{513}}) {
    auto* piece = reinterpret_cast<std::byte*>(arena.take<double>(count));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(piece) % Arena::alignment, 0u);
    EXPECT_GE(piece, end);
    end = piece + count * sizeof(double);
  }
  EXPECT_LE(end, begin + 19 * Arena::alignment);
}

// The same code counts and hands out: what was counted is enough for a buffer that begins anywhere.
TEST(Arena, CountsWhatAnUnalignedBufferNeeds) {
  const auto carve = [](Arena& arena) {
    arena.take<char>(1);
    arena.take<int>(5000);
    arena.take<double>(0);
    return arena.take<double>(777);
  };
  Arena count;
  EXPECT_EQ(carve(count), nullptr);
  for (const std::size_t skew : {std::size_t{0}, std::size_t{1}, std::size_t{64}, Arena::alignment - 1}) {
    std::vector<std::byte> buffer(count.used() + 2 * Arena::alignment);
    std::byte* start = Arena::first_page(buffer.data()) + skew;
    Arena arena(start, count.used());
    double* last = carve(arena);
    EXPECT_LE(reinterpret_cast<std::byte*>(last + 777), start + count.used());
    EXPECT_EQ(arena.used(), count.used());
  }
}

// By version 2 (the line "0::") and version 1; of a group and those around it the least counts.
TEST(ControlGroups, TheLeastLimitOfAGroupAndThoseAroundItCounts) {
  const TemporaryFolder folder;
  const auto limit = [&](const std::string& file, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(folder / file).parent_path());
    folder.write(file, text + "\n");
  };
  const auto least = [&](const std::string& groups) {
    return control_group_limit(folder.write("groups", groups), folder / "");
  };
  constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
  EXPECT_EQ(least("0::/slurm/job/step\n"), none);
  EXPECT_EQ(control_group_limit(folder / "missing", folder / ""), none);
  limit("slurm/job/memory.max", "8589934592");
  limit("slurm/job/step/memory.max", "max");
  limit("slurm/memory.max", "0");
  EXPECT_EQ(least("0::/slurm/job/step\n"), std::size_t{8} << 30);
  EXPECT_EQ(least("3:cpu:/slurm/job\n0::/other\n"), none);
  limit("memory/lsf/memory.limit_in_bytes", "4294967296");
  limit("memory/memory.limit_in_bytes", "9223372036854771712");
  EXPECT_EQ(least("7:cpuset:/\n4:hugetlb,memory:/lsf/a\n0::/slurm/job\n"), std::size_t{4} << 30);
  EXPECT_EQ(least("4:memoryless:/lsf\n"), 9223372036854771712U) << "the root's";
  for (const char* odd : {"", "\n", "0", "0:", "0::", "0::no-slash\n", "4:memory:\n"})
    EXPECT_EQ(least(odd), 9223372036854771712U) << odd;
  limit("memory.max", "1073741824");
  EXPECT_EQ(least("0::/\n"), std::size_t{1} << 30) << "a container's own";
}

TEST(WorkspaceMemory, IsGrantedWhereIdleBuffersMakeRoomForIt) {
  constexpr std::size_t gibibyte = std::size_t{1} << 30;
  release_workspace();
  const DataLimit limit(gibibyte);
  EXPECT_FALSE(grants_workspace(2 * gibibyte));
  { const Workspace idle(gibibyte / 2); }
  EXPECT_TRUE(grants_workspace(gibibyte / 2));
  EXPECT_TRUE(grants_workspace(gibibyte / 4 * 3)) << "the idle buffer stands in the way";
  release_workspace();
}

// What the default of workspaces goes by: a program of its own, since the answer is kept.
TEST(MachineMemory, IsNoMoreThanTheLimitOfAddresses) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto ask_within_limit = [] {
    constexpr rlim_t most = rlim_t{1} << 32;
    const rlimit limit = {most, most};
    if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(2);
    const std::size_t bytes = machine_memory_bytes();
    _exit(bytes > 0 && bytes <= most ? 0 : 1);
  };
  EXPECT_EXIT(ask_within_limit(), testing::ExitedWithCode(0), "");
}

TEST(Arena, ThrowsRatherThanHandOutWhatItDoesNotHave) {
  std::vector<std::byte> buffer(4 * Arena::alignment);
  Arena arena(Arena::first_page(buffer.data()), 2 * Arena::alignment);
  EXPECT_NE(arena.take<char>(Arena::alignment + 1), nullptr);
  EXPECT_THROW(arena.take<char>(1), std::bad_alloc);
}

}  // namespace
}  // namespace vernier::test::workspace_test
