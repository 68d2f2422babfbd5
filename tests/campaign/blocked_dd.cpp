#include "blocked_dd.hpp"

#include <algorithm>

namespace vernier::test {
namespace {

constexpr std::int64_t rows = 16, columns = 4, depth = 256;  // of a tile, and of k at a time

#if VERNIER_X86
#define VERNIER_VECTORS __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#define VERNIER_VECTORS_OF_AVX2 __attribute__((target("arch=x86-64-v3")))
#else
#define VERNIER_VECTORS
#define VERNIER_VECTORS_OF_AVX2
#endif

struct Tile {
  double hi[columns][rows], lo[columns][rows];
};

// tile += A B over `count` k: A packed [k][rows], B [k][columns], high parts and low ones apart.
[[gnu::always_inline]] inline void add_each_product(std::int64_t count, const double* a_hi, const double* a_lo,
                                                    const double* b_hi, const double* b_lo, Tile& tile) {
  Tile t = tile;
  for (std::int64_t l = 0; l < count; ++l)
    for (std::int64_t j = 0; j < columns; ++j) {
      const double y = b_hi[l * columns + j], y_low = b_lo[l * columns + j];
#pragma omp simd
      for (std::int64_t i = 0; i < rows; ++i) {
        const double x = a_hi[l * rows + i], p = x * y,
                     e = __builtin_fma(x, y, -p) + __builtin_fma(x, y_low, a_lo[l * rows + i] * y);
        const double s = t.hi[j][i] + p, v = s - p, low = (t.hi[j][i] - v) + (p - (s - v)) + (t.lo[j][i] + e);
        t.hi[j][i] = s + low;
        t.lo[j][i] = low - (t.hi[j][i] - s);
      }
    }
  tile = t;
}

using AddProducts = void(std::int64_t, const double*, const double*, const double*, const double*, Tile&);

VERNIER_VECTORS void add_products(std::int64_t count, const double* a_hi, const double* a_lo, const double* b_hi,
                                  const double* b_lo, Tile& tile) {
  add_each_product(count, a_hi, a_lo, b_hi, b_lo, tile);
}
VERNIER_VECTORS_OF_AVX2 void add_products_avx2(std::int64_t count, const double* a_hi, const double* a_lo,
                                               const double* b_hi, const double* b_lo, Tile& tile) {
  add_each_product(count, a_hi, a_lo, b_hi, b_lo, tile);
}

// count lines of `width` elements from x(line, element), zero beyond `existing`.
template <class At>
void pack(std::int64_t count, std::int64_t width, std::int64_t existing, const At& at, double* hi, double* lo) {
  for (std::int64_t l = 0; l < count; ++l)
    for (std::int64_t i = 0; i < width; ++i) {
      const dd x = i < existing ? at(l, i) : dd();
      hi[l * width + i] = x.hi, lo[l * width + i] = x.lo;
    }
}

}  // namespace

void blocked_dd_product(std::int64_t n, const std::vector<dd>& a, const std::vector<dd>& b, std::vector<dd>& c,
                        int threads, bool avx2) {
  AddProducts* const add = avx2 ? add_products_avx2 : add_products;
  const std::int64_t strips = (n + rows - 1) / rows;
  std::fill(c.begin(), c.end(), dd());
  std::vector<double> packed(static_cast<std::size_t>(2 * strips * rows * depth));
  for (std::int64_t l0 = 0; l0 < n; l0 += depth) {
    const std::int64_t count = std::min(depth, n - l0);
#pragma omp parallel num_threads(threads)
    {
#pragma omp for
      for (std::int64_t s = 0; s < strips; ++s)
        pack(
            count, rows, n - s * rows,
            [&](auto l, auto i) { return a[static_cast<std::size_t>(s * rows + i + (l0 + l) * n)]; },
            packed.data() + 2 * s * rows * depth, packed.data() + (2 * s + 1) * rows * depth);
      std::vector<double> own(static_cast<std::size_t>(2 * columns * depth));
#pragma omp for schedule(dynamic, 4)
      for (std::int64_t j = 0; j < n; j += columns) {
        pack(
            count, columns, n - j, [&](auto l, auto y) { return b[static_cast<std::size_t>(l0 + l + (j + y) * n)]; },
            own.data(), own.data() + columns * depth);
        for (std::int64_t s = 0; s < strips; ++s) {
          Tile tile{};
          const auto each = [&](const auto& use) {
            for (std::int64_t y = 0; y < std::min(columns, n - j); ++y)
              for (std::int64_t i = 0; i < std::min(rows, n - s * rows); ++i)
                use(c[static_cast<std::size_t>(s * rows + i + (j + y) * n)], tile.hi[y][i], tile.lo[y][i]);
          };
          each([](dd& x, double& hi, double& lo) { hi = x.hi, lo = x.lo; });
          add(count, packed.data() + 2 * s * rows * depth, packed.data() + (2 * s + 1) * rows * depth, own.data(),
              own.data() + columns * depth, tile);
          each([](dd& x, double& hi, double& lo) { x = dd(hi, lo); });
        }
      }
    }
  }
}

}  // namespace vernier::test
