#include "measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <thread>

#include "device.hpp"
#include "native.hpp"
#include "random_matrix.hpp"
#include "vernier/cuda.hpp"

namespace vernier::cli {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr double group_seconds = 0.02;
constexpr int largest_group = 10;

// OpenBLAS's threads spin for 2^28 cycles before they fall asleep, and take processors from those of others meanwhile,
// unless OPENBLAS_THREAD_TIMEOUT, another exponent, says less.
std::chrono::milliseconds pause() {
  const char* timeout = std::getenv("OPENBLAS_THREAD_TIMEOUT");
  const long exponent = timeout != nullptr ? std::strtol(timeout, nullptr, 10) : 0;
  return exponent > 0 && exponent <= 25 ? 40ms : 150ms;
}

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Index of the median: a call that took place, not the mean of two.
std::size_t median_index(const std::vector<double>& times) {
  std::vector<std::size_t> order(times.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>((times.size() - 1) / 2);
  std::nth_element(order.begin(), middle, order.end(),
                   [&](std::size_t x, std::size_t y) { return times[x] < times[y]; });
  return *middle;
}

double median(const std::vector<double>& times) { return times[median_index(times)]; }

// The real numbers that elements are made of: data and poison know no others.
template <class T>
typename Parts<T>::Real* parts(T* x) {
  return reinterpret_cast<typename Parts<T>::Real*>(x);
}

// One of the two products: what to call, into which C, and the times so far.
template <class T>
class Contender {
 public:
  // `call` computes C and tells the seconds that this took.
  Contender(std::int64_t m, std::int64_t n, std::function<double(T*)> call)
      : c_(m * n), rows_(m), call_(std::move(call)) {}

  double time_once() {
    poison(parts(c_.data()), Parts<T>::count * c_.size());
    return call_(c_.data());
  }

  // The first call sets up workspaces and threads; where calls are short a second one says how long they take.
  void warm_up() {
    typical_ = time_once();
    if (typical_ < 0.5) typical_ = time_once();
  }

  int group_size() const { return std::clamp(static_cast<int>(group_seconds / typical_), 1, largest_group); }

  // Median of the group.
  double run_group(int calls, const std::function<void(double)>& timed) {
    std::this_thread::sleep_for(pause());
    if (typical_ < group_seconds) time_once();
    std::vector<double> group;
    for (int i = 0; i < calls; ++i) {
      group.push_back(time_once());
      timed(group.back());
    }
    times_.insert(times_.end(), group.begin(), group.end());
    return median(group);
  }

  const std::vector<double>& times() const { return times_; }

  Measured measured(const ExactSample<T>& exact) const {
    return {median(times_), exact.errors({c_.data(), 1, rows_}),
            count_poisoned(parts(c_.data()), Parts<T>::count * c_.size())};
  }

 private:
  LargeArray<T> c_;
  std::int64_t rows_;
  std::function<double(T*)> call_;
  double typical_ = 0;
  std::vector<double> times_;
};

template <class T>
struct Operands {
  explicit Operands(const Trial& t)
      : rows_a(t.opa == Op::none ? t.m : t.k), rows_b(t.opb == Op::none ? t.k : t.n), a(t.m * t.k), b(t.k * t.n) {
    constexpr int count = Parts<T>::count;
    fill_random(parts(a.data()), count * rows_a, t.opa == Op::none ? t.k : t.m, t.phi, 2 * t.seed);
    fill_random(parts(b.data()), count * rows_b, t.opb == Op::none ? t.n : t.k, t.phi, 2 * t.seed + 1);
    for (const auto* x : {&a, &b}) {
      const auto* values = parts(x->data());
      if (std::all_of(values, values + count * x->size(), [](auto value) { return std::isfinite(value); })) continue;
      throw Error(Status::invalid_argument, fmt::format("phi = {} makes entries that overflow", t.phi));
    }
  }

  ExactSample<T> exact(const Trial& t) const {
    const auto view = [](const LargeArray<T>& x, Op op, std::int64_t ld) {
      return op == Op::none ? View<T>{x.data(), 1, ld} : View<T>{x.data(), ld, 1, op == Op::conjugate_transpose};
    };
    const View<T> rows = view(a, t.opa, rows_a), columns = view(b, t.opb, rows_b);
    return {Product<T>{.m = t.m, .n = t.n, .k = t.k, .a = rows, .b = columns}, t.samples, t.seed};
  }

  std::int64_t rows_a, rows_b;
  LargeArray<T> a, b;
};

// The first contender is the product itself.
template <class T>
void take_turns(const Trial& trial, std::vector<Contender<T>>& contenders, TrialResult& result,
                const std::function<void(double)>& progress, const std::function<void(double)>& keep) {
  int usual = largest_group;
  for (Contender<T>& contender : contenders) {
    contender.warm_up();
    usual = std::min(usual, contender.group_size());
  }
  const auto start = Clock::now();
  const int least = trial.repeats > 0 ? trial.repeats : least_repeats;
  const std::size_t count = contenders.size();
  for (std::size_t round = 0;; ++round) {
    const int done = static_cast<int>(contenders[0].times().size());
    const double by_time = trial.repeats > 0 ? 1 : seconds_since(start) / trial.seconds;
    const double fraction = std::min(by_time, static_cast<double>(done) / least);
    if (progress) progress(fraction);
    if (fraction >= 1) break;
    const int calls = trial.repeats > 0 ? std::min(usual, trial.repeats - done) : usual;
    std::vector<double> medians(count);
    for (std::size_t turn = 0; turn < count; ++turn) {
      const std::size_t i = (round + turn) % count;
      medians[i] = contenders[i].run_group(
          calls, i == 0 ? keep : [](double) {});
    }
    for (std::size_t i = 1; i < count; ++i) result.baselines[i - 1].ratios.push_back(medians[i] / medians[0]);
  }
  result.repeats = static_cast<int>(contenders[0].times().size());
}

// The product and its baselines, each as a function that computes C and tells its seconds; `last` takes the product's
// report.
template <class T>
using Calls = std::vector<std::function<double(T*)>>;

template <class T>
Calls<T> calls_on_cpu(const Trial& t, const Operands<T>& x, Report& last) {
  const auto timed = [](auto work) {
    return [work](T* c) {
      const auto start = Clock::now();
      work(c);
      return seconds_since(start);
    };
  };
  Calls<T> calls = {timed([&](T* c) {
    last =
        gemm<T>(t.opa, t.opb, t.m, t.n, t.k, T{1}, x.a.data(), x.rows_a, x.b.data(), x.rows_b, T{0}, c, t.m, t.options);
  })};
  for (const Baseline& baseline : t.baselines)
    calls.push_back(timed([&](T* c) {
      baseline.gemm<T>({t.opa, t.opb, t.m, t.n, t.k, x.a.data(), x.rows_a, x.b.data(), x.rows_b, c, t.m});
    }));
  return calls;
}

// Copies of the operands in device memory. C travels both ways around each call, outside of the time.
template <class T>
struct DeviceOperands {
  DeviceOperands(const Trial& t, const Operands<T>& x) : a(x.a.size()), b(x.b.size()), c(t.m * t.n) {
    copy_to_device(a.data(), x.a.data(), static_cast<std::size_t>(x.a.size()) * sizeof(T));
    copy_to_device(b.data(), x.b.data(), static_cast<std::size_t>(x.b.size()) * sizeof(T));
  }
  DeviceArray<T> a, b, c;
};

template <class T>
Calls<T> calls_on_gpu(const Trial& t, const Operands<T>& x, Report& last) {
  const auto on_device = std::make_shared<DeviceOperands<T>>(t, x);
  const auto timed = [&t, &x, on_device](const cuda::Options& options, Report* report) {
    return [&t, &x, on_device, options, report](T* c) {
      const T one = 1, zero = 0;
      const std::size_t bytes = static_cast<std::size_t>(t.m * t.n) * sizeof(T);
      copy_to_device(on_device->c.data(), c, bytes);
      const double seconds = device_seconds([&] {
        Report done = cuda::gemm<T>(t.opa, t.opb, t.m, t.n, t.k, &one, on_device->a.data(), x.rows_a,
                                    on_device->b.data(), x.rows_b, &zero, on_device->c.data(), t.m, options);
        if (report != nullptr) *report = std::move(done);
      });
      copy_from_device(c, on_device->c.data(), bytes);
      return seconds;
    };
  };
  const cuda::Options own{
      .contract = t.options.contract, .engine = t.options.engine, .workspace_limit = t.options.workspace_limit};
  Calls<T> calls = {timed(own, &last)};
  for (std::size_t i = 0; i < t.baselines.size(); ++i)
    calls.push_back(timed({.contract = default_contract<T>(), .engine = "native"}, nullptr));
  return calls;
}

}  // namespace

template <class T>
TrialResult measure(const Trial& trial, const std::function<void(double)>& progress) {
  const Operands<T> x(trial);
  std::vector<Report> reports;
  Report last;
  const Calls<T> calls = trial.on_gpu ? calls_on_gpu<T>(trial, x, last) : calls_on_cpu<T>(trial, x, last);
  std::vector<Contender<T>> contenders;
  for (const auto& call : calls) contenders.emplace_back(trial.m, trial.n, call);
  TrialResult result;
  result.baselines.resize(calls.size() - 1);
  take_turns<T>(trial, contenders, result, progress, [&](double) { reports.push_back(last); });
  const ExactSample<T> exact = x.exact(trial);
  result.report = reports[median_index(contenders[0].times())];
  result.product = contenders[0].measured(exact);
  for (std::size_t i = 1; i < calls.size(); ++i) result.baselines[i - 1].measured = contenders[i].measured(exact);
  return result;
}

template TrialResult measure<float>(const Trial&, const std::function<void(double)>&);
template TrialResult measure<double>(const Trial&, const std::function<void(double)>&);
template TrialResult measure<std::complex<float>>(const Trial&, const std::function<void(double)>&);
template TrialResult measure<std::complex<double>>(const Trial&, const std::function<void(double)>&);

}  // namespace vernier::cli
