// Rates as they might be measured on a machine whose BLAS is slow, so that plans by estimate take residues here.
#pragma once

#include <cstdlib>

#include "base/cpu_features.hpp"
#include "engine/int8_engine.hpp"
#include "product/native/native.hpp"
#include "product/plan/measured_rates.hpp"
#include "product/plan/observed_times.hpp"
#include "support/temporary_folder.hpp"

namespace vernier::test {

class SlowNative {
 public:
  // Residues of so many moduli take 20 ms, n x n x n, on whatever engine, and the native product `times` as long.
  SlowNative(double times, int moduli, std::int64_t n, int threads) {
    const std::string file = folder_ / "rates.json";
    constexpr double residues = 0.02;
    const std::string engine(preferred_int8_engine().name());
    MeasuredRates rates{processor_name(), native_name(), "2026-01-01", {}};
    for (const bool single : {false, true}) {
      rates.times.push_back({"native", single, threads, n, 0, times * residues});
      rates.times.push_back({engine, single, threads, n, moduli, residues});
    }
    write_rates(file, rates);
    set(file.c_str());
    forget_observations();
  }
  ~SlowNative() { set("none"); }
  SlowNative(const SlowNative&) = delete;
  SlowNative& operator=(const SlowNative&) = delete;

 private:
  static void set(const char* value) {
    setenv("VERNIER_RATES", value, 1);
    forget_rates();
  }

  TemporaryFolder folder_;
};

}  // namespace vernier::test
