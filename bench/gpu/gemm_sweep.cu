#include "gemm_sweep.hpp"

#include <array>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "cuda/cublas.hpp"
#include "measure.cuh"
#include "vernier/cuda.hpp"

namespace bench {
namespace {

using namespace vernier;
using vernier::bench::DeviceMatrix;

constexpr std::int64_t largest = std::int64_t{1} << 27;  // elements of a matrix
constexpr double most_operations = 3e11;

struct Shape {
  std::int64_t m, n, k;
  double beta = 0;
};

std::vector<Shape> shapes() {
  std::vector<Shape> all;
  const auto add = [&](Shape s) {
    const double operations = 2.0 * static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k);
    if (operations <= most_operations && std::max({s.m * s.k, s.k * s.n, s.m * s.n}) <= largest) all.push_back(s);
  };
  for (std::int64_t n : {64,   128,  256,  512,  768,  1000, 1024, 1280, 1537, 1792,
                         1920, 2000, 2048, 2049, 2304, 2560, 3072, 3584, 4096, 5000})
    add({n, n, n});
  for (std::int64_t n : {1024, 2048, 4096, 8192})  // updates of rank k
    for (std::int64_t k : {1, 16, 64, 128, 256, 512, 768, 1024}) add({n, n, k, 1});
  for (std::int64_t n : {1536, 2048, 2560, 3072, 4096})  // where residues begin to pay
    for (std::int64_t k : {512, 768, 1536, 2560, 4096, 8192}) add({n, n, k});
  for (std::int64_t n : {64, 256, 1024})  // inner products
    for (std::int64_t k : {2048, 8192, 32768}) add({n, n, k});
  for (std::int64_t m : {4096, 16384, 65536})  // tall and thin, low and wide
    for (std::int64_t n : {16, 64, 256, 512, 1024, 2048})
      for (std::int64_t k : {64, 512, 1024, 4096}) {
        add({m, n, k});
        if (m == 16384 && k >= 1024) add({n, m, k});
      }
  return all;
}

class Bench {
 public:
  explicit Bench(int turns) : turns_(turns), a_(largest, 1), b_(largest, 1), c_(largest, 1) {}

  // Entries (rand - 0.5) exp(phi randn).
  void take_data(double phi) {
    phi_ = phi;
    vernier::bench::fill<<<1024, 256>>>(a_.data(), a_.count(), 1, phi);
    vernier::bench::fill<<<1024, 256>>>(b_.data(), b_.count(), 2, phi);
  }

  void measure(const Shape& s) {
    check(cudaMemset(c_.data(), 0, static_cast<std::size_t>(s.m * s.n) * sizeof(double)), "C");
    Report report;
    const std::array<std::function<void()>, 3> runs = {[&] { native(s); }, [&] { report = by_library(s, ""); },
                                                       [&] { by_library(s, "sm90_int8"); }};
    const char* names[] = {"cublas", "contract", "residues"};
    std::array<std::vector<double>, 3> alone, queued;
    std::array<int, 3> together;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      timer_.seconds(2, runs[i]);  // irregular data: most of the later calls do without a look
      together[i] = std::clamp(static_cast<int>(150e-6 / timer_.seconds(2, runs[i])), 1, 30);
    }
    for (int turn = 0; turn < turns_; ++turn)
      for (std::size_t i = 0; i < runs.size(); ++i) {
        check(cudaDeviceSynchronize(), "rest");
        alone[i].push_back(timer_.seconds(1, runs[i]));
        queued[i].push_back(timer_.seconds(together[i], runs[i]));
      }
    std::printf(
        "{\"what\": \"sweep\", \"m\": %ld, \"n\": %ld, \"k\": %ld, \"beta\": %g, \"phi\": %g, \"scheme\": \"%s\"", s.m,
        s.n, s.k, s.beta, phi_, report.plan.scheme.c_str());
    for (std::size_t i = 0; i < runs.size(); ++i)
      std::printf(", \"%s\": [%.2f, %.2f]", names[i], median(alone[i]) * 1e6, median(queued[i]) * 1e6);
    std::printf("}\n");
  }

 private:
  void native(const Shape& s) {
    const double one = 1;
    cublas_.gemm<double>(Op::none, Op::none, s.m, s.n, s.k, &one, a_.data(), s.m, b_.data(), s.k, &s.beta, c_.data(),
                         s.m);
  }

  Report by_library(const Shape& s, const std::string& engine) {
    const double one = 1;
    return cuda::gemm<double>(Op::none, Op::none, s.m, s.n, s.k, &one, a_.data(), s.m, b_.data(), s.k, &s.beta,
                              c_.data(), s.m, {.engine = engine});
  }

  int turns_;
  double phi_ = 0;
  DeviceMatrix<double> a_, b_, c_;
  cuda::Cublas cublas_;
  Timer timer_;
};

}  // namespace

void sweep_gemm(int turns) {
  int driver = 0, runtime = 0;
  check(cudaDriverGetVersion(&driver), "driver");
  check(cudaRuntimeGetVersion(&runtime), "runtime");
  std::printf(
      "{\"what\": \"machine\", \"device\": \"%s\", \"driver_cuda\": %d, \"runtime_cuda\": %d, \"cublas\": \"%s\"}\n",
      cuda::device_name().c_str(), driver, runtime, cuda::Cublas().version().c_str());
  Bench bench(turns);
  for (const double phi : {0.5, 2.0}) {
    bench.take_data(phi);
    for (const Shape& s : shapes()) bench.measure(s);
  }
}

}  // namespace bench
