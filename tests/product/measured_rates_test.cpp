// Times of a machine in a file, and the factors that estimates take from them.
#include "product/plan/measured_rates.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>

#include "base/status.hpp"
#include "support/temporary_folder.hpp"

namespace vernier::test::measured_rates_test {
namespace {

MeasuredTime time(const char* method, int threads, std::int64_t n, double seconds, int moduli = 0) {
  return {method, false, threads, n, moduli, seconds};
}

double factor(const MeasuredRates& rates, const char* method, double size, int threads) {
  return rates.factor(
      size, threads, [&](const MeasuredTime& t) { return t.method == method; },
      [](const MeasuredTime&) { return 1.0; });
}

TEST(MeasuredRates, GiveTheMeasuredFactorAndALineBetween) {
  const MeasuredRates rates{
      "", "", "", {time("native", 2, 1000, 4), time("native", 2, 250, 1), time("amx", 2, 250, 9)}};
  EXPECT_DOUBLE_EQ(factor(rates, "native", 250, 2), 1);
  EXPECT_DOUBLE_EQ(factor(rates, "native", 1000, 2), 4);
  EXPECT_NEAR(factor(rates, "native", 500, 2), 2, 1e-12) << "halfway in the logarithms";
  EXPECT_DOUBLE_EQ(factor(rates, "native", 10, 2), 1);
  EXPECT_DOUBLE_EQ(factor(rates, "native", 1e5, 2), 4);
  EXPECT_DOUBLE_EQ(factor(rates, "amx_bf16", 500, 2), 1) << "not measured";
  EXPECT_DOUBLE_EQ(factor({}, "native", 500, 2), 1);
}

TEST(MeasuredRates, TakeTheNearestNumberOfThreads) {
  const MeasuredRates rates{"", "", "", {time("native", 1, 500, 1), time("native", 16, 500, 3)}};
  EXPECT_DOUBLE_EQ(factor(rates, "native", 500, 2), 1);
  EXPECT_DOUBLE_EQ(factor(rates, "native", 500, 12), 3);
  EXPECT_DOUBLE_EQ(factor(rates, "native", 500, 64), 3);
}

TEST(MeasuredRatesFile, KeepsTheTimesOfOtherMachines) {
  const TemporaryFolder folder;
  const std::string file = folder / "new folder/rates.json";
  write_rates(file, {"one", "blas", "2026-01-01", {time("native", 2, 384, 0.5)}});
  write_rates(file, {"other", "blas", "2026-01-02", {time("amx", 4, 768, 0.25, 15)}});
  write_rates(file, {"one", "blas", "2026-01-03", {time("native", 2, 384, 0.75)}});
  const MeasuredRates one = read_rates(file, "one", "blas"), other = read_rates(file, "other", "blas");
  ASSERT_EQ(one.times.size(), 1U);
  EXPECT_EQ(one.times[0].seconds, 0.75);
  EXPECT_EQ(one.date, "2026-01-03");
  ASSERT_EQ(other.times.size(), 1U);
  EXPECT_EQ(other.times[0].method, "amx");
  EXPECT_EQ(other.times[0].moduli, 15);
  EXPECT_TRUE(read_rates(file, "one", "another blas").times.empty()) << "none but native";
  const MeasuredRates with_another_blas = read_rates(file, "other", "another blas");
  ASSERT_EQ(with_another_blas.times.size(), 1U);
  EXPECT_EQ(with_another_blas.times[0].method, "amx");
  EXPECT_EQ(with_another_blas.blas, "another blas");
}

TEST(MeasuredRatesFile, ThatIsNoneLeavesTheTable) {
  const TemporaryFolder folder;
  const std::string file = folder / "rates.json";
  EXPECT_TRUE(read_rates(file, "one", "blas").times.empty());
  for (const char* text :
       {"", "{", "[1, 2]", R"({"machines": 3})", R"({"machines": [4, {"processor": "one", "blas": "blas"}]})",
        R"({"machines": [{"processor": "one", "blas": "blas", "date": "d", "times": [{"method": 1}]}]})",
        R"({"machines": [{"processor": "one", "blas": "blas", "date": "d", "times": [
            {"method": "native", "type": "double", "threads": 0, "n": 1, "moduli": 0, "seconds": 1},
            {"method": "native", "type": "double", "threads": 1, "n": 1, "moduli": 0, "seconds": -1}]}]})",
        R"({"machines": [{"processor": "one", "blas": "blas", "date": "d", "times": [
            {"method": "native", "type": "double", "threads": 1e30, "n": 1, "moduli": 0, "seconds": 1}]}]})",
        R"({"machines": [{"processor": "one", "blas": "blas", "date": "d", "times": [
            {"method": "native", "type": "double", "threads": 1, "n": 1, "moduli": 0, "seconds": 1e300}]}]})"}) {
    std::ofstream(file) << text;
    EXPECT_TRUE(read_rates(file, "one", "blas").times.empty()) << text;
  }
}

TEST(MeasuredRatesFile, ThatCannotBeWrittenIsAnError) {
  const TemporaryFolder folder;
  folder.write("a file", "text");
  EXPECT_THROW(write_rates(folder / "a file/rates.json", {}), Error);
  EXPECT_EQ(folder.names(), std::vector<std::string>{"a file"});
}

TEST(RatesFile, IsNamedByTheEnvironment) {
  const auto with = [](const char* rates, const char* cache, const char* home) {
    const auto set = [](const char* name, const char* value) {
      if (value == nullptr) {
        unsetenv(name);
      } else {
        setenv(name, value, 1);
      }
    };
    set("VERNIER_RATES", rates);
    set("XDG_CACHE_HOME", cache);
    set("HOME", home);
    return rates_file();
  };
  EXPECT_EQ(with("/x/y.json", "/cache", "/home"), "/x/y.json");
  EXPECT_EQ(with("none", "/cache", "/home"), "");
  EXPECT_EQ(with("", "/cache", "/home"), "");
  EXPECT_EQ(with("/dev/null", "/cache", "/home"), "") << "it would be replaced by a file";
  const TemporaryFolder folder;
  const std::string pipe = folder / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(with(pipe.c_str(), "/cache", "/home"), "") << "it would be waited for";
  EXPECT_EQ(with(nullptr, "/cache", "/home"), "/cache/vernier/rates.json");
  EXPECT_EQ(with(nullptr, nullptr, "/home"), "/home/.cache/vernier/rates.json");
  EXPECT_EQ(with(nullptr, nullptr, nullptr), "");
}

}  // namespace
}  // namespace vernier::test::measured_rates_test
