// A variable of the environment is known from call to call, and follows what the program makes of its environment.
#include "base/variable.hpp"

#include <gtest/gtest.h>
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

// A variable set in the midst of as many others as before, at the same place (glibc).
TEST(Variable, IsSeenInAnEnvironmentMadeAnewAtTheSamePlace) {
  const auto fill = [](int strings, int with) {
    clearenv();
    for (int i = 0; i < strings; ++i)
      setenv(i == with ? "VERNIER_TEST_ANEW" : ("V" + std::to_string(i)).c_str(), "1", 1);
  };
  const auto all_seen = [&] {
    for (const int strings : {5, 128, 300}) {
      static constinit Variable variable("VERNIER_TEST_ANEW");
      for (int turn = 0; turn < 2; ++turn) {
        fill(strings, -1);
        if (variable.get() != nullptr || variable.get() != nullptr) return 1;
      }
      fill(strings, strings / 2);
      if (variable.get() == nullptr) return 1;
    }
    return 0;
  };
  EXPECT_EXIT(std::_Exit(all_seen()), testing::ExitedWithCode(0), "");
}

TEST(NoNewStrings, HoldsUntilAStringComesOrGoes) {
  EXPECT_FALSE(NoNewStrings{}.hold());
  const auto follows = [] {
    environ = first_environment;
    if (environ == nullptr || *environ == nullptr) return 2;
    const auto take_first_away = [] {
      const std::string first = *environ;
      unsetenv(first.substr(0, first.find('=')).c_str());
    };
    const NoNewStrings all = NoNewStrings::since_now();
    if (!all.hold()) return 3;
    take_first_away();
    const NoNewStrings fewer = NoNewStrings::since_now();
    if (all.hold() || !fewer.hold()) return 4;
    char** const first = environ;
    setenv("VERNIER_TEST_NEW", "1", 1);
    if (all.hold() || fewer.hold() || NoNewStrings::since_now().hold()) return 5;
    environ = first;
    if (!fewer.hold()) return 6;
    while (*environ != nullptr) take_first_away();
    if (fewer.hold() || NoNewStrings::since_now().hold()) return 7;
    environ = nullptr;
    return fewer.hold() || NoNewStrings::since_now().hold() ? 8 : 0;
  };
  EXPECT_EXIT(std::_Exit(follows()), testing::ExitedWithCode(0), "");
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
