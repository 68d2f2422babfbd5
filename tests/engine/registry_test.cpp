#include <gtest/gtest.h>

#include <cstdlib>

#include "engine/int8_engine.hpp"
#include "vernier/vernier.hpp"

namespace vernier::test::registry_test {
namespace {

class RegistryTest : public testing::Test {
 protected:
  void SetUp() override {
    const char* value = std::getenv("VERNIER_ENGINE");
    was_set_ = value != nullptr;
    if (was_set_) before_ = value;
    unsetenv("VERNIER_ENGINE");
  }
  void TearDown() override {
    if (was_set_)
      setenv("VERNIER_ENGINE", before_.c_str(), 1);
    else
      unsetenv("VERNIER_ENGINE");
  }

 private:
  bool was_set_ = false;
  std::string before_;
};

// What asking for the name throws: its status and message, or ok.
std::pair<Status, std::string> complaint(std::string_view name) {
  try {
    find_int8_engine(name);
  } catch (const Error& error) {
    return {error.status(), error.what()};
  }
  return {Status::ok, ""};
}

TEST_F(RegistryTest, ListsEnginesInOrderOfPreference) {
  std::vector<std::string> names;
  for (const Int8Engine* engine : int8_engines()) names.emplace_back(engine->name());
#if VERNIER_X86
  EXPECT_EQ(names, (std::vector<std::string>{"amx", "avx512_vnni", "avx2", "portable"}));
#else
  EXPECT_EQ(names, std::vector<std::string>{"portable"});
#endif
}

TEST_F(RegistryTest, HasAPortableEngineEverywhere) { EXPECT_EQ(find_int8_engine("portable").missing(), ""); }

TEST_F(RegistryTest, ChoosesTheFirstEngineThatRunsHere) {
  const Int8Engine& chosen = find_int8_engine("");
  for (const Int8Engine* engine : int8_engines()) {
    if (engine == &chosen) break;
    EXPECT_NE(engine->missing(), "") << engine->name();
  }
  EXPECT_EQ(chosen.missing(), "");
}

TEST_F(RegistryTest, FindsAnEngineByNameOnlyIfItRunsHere) {
  for (const Int8Engine* engine : int8_engines()) {
    if (engine->missing().empty()) {
      EXPECT_EQ(&find_int8_engine(engine->name()), engine);
    } else {
      const auto [status, message] = complaint(engine->name());
      EXPECT_EQ(status, Status::unsupported);
      EXPECT_NE(message.find(engine->missing()), std::string::npos) << message;
      EXPECT_NE(message.find("portable"), std::string::npos) << message;
    }
  }
}

TEST_F(RegistryTest, NamesTheEnginesThereAreWhenAskedForAnother) {
  for (const char* name : {"avx1024", "AMX", "native", " "}) {
    const auto [status, message] = complaint(name);
    EXPECT_EQ(status, Status::invalid_argument) << name;
    EXPECT_NE(message.find('"' + std::string(name) + '"'), std::string::npos) << message;
    EXPECT_NE(message.find("portable"), std::string::npos) << message;
  }
}

TEST_F(RegistryTest, ReadsTheEnvironmentAtEachCall) {
  setenv("VERNIER_ENGINE", "portable", 1);
  EXPECT_EQ(find_int8_engine("").name(), "portable");
  EXPECT_EQ(requested_engine(""), "portable");
  setenv("VERNIER_ENGINE", "abacus", 1);
  const auto [status, message] = complaint("");
  EXPECT_EQ(status, Status::invalid_argument);
  EXPECT_NE(message.find("VERNIER_ENGINE \"abacus\""), std::string::npos) << message;
  setenv("VERNIER_ENGINE", "", 1);
  EXPECT_EQ(complaint("").first, Status::ok);
}

TEST_F(RegistryTest, PrefersANameToTheEnvironment) {
  setenv("VERNIER_ENGINE", "abacus", 1);
  EXPECT_EQ(find_int8_engine("portable").name(), "portable");
  EXPECT_EQ(requested_engine("native"), "native");
}

}  // namespace
}  // namespace vernier::test::registry_test
