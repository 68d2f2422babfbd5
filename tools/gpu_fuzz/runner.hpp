// What the host sees of an instruction on the GPU.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/hardware/gpu.hpp"
#include "vernier/model.hpp"

namespace vernier::model::gpu {

inline constexpr unsigned kept_cases = 8;  // of each kind of difference

struct Case : Dot {  // d is the hardware's
  std::uint64_t model;
  int stratum;
};

struct Outcome {
  unsigned long long mismatches, nan_codes, zero_signs;  // numbers differ; both NaN; both zero
  unsigned long long by_stratum[16];
  unsigned kept[3];  // of mismatches, nan_codes, zero_signs
  Case cases[3 * kept_cases];
};

class Runner {
 public:
  Runner(const char* name, const Engine& engine, int elements) : name_(name), engine_(engine), elements_(elements) {}
  virtual ~Runner() = default;
  const std::string& name() const { return name_; }
  const Engine& engine() const { return engine_; }
  int elements() const { return elements_; }  // of one instruction
  virtual void launch(std::uint64_t seed, std::uint64_t tiles, Outcome* device_outcome) const = 0;
  virtual void launch_single(Case* device_case) const = 0;
  virtual std::uint64_t cases_per_tile() const = 0;

 private:
  std::string name_;
  Engine engine_;
  int elements_;
};

std::vector<std::pair<std::string, std::string>> describe_device();

using Runners = std::vector<std::unique_ptr<Runner>>;
void add_half_runners(Runners& runners);
void add_tf32_runners(Runners& runners);
void add_fp8_runners(Runners& runners);
void add_integer_runners(Runners& runners);
void add_double_runners(Runners& runners);

}  // namespace vernier::model::gpu
