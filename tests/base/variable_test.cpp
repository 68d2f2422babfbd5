// A variable of the environment is known from call to call, and follows what the program makes of its environment.
#include "base/variable.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <thread>

namespace vernier::test::variable_test {

std::string text(Variable& variable) {
  const char* value = variable.get();
  return value == nullptr ? "-" : value;
}

TEST(Variable, FollowsTheEnvironment) {
  static constinit Variable variable("VERNIER_TEST_VARIABLE"), other("VERNIER_TEST_OTHER");
  const auto both = [] { return text(variable) + " " + text(other); };
  EXPECT_EQ(both(), "- -");
  for (const char* value : {"a", "b", "a", "longer than it was", "a"}) {
    setenv("VERNIER_TEST_VARIABLE", value, 1);
    EXPECT_EQ(both(), value + std::string(" -"));
    EXPECT_EQ(both(), value + std::string(" -"));
  }
  setenv("VERNIER_TEST_OTHER", "c", 1);
  EXPECT_EQ(both(), "a c");
  std::thread([&] { EXPECT_EQ(both(), "a c"); }).join();
  std::thread([] { unsetenv("VERNIER_TEST_VARIABLE"); }).join();
  EXPECT_EQ(both(), "- c");
  setenv("VERNIER_TEST_VARIABLE", "d", 1);
  EXPECT_EQ(both(), "d c");
  unsetenv("VERNIER_TEST_OTHER");
  setenv("VERNIER_TEST_ANOTHER", "in its place", 1);
  EXPECT_EQ(both(), "d -");
  unsetenv("VERNIER_TEST_VARIABLE");
  unsetenv("VERNIER_TEST_ANOTHER");
}

// Those before it come and go, and it changes places with another one.
TEST(Variable, FollowsItsStringToOtherPlaces) {
  static constinit Variable variable("VERNIER_TEST_MOVED");
  setenv("VERNIER_TEST_BEFORE", "x", 1);
  setenv("VERNIER_TEST_MOVED", "a", 1);
  setenv("VERNIER_TEST_BEHIND", "y", 1);
  EXPECT_EQ(text(variable), "a");
  unsetenv("VERNIER_TEST_BEFORE");
  EXPECT_EQ(text(variable), "a");
  unsetenv("VERNIER_TEST_MOVED");
  EXPECT_EQ(text(variable), "-");
  unsetenv("VERNIER_TEST_BEHIND");
  setenv("VERNIER_TEST_MOVED", "b", 1);
  EXPECT_EQ(text(variable), "b");
  char** const before = environ;
  char* none[] = {nullptr};
  environ = none;
  EXPECT_EQ(text(variable), "-");
  environ = before;
  EXPECT_EQ(text(variable), "b");
  unsetenv("VERNIER_TEST_MOVED");
  EXPECT_EQ(text(variable), "-");
}

// A program may free its environment and get a shorter one at the same place: nothing behind its end is read.
TEST(Variable, IsNotReadBehindTheEndOfAShorterEnvironmentInThePlaceOfAnother) {
  static constinit Variable variable("VERNIER_TEST_SHORTER");
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const memory = mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  char one[] = "VERNIER_TEST_ONE=1", own[] = "VERNIER_TEST_SHORTER=a", two[] = "VERNIER_TEST_TWO=2";
  char** const before = environ;
  char** const place =
      reinterpret_cast<char**>(static_cast<char*>(memory) + page) - 3;  // the end lies in the next page
  const auto fill = [&] { place[0] = one, place[1] = own, place[2] = two; };
  fill();
  environ = place;
  EXPECT_EQ(text(variable), "a");
  EXPECT_EQ(text(variable), "a");
  place[1] = nullptr;  // what lay behind still lies there
  EXPECT_EQ(text(variable), "-");
  fill();
  EXPECT_EQ(text(variable), "a");
  place[0] = nullptr;
  EXPECT_EQ(text(variable), "-");
  fill();
  EXPECT_EQ(text(variable), "a");
  place[2] = nullptr;
  EXPECT_EQ(mprotect(static_cast<char*>(memory) + page, page, PROT_NONE), 0);
  EXPECT_EQ(text(variable), "a");
  environ = before;
  EXPECT_EQ(text(variable), "-");
  munmap(memory, 2 * page);
}

// Its strings as the program's own: one that the program writes in is read anew.
TEST(Variable, IsReadAnewWhereItsStringIsThePrograms) {
  static constinit Variable variable("VERNIER_TEST_PUT");
  static char own[] = "VERNIER_TEST_PUT=one";
  putenv(own);
  EXPECT_EQ(text(variable), "one");
  std::string("two").copy(own + sizeof("VERNIER_TEST_PUT"), 3);
  EXPECT_EQ(text(variable), "two");
  own[0] = 'W';
  EXPECT_EQ(text(variable), "-") << "it has another name";
  unsetenv("WERNIER_TEST_PUT");
  EXPECT_EQ(text(variable), "-");
}

}  // namespace vernier::test::variable_test
