// One process after another.
#include "base/file_lock.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "support/temporary_folder.hpp"

namespace vernier::file_lock_test {
namespace {

TEST(FileLock, IsHeldByOneAtATime) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "lock";
  {
    const FileLock first(path, 0);
    EXPECT_TRUE(first.held());
    EXPECT_FALSE(FileLock(path, 0).held());
    EXPECT_FALSE(FileLock(path, 0.02).held());
    EXPECT_TRUE(FileLock(folder / "another", 0).held());
  }
  EXPECT_TRUE(FileLock(path, 0).held());
}

TEST(FileLock, IsNotHeldWhereTheFileCannotBeMade) { EXPECT_FALSE(FileLock("/nowhere/lock", 1).held()); }

// Each adds one to a number in a file, by reading and writing it.
TEST(FileLock, ProcessesThatWaitForItLoseNothing) {
  constexpr int processes = 6, additions = 20;
  const test::TemporaryFolder folder;
  const std::string path = folder / "lock", number = folder.write("number", "0");
  const auto read = [&] {
    int x = 0;
    std::ifstream(number) >> x;
    return x;
  };
  const auto add = [&] {
    for (int i = 0; i < additions; ++i) {
      const FileLock lock(path, 60);
      if (!lock.held()) return 1;
      const int x = read();
      std::ofstream(number) << x + 1;
    }
    return 0;
  };
  for (int i = 0; i < processes; ++i)
    if (fork() == 0) _exit(add());
  for (int i = 0; i < processes; ++i) {
    int status = 1;
    ASSERT_GT(wait(&status), 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(read(), processes * additions);
}

}  // namespace
}  // namespace vernier::file_lock_test
