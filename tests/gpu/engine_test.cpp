// The int8 engines of a GPU against each other: every tile of the Hopper kernel, byte for byte modulo p.
#include <gtest/gtest.h>

#include <random>

#include "cuda/device.hpp"
#include "engine/sm90_int8.hpp"
#include "scheme/residues.hpp"

namespace vernier::cuda {
namespace {

struct Case {
  std::int64_t m, n, k;
  int moduli, products = 1;

  int planes() const { return moduli * products; }
};

std::vector<std::uint8_t> random_bytes(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint8_t> bytes(count);
  for (auto& b : bytes) b = static_cast<std::uint8_t>(random());
  return bytes;
}

// sum_l rows(i, l) columns(j, l) factor, plus old, modulo p.
std::vector<std::int8_t> expected_products(const Case& c, const std::vector<std::uint8_t>& rows,
                                           const std::vector<std::uint8_t>& columns,
                                           const std::vector<std::int8_t>& old, const DeviceInt8Product& product) {
  std::vector<std::int8_t> out = old;
  const ProductUnits units = product_units(c.m, c.n);
  for (int plane = 0; plane < c.planes(); ++plane)
    for (std::int64_t i = 0; i < c.m; ++i)
      for (std::int64_t j = 0; j < c.n; ++j) {
        const auto q = static_cast<std::size_t>(plane / c.products);
        const std::uint8_t* x = rows.data() + (plane * c.m + i) * product.pitch;
        const std::uint8_t* y = columns.data() + (plane * c.n + j) * product.pitch;
        std::int64_t sum = 0;
        for (std::int64_t l = 0; l < product.pitch; ++l) sum += static_cast<int>(x[l]) * static_cast<int>(y[l]);
        const std::int64_t at = plane * units.plane_bytes() +
                                ((j / unit_columns) * units.down + i / unit_rows) * unit_bytes +
                                unit_index(static_cast<int>(i % unit_rows), static_cast<int>(j % unit_columns));
        const int p = moduli[q];
        const std::int64_t before = product.accumulate ? old[static_cast<std::size_t>(at)] : 0;
        out[static_cast<std::size_t>(at)] =
            static_cast<std::int8_t>(symmetric_residue(sum % p * product.factor[q] + before, p));
      }
  return out;
}

void check_variant(Sm90Variant variant, const Case& c, bool accumulate) {
  DeviceInt8Product product{.m = c.m,
                            .n = c.n,
                            .pitch = device_pitch(c.k),
                            .moduli = c.moduli,
                            .products = c.products,
                            .factor = residue_system(c.moduli).row_factor,
                            .accumulate = accumulate};
  const auto rows = random_bytes(static_cast<std::size_t>(c.planes() * c.m * product.pitch), 1),
             columns = random_bytes(static_cast<std::size_t>(c.planes() * c.n * product.pitch), 2);
  const ProductUnits units = product_units(c.m, c.n);
  std::vector<std::int8_t> old(static_cast<std::size_t>(c.planes() * units.plane_bytes()));
  std::mt19937_64 random(3);
  for (auto& b : old) b = static_cast<std::int8_t>(static_cast<int>(random() % 127) - 63);
  const DeviceBuffer<std::uint8_t> device_rows(rows.size()), device_columns(columns.size());
  const DeviceBuffer<std::int8_t> device_out(old.size());
  copy_to_device(device_rows.data(), rows.data(), rows.size());
  copy_to_device(device_columns.data(), columns.data(), columns.size());
  copy_to_device(device_out.data(), old.data(), old.size());
  product.rows = device_rows.data();
  product.columns = device_columns.data();
  product.out = device_out.data();
  multiply_sm90(variant, product, nullptr);
  std::vector<std::int8_t> got(old.size());
  check(cudaMemcpy(got.data(), device_out.data(), got.size(), cudaMemcpyDeviceToHost), "products");
  const auto expected = expected_products(c, rows, columns, old, product);
  for (int plane = 0; plane < c.planes(); ++plane)
    for (std::int64_t i = 0; i < c.m; ++i)
      for (std::int64_t j = 0; j < c.n; ++j) {
        const int p = moduli[static_cast<std::size_t>(plane / c.products)];
        const auto at = static_cast<std::size_t>(
            plane * units.plane_bytes() + ((j / unit_columns) * units.down + i / unit_rows) * unit_bytes +
            unit_index(static_cast<int>(i % unit_rows), static_cast<int>(j % unit_columns)));
        ASSERT_EQ((got[at] - expected[at]) % p, 0)
            << sm90_tiles[variant].name << ", m = " << c.m << ", n = " << c.n << ", k = " << c.k << ": plane " << plane
            << ", modulus " << p << ", (" << i << ", " << j << "): " << static_cast<int>(got[at]) << " for "
            << static_cast<int>(expected[at]);
      }
}

class Sm90TilesTest : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Tiles, Sm90TilesTest, testing::Range(0, static_cast<int>(sm90_tiles.size())));

TEST_P(Sm90TilesTest, products_of_small_and_ragged_matrices) {
  for (const Case& c : {Case{1, 1, 1, 2}, Case{100, 70, 130, 15}, Case{257, 129, 65, 49}, Case{333, 515, 300, 7},
                        Case{700, 40, 1000, 3}, Case{200, 140, 260, 3, 7}})
    for (const bool accumulate : {false, true}) check_variant(static_cast<Sm90Variant>(GetParam()), c, accumulate);
}

TEST_P(Sm90TilesTest, products_of_the_longest_k) {
  check_variant(static_cast<Sm90Variant>(GetParam()), {40, 70, 65536, 2}, false);
}

}  // namespace
}  // namespace vernier::cuda
