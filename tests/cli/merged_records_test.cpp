// Records of the processes of one program become one, as `vernier run` shows them.
#include "merged_records.hpp"

#include <gtest/gtest.h>

namespace vernier::cli::merged_records_test {
namespace {

using Json = nlohmann::ordered_json;

Json record(const char* library, int pid, int taken, double seconds, int span, int n) {
  return {
      {"library", library},
      {"program", "solver"},
      {"pid", pid},
      {"contract", "fp64+reproducible"},
      {"taken", taken},
      {"seconds", seconds},
      {"elapsed", seconds / 2},
      {"threads", 2},
      {"seconds_passed_on", 0.25},
      {"engine", taken > 0 ? "avx2" : ""},
      {"log2_bound", -40.0 - pid},
      {"fallbacks", 1},
      {"largest_span", span},
      {"passed_on", {{"small", 2}}},
      {"slowest",
       Json::array({{{"routine", "dgemm"}, {"m", n}, {"n", n}, {"k", n}, {"calls", taken}, {"seconds", seconds}}})}};
}

TEST(MergedRecords, AddUpTheProcessesOfAProgram) {
  Json last = record("vernier_pblas", 3, 5, 4.0, 9, 64);
  last["passed_on"] = {{"small", 1}, {"data too wide", 7}};
  last["last_message"] = "too wide";
  const auto merged =
      merged_records({record("vernier_pblas", 1, 0, 1.0, 3, 64), record("vernier_blas", 1, 4, 1.0, 3, 64),
                      record("vernier_pblas", 2, 2, 2.0, 1, 32), last});
  ASSERT_EQ(merged.size(), 2U);
  const Json& m = merged[0];
  EXPECT_EQ(m["library"], "vernier_pblas");
  EXPECT_EQ(m["processes"], 3);
  EXPECT_EQ(m["taken"], 7);
  EXPECT_EQ(m["seconds"], 7.0);
  EXPECT_EQ(m["elapsed"], 2.0);
  EXPECT_EQ(m["seconds_passed_on"], 0.75);
  EXPECT_EQ(m["engine"], "avx2");
  EXPECT_EQ(m["log2_bound"], -41.0);
  EXPECT_EQ(m["fallbacks"], 3);
  EXPECT_EQ(m["largest_span"], 9);
  EXPECT_EQ(m["passed_on"], (Json{{"small", 5}, {"data too wide", 7}}));
  EXPECT_EQ(m["last_message"], "too wide");
  ASSERT_EQ(m["slowest"].size(), 2U);
  EXPECT_EQ(m["slowest"][0]["m"], 64);
  EXPECT_EQ(m["slowest"][0]["calls"], 5);
  EXPECT_EQ(m["slowest"][0]["seconds"], 5.0);
  EXPECT_FALSE(merged[1].contains("processes")) << "one process is shown as it is";
}

TEST(MergedRecords, ABoundIsThatOfTheProcessesThatHaveOne) {
  const auto with_bound = [](int pid, const Json& bound) {
    Json r = record("vernier_blas", pid, 1, 1.0, 1, 8);
    r["log2_bound"] = bound;
    return r;
  };
  EXPECT_EQ(merged_records({with_bound(1, nullptr), with_bound(2, -41.0)})[0]["log2_bound"], -41.0);
  EXPECT_EQ(merged_records({with_bound(1, -41.0), with_bound(2, nullptr)})[0]["log2_bound"], -41.0);
  EXPECT_TRUE(merged_records({with_bound(1, nullptr), with_bound(2, nullptr)})[0]["log2_bound"].is_null());
}

TEST(MergedRecords, KeepProgramsAndContractsApart) {
  Json other = record("vernier_blas", 2, 1, 1.0, 1, 8), exact = other;
  other["program"] = "another";
  exact["contract"] = "exact";
  EXPECT_EQ(merged_records({record("vernier_blas", 1, 1, 1.0, 1, 8), other, exact}).size(), 3U);
}

TEST(MergedRecords, ShowTheFiveSlowest) {
  std::vector<Json> records;
  for (int i = 1; i < 9; ++i) records.push_back(record("vernier_blas", i, 1, i, 1, i));
  const auto merged = merged_records(records);
  ASSERT_EQ(merged[0]["slowest"].size(), 5U);
  EXPECT_EQ(merged[0]["slowest"][0]["m"], 8);
}

}  // namespace
}  // namespace vernier::cli::merged_records_test
