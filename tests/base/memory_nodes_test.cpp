// Which NUMA nodes memory is spread over. Machines with several are folders here.
#include "base/memory_nodes.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <filesystem>
#include <fstream>

namespace vernier::test::memory_nodes_test {
namespace {

using List = std::vector<int>;

TEST(MemoryNodes, ReadListsOfProcessors) {
  EXPECT_EQ(parse_cpu_list("0-3,8\n"), (List{0, 1, 2, 3, 8}));
  EXPECT_EQ(parse_cpu_list("5"), (List{5}));
  EXPECT_EQ(parse_cpu_list(""), List{});
  for (const char* wrong : {"a", "1-", "3-1", "1,", "1,,2", "-1", "1 2", "0-99999999", "99999999999"})
    EXPECT_EQ(parse_cpu_list(wrong), List{}) << wrong;
}

// Two sockets of four processors, and a node of memory alone.
TEST(MemoryNodes, AreThoseOfTheProcessorsThatMayBeUsed) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "vernier_memory_nodes_test";
  const auto write = [&](const std::string& name, const std::string& text) {
    std::filesystem::create_directories((folder / name).parent_path());
    std::ofstream(folder / name) << text << "\n";
  };
  write("has_memory", "0-2");
  write("node0/cpulist", "0-1,4-5");
  write("node1/cpulist", "2-3,6-7");
  write("node2/cpulist", "");
  EXPECT_EQ(nodes_of(folder, {0, 1, 2, 3, 4, 5, 6, 7}), (List{0, 1}));
  EXPECT_EQ(nodes_of(folder, {0, 6}), (List{0, 1}));
  EXPECT_EQ(nodes_of(folder, {2, 7}), (List{1}));
  EXPECT_EQ(nodes_of(folder, {8}), List{});
  EXPECT_EQ(nodes_of(folder / "missing", {0}), List{});
  std::filesystem::remove_all(folder);
}

TEST(MemoryNodes, LeaveMemoryUsableWhateverTheSystemSays) {
  constexpr std::size_t bytes = std::size_t{1} << 22;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  interleave(memory, bytes, {0});  // some systems have no such call
  EXPECT_FALSE(interleave(memory, bytes, {100000}));
  spread_over_nodes(memory, bytes);
  std::memset(memory, 7, bytes);
  EXPECT_EQ(static_cast<unsigned char*>(memory)[bytes - 1], 7);
  munmap(memory, bytes);
}

}  // namespace
}  // namespace vernier::test::memory_nodes_test
