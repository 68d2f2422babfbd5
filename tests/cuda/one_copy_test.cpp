// How many files of a library the process has loaded: copies of one under the names of versions.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "cuda/shared_library.hpp"
#include "support/temporary_folder.hpp"

namespace vernier::test::one_copy_test {
namespace {

TEST(OneCopy, IsToldFromNoneAndFromSeveral) {
  const TemporaryFolder folder;
  const auto load = [&](const std::string& name) {
    const std::string path = folder / name;
    std::filesystem::copy_file(VERNIER_SOME_LIBRARY, path);
    return dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  };
  cuda::OneCopy twin("libtwin");
  EXPECT_FALSE(twin.is_loaded());
  ASSERT_NE(load("libtwinLt.so.12"), nullptr);
  EXPECT_FALSE(twin.is_loaded()) << "another library";
  ASSERT_NE(load("libtwin.so.12"), nullptr);
  EXPECT_TRUE(twin.is_loaded());
  EXPECT_TRUE(twin.is_loaded()) << "nothing was loaded since";
  void* const second = load("libtwin-0a1b.so.12");
  ASSERT_NE(second, nullptr);
  EXPECT_FALSE(twin.is_loaded());
  dlclose(second);
  EXPECT_TRUE(twin.is_loaded());
}

}  // namespace
}  // namespace vernier::test::one_copy_test
