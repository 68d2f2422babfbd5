// The size of a product, and the time of the native one on a CPU and on a GPU. Measured rates, not promises.
#pragma once

#include <cstdint>

namespace vernier {

struct ProductShape {
  std::int64_t m = 0, n = 0, k = 0;

  bool empty() const { return m == 0 || n == 0 || k == 0; }
  double multiplications() const { return static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k); }
  bool operator==(const ProductShape&) const = default;
};

// Done natively by one core before residues or parts would begin, whatever its shape: native_seconds() counts
// operations alone.
constexpr bool is_small_product(const ProductShape& s) {
  constexpr std::int64_t most = std::int64_t{1} << 18;  // 64 x 64 x 64
  return s.m <= most && s.n <= most && s.k <= most && s.m * s.n <= most && s.m * s.n * s.k <= most;
}

// Seconds on the given number of cores.
double native_seconds(const ProductShape& shape, bool single_precision, int threads);

// How often all multiprocessors take a tile of rows x columns each, for a batch of products m x n.
double waves(std::int64_t m, std::int64_t n, std::int64_t products, std::int64_t rows, std::int64_t columns);

// cuBLAS 13.1, of a batch of so many products.
double device_sgemm_seconds(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t products = 1);

}  // namespace vernier
