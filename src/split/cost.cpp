#include "split/cost.hpp"

#include <algorithm>
#include <cmath>

#include "base/fmt.hpp"
#include "product/plan/native_cost.hpp"

namespace vernier {
namespace {

// Of products that are split and multiplied at once, without launches: 8 bytes an element, as if A lay across memory
// and B along k, which is faster, and something for each vector; strips of k up to 1024 stay in registers; waves of
// tiles. A narrow tile takes half the time of a wide one.
double at_once_seconds(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t products) {
  const double deep = static_cast<double>(k * products), vectors = static_cast<double>((m + n) * products);
  const double across = k > 16384 ? 1.55e12 : k > 1024 ? 2.35e12 : 2.7e12;
  const double along = k > 16384 ? 2.6e12 : k > 1024 ? 3.3e12 : 3.85e12;
  const double split = 8 * deep * (static_cast<double>(m) / across + static_cast<double>(n) / along) + 0.6e-9 * vectors;
  const double tile = 2.8e-6 + 13.5e-9 * static_cast<double>(k);
  return split + tile * std::min(waves(m, n, products, 128, 128), 0.5 * waves(m, n, products, 64, 128));
}

// Of a single product with so few entries cuBLAS cuts a long k and adds the parts, which errs less on data of one sign:
// 0.4 to 0.5 times as much for 512 x 512, k from 2048 on. Those of shorter k go there by the estimate as well.
bool native_errs_less(std::int64_t m, std::int64_t n, std::int64_t products) {
  return products == 1 && static_cast<double>(m) * static_cast<double>(n) <= 0x1p18;
}

// By mma.sync: two kernels that split, one that multiplies whole tiles, and those that return at once.
double mma_split_seconds(std::int64_t m, std::int64_t n, std::int64_t k, const GpuModel& gpu) {
  constexpr double launches = 25e-6, split_bytes = 12, of_tile = 128;  // read twice by those across memory
  const auto tiles = [](std::int64_t x) { return std::ceil(static_cast<double>(x) / of_tile) * of_tile; };
  const double depth = static_cast<double>(k), c = static_cast<double>(m) * static_cast<double>(n);
  return launches + split_bytes * static_cast<double>(m + n) * depth / gpu.conversion +
         6 * tiles(m) * tiles(n) * (depth + of_tile) / gpu.half + 4 * c / gpu.conversion;
}

}  // namespace

std::int64_t split_products_at_once(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t products) {
  constexpr std::int64_t cached = 48 << 20;  // planes of so many bytes stay in the second-level cache
  constexpr std::int64_t most = 65535;       // of the second index of a grid
  return std::clamp<std::int64_t>(cached / (4 * (m + n) * k), 1, std::min(products, most));
}

double sgemm_seconds(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t products, const GpuModel& gpu) {
  if (gpu.native_single == 0) return device_sgemm_seconds(m, n, k, products);
  constexpr double launch = 8e-6;
  return launch +
         2 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k * products) / gpu.native_single;
}

double split_gemm_seconds(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t products, const GpuModel& gpu) {
  if (gpu.half != 0) return static_cast<double>(products) * mma_split_seconds(m, n, k, gpu);
  constexpr double launches = 9.5e-6, more_launches = 6.9e-6;
  const std::int64_t at_once = split_products_at_once(m, n, k, products), rest = products % at_once;
  const double whole = static_cast<double>(products / at_once), groups = whole + (rest == 0 ? 0 : 1);
  return launches + (groups - 1) * more_launches + whole * at_once_seconds(m, n, k, at_once) +
         (rest == 0 ? 0 : at_once_seconds(m, n, k, rest));
}

bool split_gemm_is_faster(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t products, const GpuModel& gpu) {
  constexpr double margin = 1.03, more = 2.35e-6;  // what the contract adds: memory
  // Below, cuBLAS ends while a split product is launched. Callers of small products wait for this answer.
  constexpr double least_work = 1 << 26;
  const double work = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k * products);
  return work >= least_work && !native_errs_less(m, n, products) &&
         margin * (split_gemm_seconds(m, n, k, products, gpu) + more) < sgemm_seconds(m, n, k, products, gpu);
}

std::string why_not_split(std::int64_t m, std::int64_t n, std::int64_t k, std::size_t needed, std::size_t limit,
                          const GpuModel& gpu) {
  if (k < shortest_split_k) return fmt::format("error correction takes k from {} on", shortest_split_k);
  if (native_errs_less(m, n, 1)) return "a single product of at most 2^18 entries errs less natively";
  if (!split_gemm_is_faster(m, n, k, 1, gpu))
    return fmt::format("error correction: {:.3g} ms, natively {:.3g} ms", split_gemm_seconds(m, n, k, 1, gpu) * 1e3,
                       sgemm_seconds(m, n, k, 1, gpu) * 1e3);
  if (needed > limit)
    return fmt::format("a workspace of {} bytes is too small for error correction, which takes {}", limit, needed);
  return "the matrices are too large for error correction";
}

}  // namespace vernier
