// Times of the residue scheme and of the native product, for the choice between them. Measured rates, not promises.
#pragma once

#include <cstdint>
#include <string_view>

namespace vernier {

struct ProductShape {
  std::int64_t m = 0, n = 0, k = 0;

  bool empty() const { return m == 0 || n == 0 || k == 0; }
};

// Four parallel stages, however small the product.
inline constexpr double least_residue_seconds = 4 * 5e-5;

// Two parallel stages.
inline constexpr double least_part_seconds = 2 * 2e-5;

// Done natively by one core before residues or parts would begin, whatever its shape: native_seconds() counts
// operations alone.
constexpr bool is_small_product(const ProductShape& s) {
  constexpr std::int64_t most = std::int64_t{1} << 18;  // 64 x 64 x 64
  return s.m <= most && s.n <= most && s.k <= most && s.m * s.n <= most && s.m * s.n * s.k <= most;
}

// Seconds on the given number of cores.
double residue_seconds(std::string_view engine, const ProductShape& shape, int moduli, int threads);
double part_seconds(const ProductShape& shape, int threads);  // bf16 parts on AMX
double native_seconds(const ProductShape& shape, bool single_precision, int threads);

}  // namespace vernier
