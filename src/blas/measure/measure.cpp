// Times of this machine for the estimates (product/plan/measured_rates.hpp).
#include <algorithm>
#include <array>
#include <ctime>
#include <random>
#include <vector>

#include "base/cpu_features.hpp"
#include "base/environment.hpp"
#include "base/status.hpp"
#include "bf16x6/engine.hpp"
#include "blas/measure/measure_gpu.hpp"
#include "engine/int8_engine.hpp"
#include "product/native/native.hpp"
#include "product/plan/measured_rates.hpp"
#include "residue/plan/bounds.hpp"
#include "residue/plan/cost.hpp"
#include "vernier/vernier.hpp"

namespace vernier {
namespace {

constexpr std::array<std::int64_t, 3> sizes = {384, 768, 1536};

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[16];
  std::tm parts{};
  std::strftime(text, sizeof(text), "%Y-%m-%d", localtime_r(&now, &parts));
  return text;
}

template <class T>
std::vector<T> random_matrix(std::int64_t n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<T> uniform(-0.5, 0.5);
  std::vector<T> x(static_cast<std::size_t>(n * n));
  for (T& element : x) element = uniform(random);
  return x;
}

// The methods of one type, which take turns: the median of each, at one size and number of threads.
template <class T>
class TimedMethods {
 public:
  TimedMethods(std::int64_t n, int threads)
      : n_(n), threads_(threads), a_(random_matrix<T>(n, 1)), b_(random_matrix<T>(n, 2)), c_(a_.size()) {}

  void add(std::string name, int moduli) {
    taken_.push_back({{std::move(name), sizeof(T) == sizeof(float), threads_, n_, moduli, 0}, {}});
  }

  void measure(std::vector<MeasuredTime>& out) {
    constexpr int rounds = 4;  // the first one warms up
    for (int round = 0; round < rounds; ++round)
      for (Method& m : taken_) {
        const double seconds = once(m.time.method);
        if (round > 0) m.seconds.push_back(seconds);
      }
    for (Method& m : taken_) {
      std::sort(m.seconds.begin(), m.seconds.end());
      m.time.seconds = m.seconds[m.seconds.size() / 2];
      out.push_back(m.time);
    }
  }

 private:
  struct Method {
    MeasuredTime time;
    std::vector<double> seconds;
  };

  double once(const std::string& engine) {
    return gemm<T>(Op::none, Op::none, n_, n_, n_, T{1}, a_.data(), n_, b_.data(), n_, T{0}, c_.data(), n_,
                   {.contract = default_contract<T>(), .engine = engine, .threads = threads_})
        .seconds;
  }

  std::int64_t n_;
  int threads_;
  std::vector<T> a_, b_, c_;
  std::vector<Method> taken_;
};

template <class T>
void measure_type(std::int64_t n, int threads, std::vector<MeasuredTime>& out) {
  constexpr double hopeless = 4;  // methods that the table says to be so much slower than the native product
  constexpr bool single_precision = sizeof(T) == sizeof(float);
  const ProductShape shape{n, n, n};
  const Int8Engine& engine = preferred_int8_engine();
  const int moduli = ordinary_moduli<T>(default_contract<T>(), n);
  TimedMethods<T> methods(n, threads);
  methods.add("native", 0);
  if (residue_seconds(engine.name(), shape, moduli, threads) <
      hopeless * native_seconds(shape, single_precision, threads))
    methods.add(std::string(engine.name()), moduli);
  if (single_precision && usable_bf16x6_engine() != nullptr) methods.add(std::string(usable_bf16x6_engine()->name), 0);
  methods.measure(out);
}

std::vector<int> thread_counts(int most) {
  std::vector<int> counts;
  for (int t = 1; t < most; t *= 2) counts.push_back(t);
  counts.push_back(most);
  return counts;
}

}  // namespace

std::string measure_rates(int threads) {
  const std::string file = rates_file();
  require(
      !file.empty(),
      "measure_rates: VERNIER_RATES is \"none\" or there is no home; expected a file for the rates: set VERNIER_RATES");
  MeasuredRates rates{processor_name(), native_name(), today(), {}};
  for (const int count : thread_counts(usable_threads(threads)))
    for (const std::int64_t n : sizes) {
      measure_type<double>(n, count, rates.times);
      measure_type<float>(n, count, rates.times);
    }
  write_rates(file, rates);
  forget_rates();
  measure_gpu(file, rates.date);
  return file;
}

std::string rates() { return source_of_estimates(); }

}  // namespace vernier
