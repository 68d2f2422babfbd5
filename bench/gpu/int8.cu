// vernier-gpu-int8-bench: products of residues alone, all moduli of an n x n x n product, beside cuBLAS's int8 product.
//
//     vernier-gpu-int8-bench [--moduli 14] [--seconds 0.3] [--sustained-only] N ...
//
// One JSON object a line, for each tile of the Hopper kernel and of the one by mma.sync, for mma.sync on registers
// alone and for cuBLAS (which leaves 32-bit sums): 10^12 operations a second from rest, the median of single calls
// after a pause, and sustained, with the energy that the card counts.
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <optional>

#include "cuda/cublas.hpp"
#include "cuda/device.hpp"
#include "cuda/matrix_fragments.cuh"
#include "energy.hpp"
#include "engine/int8_mma.hpp"
#include "engine/panel_cuda.hpp"
#include "engine/sm90_int8.hpp"
#include "measure.cuh"
#include "program.hpp"

namespace {

using namespace vernier;
using vernier::bench::DeviceMatrix, vernier::bench::EnergyMeter, vernier::bench::median, vernier::bench::Timer;

__global__ void fill_bytes(std::uint8_t* x, std::size_t count, std::uint64_t seed) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step)
    x[i] = static_cast<std::uint8_t>(vernier::bench::mixed(seed * 0x100000001ull + i) >> 56);
}

constexpr int register_warps = 8, register_x = 4, register_y = 8;

// What the tensor cores do where operands never leave registers: random ones, since the power limit counts their bits.
// Several of both, as a kernel has them: with one of each the units wait for registers (904 for 1324 TOP/s).
__global__ void __launch_bounds__(32 * register_warps, 1) multiply_registers(int rounds, int* out) {
  std::uint32_t x[register_x][4], y[register_y][2];
  const std::uint64_t thread = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = 0; i < 4 * register_x; ++i)
    x[i / 4][i % 4] = static_cast<std::uint32_t>(vernier::bench::mixed(i + 64 * thread));
  for (int i = 0; i < 2 * register_y; ++i)
    y[i / 2][i % 2] = static_cast<std::uint32_t>(vernier::bench::mixed(32 + i + 64 * thread));
  int sums[register_x][register_y][4] = {};
  for (int r = 0; r < rounds; ++r)
#pragma unroll
    for (int i = 0; i < register_x; ++i)
#pragma unroll
      for (int j = 0; j < register_y; ++j) cuda::mma_unsigned_bytes(sums[i][j], x[i], y[j][0], y[j][1]);
  int all = 0;
  for (const auto& row : sums)
    for (const auto& sum : row)
      for (const int s : sum) all ^= s;
  if (all == 1) *out = all;
}

struct Contender {
  std::string name;
  std::function<void()> run;
};

struct Settings {
  int moduli = 14;
  double seconds = 0.3;
  bool rest = true;
};

void measure(std::int64_t n, const Contender& c, const Settings& settings) {
  Timer timer;
  const double operations =
      2.0 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n) * settings.moduli * 1e-12;
  std::printf("{\"n\": %lld, \"moduli\": %d, \"name\": \"%s\"", static_cast<long long>(n), settings.moduli,
              c.name.c_str());
  double each = timer.seconds(1, c.run);
  if (settings.rest) {
    usleep(150000);
    std::vector<double> t;
    for (int i = 0; i < 7; ++i) {
      each = timer.seconds(1, c.run);
      if (i >= 2) t.push_back(each);
    }
    std::printf(", \"rest_us\": %.2f, \"rest_tops\": %.1f", median(t) * 1e6, operations / median(t));
  }
  timer.seconds(std::max(1, static_cast<int>(0.15 / each)), c.run);
  const std::optional<EnergyMeter> meter =
      EnergyMeter::missing().empty() ? std::optional<EnergyMeter>(std::in_place) : std::nullopt;
  const int count = std::max(1, static_cast<int>(settings.seconds / each));
  const double before = meter ? meter->joules() : 0;
  const double seconds = timer.seconds(count, c.run);
  std::printf(", \"sustained_us\": %.2f, \"sustained_tops\": %.1f", seconds * 1e6, operations / seconds);
  if (meter) std::printf(", \"watts\": %.0f", (meter->joules() - before) / (seconds * count));
  std::printf("}\n");
  std::fflush(stdout);
}

void run(std::int64_t n, const Settings& settings) {
  const std::int64_t pitch = device_pitch(n), planes = settings.moduli;
  const DeviceMatrix<std::uint8_t> a(planes * n, pitch), b(planes * n, pitch);
  const DeviceMatrix<std::int8_t> out(planes, product_units(n, n).plane_bytes());
  const DeviceMatrix<std::int32_t> sums(n, n);
  fill_bytes<<<1024, 256>>>(a.data(), a.count(), 1);
  fill_bytes<<<1024, 256>>>(b.data(), b.count(), 2);
  cuda::DeviceInt8Product product{.rows = a.data(),
                                  .columns = b.data(),
                                  .m = n,
                                  .n = n,
                                  .pitch = pitch,
                                  .moduli = settings.moduli,
                                  .out = out.data()};
  product.factor.fill(1);
  const DeviceMatrix<std::uint32_t> steps(1, 1);
  const int clusters = cuda::current_device().multiprocessors / 2;
  for (std::size_t v = 0; v < cuda::sm90_tiles.size(); ++v) {
    const cuda::Sm90Tile& tile = cuda::sm90_tiles[v];
    const bool paced = cuda::sm90_keeps_pace(tile, n, n, pitch, settings.moduli, clusters);
    product.steps = paced ? steps.data() : nullptr;
    measure(n,
            {std::string(tile.name), [&] { cuda::multiply_sm90(static_cast<cuda::Sm90Variant>(v), product, nullptr); }},
            settings);
  }
  product.steps = nullptr;
  for (std::size_t v = 0; v < cuda::mma_tiles.size(); ++v)
    measure(n,
            {"mma " + std::string(cuda::mma_tiles[v].name),
             [&] { cuda::multiply_mma(static_cast<cuda::MmaVariant>(v), product, nullptr); }},
            settings);
  const int multiprocessors = cuda::current_device().multiprocessors;
  const double round = 16.0 * 8 * 32 * register_x * register_y * register_warps * multiprocessors;
  const double multiplications =
      static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n) * settings.moduli;
  measure(n,
          {"mma registers",
           [&] {
             multiply_registers<<<multiprocessors, 32 * register_warps>>>(static_cast<int>(multiplications / round),
                                                                          sums.data());
           }},
          settings);
  cuda::Cublas& cublas = cuda::thread_cublas();
  const auto cublas_products = [&] {
    const int one = 1, zero = 0;
    for (std::int64_t q = 0; q < planes; ++q)
      cublas.gemm_ex(Op::transpose, Op::none, n, n, pitch, &one, a.data() + q * n * pitch, CUDA_R_8I, pitch,
                     b.data() + q * n * pitch, CUDA_R_8I, pitch, &zero, sums.data(), CUDA_R_32I, n, CUBLAS_COMPUTE_32I);
  };
  measure(n, {"cublas", cublas_products}, settings);
}

}  // namespace

int main(int argc, char** argv) {
  Settings s;
  bool sustained_only = false;
  std::vector<std::int64_t> sizes;
  return vernier::bench::program(
      "vernier-gpu-int8-bench", argc, argv,
      {{"--sustained-only", &sustained_only}, {"--moduli", &s.moduli}, {"--seconds", &s.seconds}, {"n", &sizes}}, [&] {
        s.rest = !sustained_only;
        for (const std::int64_t n : sizes) run(n, s);
      });
}
