// Times of this machine for the estimates (product/plan/measured_rates.hpp).
#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <random>
#include <thread>
#include <vector>

#include "base/cpu_features.hpp"
#include "base/environment.hpp"
#include "base/file_lock.hpp"
#include "base/status.hpp"
#include "bf16x6/engine.hpp"
#include "blas/measure/measure_gpu.hpp"
#include "engine/int8_engine.hpp"
#include "product/native/native.hpp"
#include "product/plan/measured_rates.hpp"
#include "residue/plan/bounds.hpp"
#include "residue/plan/cost.hpp"
#include "vernier/rates.hpp"

namespace vernier {
namespace {

constexpr std::array<std::int64_t, 4> sizes = {160, 384, 768, 1536};

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

// Methods of one type: the median of each, at one size and number of threads.
template <class T>
class TimedMethods {
 public:
  TimedMethods(std::int64_t n, int threads, std::vector<MeasuredTime>& out)
      : n_(n), threads_(threads), out_(out), a_(random_matrix<T>(n, 1)), b_(random_matrix<T>(n, 2)), c_(a_.size()) {}

  void measure(const std::string& method, int moduli) {
    constexpr int calls = 4;  // the first one warms up
    std::vector<double> seconds;
    for (int call = 0; call < calls; ++call) seconds.push_back(once(method));
    std::sort(seconds.begin() + 1, seconds.end());
    out_.push_back({method, sizeof(T) == sizeof(float), threads_, n_, moduli, seconds[calls / 2]});
  }

 private:
  double once(const std::string& engine) {
    return gemm<T>(Op::none, Op::none, n_, n_, n_, T{1}, a_.data(), n_, b_.data(), n_, T{0}, c_.data(), n_,
                   {.contract = default_contract<T>(), .engine = engine, .threads = threads_})
        .seconds;
  }

  std::int64_t n_;
  int threads_;
  std::vector<MeasuredTime>& out_;
  std::vector<T> a_, b_, c_;
};

// The engine of residues, where the table does not say that they are hopeless beside the native product.
template <class T>
const Int8Engine* rival_engine(std::int64_t n, int threads) {
  constexpr double hopeless = 4;  // times slower
  const ProductShape shape{n, n, n};
  const Int8Engine& engine = preferred_int8_engine();
  const double residues = residue_seconds(engine.name(), shape, ordinary_moduli<T>(default_contract<T>(), n), threads);
  return residues < hopeless * native_seconds(shape, std::is_same_v<T, float>, threads) ? &engine : nullptr;
}

template <class T>
void measure_rivals(std::int64_t n, int threads, std::vector<MeasuredTime>& out) {
  const Int8Engine* engine = rival_engine<T>(n, threads);
  const Bf16x6Engine* parts = std::is_same_v<T, float> ? usable_bf16x6_engine() : nullptr;
  if (engine == nullptr && parts == nullptr) return;
  TimedMethods<T> methods(n, threads, out);
  if (engine != nullptr) methods.measure(std::string(engine->name()), ordinary_moduli<T>(default_contract<T>(), n));
  if (parts != nullptr) methods.measure(std::string(parts->name), 0);
}

// The native product first: OpenBLAS's threads spin for some 0.1 s after it, and would keep processors from the others.
void measure_all(int threads, std::vector<MeasuredTime>& out) {
  using namespace std::chrono_literals;
  for (const std::int64_t n : sizes) {
    TimedMethods<double>(n, threads, out).measure("native", 0);
    TimedMethods<float>(n, threads, out).measure("native", 0);
  }
  if (threads > 1) std::this_thread::sleep_for(150ms);
  for (const std::int64_t n : sizes) {
    measure_rivals<double>(n, threads, out);
    measure_rivals<float>(n, threads, out);
  }
}

// May another method than the native product win?
bool any_rival(int threads) {
  const auto rival = [&](auto n) { return rival_engine<double>(n, threads) || rival_engine<float>(n, threads); };
  return usable_bf16x6_engine() != nullptr || std::any_of(sizes.begin(), sizes.end(), rival);
}

// Not where the native product takes so much less now: they are of a busy moment.
bool are_known(const std::string& file, int threads) {
  constexpr double busy = 1.5;
  const MeasuredRates rates = read_rates(file, processor_name(), native_name());
  for (const MeasuredTime& t : rates.times) {
    if (t.method != "native" || t.single_precision || t.threads != threads || t.n != sizes[1]) continue;
    std::vector<MeasuredTime> now;
    TimedMethods<double>(t.n, threads, now).measure("native", 0);
    return t.seconds < busy * now.front().seconds;
  }
  return false;
}

}  // namespace

std::string measure_rates(int threads) {
  const std::string file = rates_file();
  require(!file.empty(),
          "measure_rates: VERNIER_RATES is \"none\" or no regular file, or there is no home; expected a file for the "
          "rates: set VERNIER_RATES");
  MeasuredRates rates{processor_name(), native_name(), today(), {}};
  const int most = usable_threads(threads);
  for (int count = 1; count < most; count *= 2) measure_all(count, rates.times);
  measure_all(most, rates.times);
  write_rates(file, rates);
  forget_rates();
  measure_gpu(file, rates.date);
  return file;
}

// Processes that start together, such as the ranks of an MPI program, would measure one another: one does, the others
// wait for its times.
std::string measure_missing_rates(int threads) {
  constexpr double longest_wait = 10;
  const int count = usable_threads(threads);
  const std::string file = rates_file();
  if (file.empty() || !any_rival(count) || are_known(file, count)) return "";
  make_folder_of(file);
  const FileLock turn(file + ".lock", longest_wait);
  forget_rates();
  if (!turn.held() || are_known(file, count)) return "";
  MeasuredRates rates = read_rates(file, processor_name(), native_name());
  rates.date = today();
  std::erase_if(rates.times, [&](const MeasuredTime& t) { return t.threads == count; });
  measure_all(count, rates.times);
  try {
    write_rates(file, rates);
  } catch (const Error&) {
    return "";
  }
  forget_rates();
  return file;
}

std::string rates() { return source_of_estimates(); }

}  // namespace vernier
