// Rates that a file lacks, or that were measured in a busy moment.
#include "vernier/rates.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "base/cpu_features.hpp"
#include "product/native/native.hpp"
#include "product/plan/measured_rates.hpp"
#include "support/temporary_folder.hpp"

namespace vernier::test::missing_rates_test {
namespace {

class MissingRates : public testing::Test {
 protected:
  MissingRates() {
    if (const char* set = std::getenv("VERNIER_RATES")) before_ = set;
    setenv("VERNIER_RATES", file_.c_str(), 1);
    forget_rates();
  }
  ~MissingRates() override {
    before_.empty() ? unsetenv("VERNIER_RATES") : setenv("VERNIER_RATES", before_.c_str(), 1);
    forget_rates();
  }

  void write(const MeasuredRates& rates) const {
    write_rates(file_, rates);
    forget_rates();
  }

 private:
  TemporaryFolder folder_;
  std::string before_;

 protected:
  std::string file_ = folder_ / "rates.json";
};

TEST_F(MissingRates, AreMeasuredAgainWhereTheNativeProductTakesMuchLess) {
  constexpr double busy = 1000;
  MeasuredRates rates{processor_name(), native_name(), "2026-01-01", {}};
  for (const std::int64_t n : {160, 384, 768, 1536})
    for (const bool single : {false, true}) rates.times.push_back({"native", single, 1, n, 0, busy});
  write(rates);
  EXPECT_EQ(measure_missing_rates(1), file_);
  MeasuredRates again = read_rates(file_, processor_name(), native_name());
  const auto is_native = [](const MeasuredTime& t) { return t.method == "native"; };
  EXPECT_EQ(std::count_if(again.times.begin(), again.times.end(), is_native), 8) << "in place of the others";
  for (MeasuredTime& t : again.times) {
    EXPECT_LT(t.seconds, busy / 2) << t.method << ' ' << t.n;
    t.seconds *= 0.3;
  }
  write(again);
  EXPECT_EQ(measure_missing_rates(1), "") << "a machine that is busy now";
}

}  // namespace
}  // namespace vernier::test::missing_rates_test
