#include "blas/measure/measure_gpu.hpp"

#include <algorithm>
#include <functional>
#include <vector>

#include "cuda/cublas.hpp"
#include "cuda/device.hpp"
#include "engine/int8_mma.hpp"
#include "product/device_memory.hpp"
#include "product/plan/current_gpu.hpp"
#include "product/plan/measured_rates.hpp"
#include "split/gemm.hpp"
#include "vernier/cuda.hpp"

namespace vernier {
namespace {

using namespace cuda;

constexpr std::int64_t size = 4096;
constexpr int moduli = 4;  // of the int8 product

// The median of some runs, on the default stream.
double seconds_of(const std::function<void()>& run) {
  constexpr int runs = 5;
  run();  // loads what it needs
  std::vector<double> seconds;
  for (int i = 0; i < runs; ++i) {
    const Event start, end;
    start.record(nullptr);
    run();
    end.record(nullptr);
    end.wait();
    seconds.push_back(1e-3 * end.milliseconds_since(start));
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[runs / 2];
}

// Bytes that are numbers of usual size in any format: a card's clock depends on what it multiplies.
DeviceBuffer<std::byte> random_bytes(std::size_t count) {
  std::vector<std::uint32_t> words(count / 4);
  std::uint32_t state = 1;
  for (std::uint32_t& w : words) {
    state = state * 1664525u + 1013904223u;
    w = 0x3f000000u | state >> 9;
  }
  DeviceBuffer<std::byte> bytes(count);
  copy_to_device(bytes.data(), words.data(), count);
  return bytes;
}

template <class T>
MeasuredTime native_time(const DeviceBuffer<std::byte>& a, const DeviceBuffer<std::byte>& b,
                         const DeviceBuffer<std::byte>& c) {
  const T one = 1, zero = 0;
  const auto x = [](const DeviceBuffer<std::byte>& m) { return reinterpret_cast<T*>(m.data()); };
  return {.method = "native",
          .single_precision = sizeof(T) == 4,
          .n = size,
          .seconds = seconds_of([&] {
            cuda::gemm<T>(Op::none, Op::none, size, size, size, &one, x(a), size, x(b), size, &zero, x(c), size,
                          {.contract = default_contract<T>(), .engine = "native"});
          })};
}

MeasuredTime int8_time(const DeviceBuffer<std::byte>& a, const DeviceBuffer<std::byte>& b,
                       const DeviceBuffer<std::byte>& c) {
  DeviceInt8Product product{.rows = reinterpret_cast<const std::uint8_t*>(a.data()),
                            .columns = reinterpret_cast<const std::uint8_t*>(b.data()),
                            .m = size,
                            .n = size,
                            .pitch = size,
                            .moduli = moduli,
                            .out = reinterpret_cast<std::int8_t*>(c.data())};
  product.factor.fill(1);
  return {.method = int8_rate, .n = size, .moduli = moduli, .seconds = seconds_of([&] {
                                                              mma_int8_engine().multiply(product, nullptr);
                                                            })};
}

MeasuredTime half_time(const DeviceBuffer<std::byte>& a, const DeviceBuffer<std::byte>& b,
                       const DeviceBuffer<std::byte>& c) {
  const auto x = [](const DeviceBuffer<std::byte>& m) { return reinterpret_cast<float*>(m.data()); };
  const SplitGemmPlan plan = plan_split_gemm(half_rate, size, size, size, current_gpu());
  const DeviceWorkspace workspace(plan.workspace, nullptr);
  const SplitOperands operands =
      split_operands_of({Op::none, Op::none, size, size, size, nullptr, x(a), size, x(b), size});
  return {.method = half_rate,
          .single_precision = true,
          .n = size,
          .seconds = seconds_of([&] {
            split_gemm(plan, operands, {{1, nullptr}, {0, nullptr}}, x(c), size, workspace.data(), nullptr);
          })};
}

}  // namespace

void measure_gpu(const std::string& file, const std::string& date) {
  if (!missing_device().empty() || !current_gpu().residues) return;
  const std::size_t bytes = static_cast<std::size_t>(size * size) * sizeof(double);
  const DeviceBuffer<std::byte> a = random_bytes(bytes), b = random_bytes(bytes), c = random_bytes(bytes);
  MeasuredRates rates{cuda::current_device().name, gpu_blas(), date, {}};
  rates.times.push_back(native_time<double>(a, b, c));
  rates.times.push_back(native_time<float>(a, b, c));
  rates.times.push_back(int8_time(a, b, c));
  rates.times.push_back(half_time(a, b, c));
  rates.times.push_back({.method = copy_rate, .n = size, .seconds = seconds_of([&] {
                                                           check(cudaMemcpyAsync(c.data(), a.data(), bytes,
                                                                                 cudaMemcpyDeviceToDevice, nullptr),
                                                                 "copy");
                                                         })});
  write_rates(file, rates);
  forget_gpu_rates();
}

}  // namespace vernier
