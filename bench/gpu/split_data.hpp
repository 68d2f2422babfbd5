// Random matrices and sampled errors, on the device.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>
#include <vector>

namespace bench {

struct Problem {
  std::int64_t m = 0, n = 0, k = 0;
  const float *a = nullptr, *b = nullptr;  // column-major, tight, no transposition
  float* c = nullptr;
};

// "uniform", "normal", "positive", "scattered(0.5)", "scattered(1)", "scattered(4)", "scattered(20)", "type1" ..
// "type4" (exponents as Ootomo and Yokota).
const std::vector<std::string>& data_kinds();
void fill(const std::string& kind, bool is_a, int draw, float* x, std::int64_t count);

struct Error {
  double mean = 0, max = 0, residual = 0;  // of |C - C64| / (|A||B|); ||C - C64||_F / ||C64||_F
};

// On 128 x 128 entries, spread over C, against sums in double.
class Judge {
 public:
  explicit Judge(const Problem& problem);
  Error judge(const float* c) const;

 private:
  Problem problem_;
  std::vector<std::int64_t> rows_, columns_;
  std::vector<double> exact_, magnitude_;
};

}  // namespace bench
