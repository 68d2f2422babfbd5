// One LU factorisation on a GPU between cudaProfilerStart and cudaProfilerStop, for a profiler that counts the bytes to
// and from memory; and what the algorithm reads and writes by count. One JSON object.
//
//     ncu --replay-mode app-range --metrics dram__bytes_read.sum,dram__bytes_write.sum lu_traffic N FORMAT
//
// FORMAT: fp16 or bf16, left-looking, stored in that; fp32, right-looking, stored in floats.
// From A, floats by columns, to the factors.
#include <cuda_profiler_api.h>

#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cuda/device.hpp"
#include "lapack/lu/stored_lu_cuda.hpp"
#include "support/random.hpp"

namespace vernier::test::lu_traffic {
namespace {

struct Task {
  std::int64_t n;
  cuda::DeviceBuffer<float> a;
  cuda::DeviceBuffer<double> ones;

  explicit Task(std::int64_t order)
      : n(order), a(static_cast<std::size_t>(n * n)), ones(static_cast<std::size_t>(2 * n)) {
    Random random(1);
    std::vector<float> values(static_cast<std::size_t>(n * n));
    for (float& x : values) x = static_cast<float>(random.scattered(0));
    const std::vector<double> factors(static_cast<std::size_t>(2 * n), 1.0);
    cuda::copy_to_device(a.data(), values.data(), a.bytes());
    cuda::copy_to_device(ones.data(), factors.data(), ones.bytes());
  }

  template <class Word>
  void stored() const {
    cuda::DeviceLu<Word> lu(n, n, nullptr);
    (void)factor_stored_on_device<float>({{a.data(), n, n}, ones.data(), ones.data() + n}, lu, nullptr);
  }
  void floats(const std::function<void(cuda::DeviceLu<float>&)>& factor) const {
    cuda::DeviceLu<float> lu(n, n, nullptr);
    load_columns(lu, a.data(), n, nullptr);
    factor(lu);
    (void)read_info(lu, nullptr);
  }
};

// Bytes read and written: A once, and of every block of `width` columns either all numbers that its update changes,
// read and written, or what is stored on the left of it, read; the factors, written.
double counted(double n, bool left_looking, double width) {
  const double third = n * n * n / 3;
  return left_looking ? 4 * n * n + 2 * third / width + 2 * n * n : 8 * n * n + 8 * third / width;
}

int run(int argc, char** argv) {
  const std::map<std::string, std::function<void(const Task&)>> formats = {
      {"fp16", [](const Task& t) { t.stored<__half>(); }},
      {"bf16", [](const Task& t) { t.stored<__nv_bfloat16>(); }},
      {"fp32",
       [](const Task& t) { t.floats([](cuda::DeviceLu<float>& lu) { cuda::factor_with_look_ahead(lu, nullptr); }); }}};
  const std::int64_t n = argc == 3 ? std::atoll(argv[1]) : 0;
  const auto format = formats.find(argc == 3 ? argv[2] : "");
  if (n <= 0 || format == formats.end()) return std::fprintf(stderr, "usage: lu_traffic N fp16|bf16|fp32\n"), 2;
  const Task task(n);
  format->second(task);  // memory and cuBLAS's kernels are there
  cuda::check(cudaDeviceSynchronize(), "LU");
  cuda::check(cudaProfilerStart(), "cudaProfilerStart");
  format->second(task);
  cuda::check(cudaDeviceSynchronize(), "LU");
  cuda::check(cudaProfilerStop(), "cudaProfilerStop");
  const bool left_looking = format->first == "fp16" || format->first == "bf16";
  const double bytes =
      counted(static_cast<double>(n), left_looking, left_looking ? 2 * cuda::largest_block : cuda::largest_block);
  std::printf("{\"n\": %lld, \"factors\": \"%s\", \"counted_gb\": %s}\n", static_cast<long long>(n),
              format->first.c_str(), std::to_string(1e-9 * bytes).c_str());
  return 0;
}

}  // namespace
}  // namespace vernier::test::lu_traffic

int main(int argc, char** argv) { return vernier::test::lu_traffic::run(argc, argv); }
