// Out of memory is an error that leaves C as it was, and a caller's own workspace is all that is used.
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "fixture.hpp"

// The sanitizers keep shadows of all memory: the limit on address space cannot be set under them.
#if !defined(__SANITIZE_ADDRESS__)

namespace vernier::test::memory_test {
namespace {

class Memory : public PerEngine {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};
INSTANTIATE_TEST_SUITE_P(Engines, Memory, testing::ValuesIn(engine_cases()), ReadableName());

// From here on the process may map no more than extra bytes.
void limit_address_space(std::size_t extra) {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t limit = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) + extra;
  const rlimit both{limit, limit};
  if (pages == 0 || setrlimit(RLIMIT_AS, &both) != 0) std::exit(3);
}

void finish(const std::string& problem) {
  std::fputs(problem.c_str(), stderr);
  std::exit(problem.empty() ? 0 : 1);
}

TEST_P(Memory, ExhaustedIsAnErrorAndCIsUntouched) {
  with_type([this]<class T>(T) {
    const auto in_child = [&] {
      Options one_thread = options<T>();
      one_thread.threads = 1;
      const std::int64_t size = 600;
      const auto a = scattered_matrix<T>(size, size, 0.5, 1), c = scattered_matrix<T>(size, size, 0.5, 2);
      Matrix<T> out = c;
      limit_address_space(std::size_t{1} << 20);
      try {
        gemm<T>(Op::none, Op::none, size, size, size, 1, a.data(), size, a.data(), size, 1, out.data(), size,
                one_thread);
        finish("no error");
      } catch (const Error& error) {
        if (error.status() != Status::out_of_memory) finish(std::string("another error: ") + error.what());
      }
      finish(difference(out, c));
    };
    EXPECT_EXIT(in_child(), testing::ExitedWithCode(0), "");
  });
}

TEST_P(Memory, OfTheCallerIsEnough) {
  with_type([this]<class T>(T) {
    const auto in_child = [&] {
      Options own = options<T>();
      own.threads = 1;
      const std::int64_t size = 500;
      const auto a = integer_matrix<T>(size, size, 100, 1);
      Matrix<T> warm(8, 8), out(size, size);
      gemm<T>(Op::none, Op::none, 8, 8, 8, 1, a.data(), size, a.data(), size, 0, warm.data(), 8, own);
      release_workspace();
      const auto expected = multiply<T>({.a = a, .b = a, .pad_a = 0, .pad_b = 0}, own).c;
      release_workspace();
      std::vector<std::byte> memory(gemm_workspace<T>(size, size, size, own));
      own.workspace = memory.data();
      own.workspace_bytes = memory.size();
      limit_address_space(std::size_t{256} << 10);
      try {
        gemm<T>(Op::none, Op::none, size, size, size, 1, a.data(), size, a.data(), size, 0, out.data(), size, own);
      } catch (const std::exception& error) {
        finish(error.what());
      }
      finish(difference(out, expected));
    };
    EXPECT_EXIT(in_child(), testing::ExitedWithCode(0), "");
  });
}

}  // namespace
}  // namespace vernier::test::memory_test

#endif
