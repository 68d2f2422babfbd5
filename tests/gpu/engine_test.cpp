// The int8 engines of a GPU: every tile of the Hopper kernel and of the one by mma.sync, byte for byte modulo p.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <string_view>
#include <vector>

#include "cuda/device.hpp"
#include "engine/int8_mma.hpp"
#include "engine/sm90_int8.hpp"
#include "residue/residues.hpp"

namespace vernier::cuda::engine_test {
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

// Which entries are wanted, and how many of all are found as they were before.
struct Wanted {
  std::vector<unsigned> rows, columns;
  bool sharing = true;
  std::function<bool(std::int64_t, std::int64_t)> entry;
  std::int64_t* left_alone = nullptr;
};

// Which pieces of the operands hold something (engine/filled_pieces.hpp): a part of all, at random, and none in the
// third piece of the rows, where bytes are told to be nothing that are not.
struct Hollow {
  std::vector<std::uint32_t> rows, columns;
  static constexpr std::int64_t nothing = 2;

  Hollow() = default;
  Hollow(const Case& c, int in_eight) {
    std::mt19937_64 random(static_cast<unsigned>(4 + in_eight));
    const auto fill = [&](std::vector<std::uint32_t>& bits, std::int64_t vectors) {
      bits.assign(filled_words(vectors, c.k), 0);
      for (auto& word : bits)
        for (int b = 0; b < 32; ++b) word |= random() % 8 < static_cast<unsigned>(in_eight) ? 1u << b : 0;
    };
    fill(rows, c.m);
    fill(columns, c.n);
    for (std::size_t g = 0; g < rows.size(); g += static_cast<std::size_t>(piece_words(c.k)))
      rows[g] &= ~(1u << nothing);
  }

  // The bytes of planes as products see them; seen: or as they lie in memory.
  static void empty(std::vector<std::uint8_t>& bytes, const std::vector<std::uint32_t>& bits, std::int64_t vectors,
                    const DeviceInt8Product& product, bool seen) {
    if (bits.empty()) return;
    const std::int64_t words = piece_words(product.pitch), pieces = product.pitch / piece_k;
    for (std::size_t v = 0; v < bytes.size() / static_cast<std::size_t>(product.pitch); ++v)
      for (std::int64_t p = 0; p < pieces; ++p) {
        const std::int64_t group = static_cast<std::int64_t>(v) % vectors / piece_vectors;
        const bool filled = (bits[static_cast<std::size_t>(group * words + p / 32)] >> (p % 32) & 1) != 0;
        if (!filled && (seen || p != nothing))
          std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(v) * product.pitch + p * piece_k, piece_k, 0);
      }
  }
};

// A tile of one of the engines.
struct Variant {
  std::string_view name;
  std::function<void(const DeviceInt8Product&)> multiply;
};

void check_variant(const Variant& variant, const Case& c, bool accumulate, const Wanted& wanted = {},
                   const Hollow& hollow = {}) {
  DeviceInt8Product product{.m = c.m,
                            .n = c.n,
                            .pitch = device_pitch(c.k),
                            .moduli = c.moduli,
                            .products = c.products,
                            .factor = residue_system(c.moduli).row_factor,
                            .accumulate = accumulate};
  auto rows = random_bytes(static_cast<std::size_t>(c.planes() * c.m * product.pitch), 1),
       columns = random_bytes(static_cast<std::size_t>(c.planes() * c.n * product.pitch), 2);
  Hollow::empty(rows, hollow.rows, c.m, product, false);
  Hollow::empty(columns, hollow.columns, c.n, product, true);
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
  const DeviceBuffer<unsigned> row_sets(std::max<std::size_t>(wanted.rows.size(), 1)),
      column_sets(std::max<std::size_t>(wanted.columns.size(), 1));
  if (wanted.entry) {
    copy_to_device(row_sets.data(), wanted.rows.data(), row_sets.bytes());
    copy_to_device(column_sets.data(), wanted.columns.data(), column_sets.bytes());
    product.wanted = {row_sets.data(), column_sets.data(), wanted.sharing};
    *wanted.left_alone = 0;
  }
  const DeviceBuffer<std::uint32_t> filled_rows(std::max<std::size_t>(hollow.rows.size(), 1)),
      filled_columns(std::max<std::size_t>(hollow.columns.size(), 1));
  if (!hollow.rows.empty()) {
    copy_to_device(filled_rows.data(), hollow.rows.data(), filled_rows.bytes());
    copy_to_device(filled_columns.data(), hollow.columns.data(), filled_columns.bytes());
    product.filled = {filled_rows.data(), filled_columns.data(), static_cast<int>(piece_words(c.k))};
    Hollow::empty(rows, hollow.rows, c.m, product, true);
  }
  variant.multiply(product);
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
        if (wanted.entry && !wanted.entry(i, j)) {
          // Tiles are wanted as a whole or not at all; chance leaves few residues as they were.
          if (got[at] == old[at]) ++*wanted.left_alone;
          continue;
        }
        ASSERT_EQ((got[at] - expected[at]) % p, 0)
            << variant.name << ", m = " << c.m << ", n = " << c.n << ", k = " << c.k << ": plane " << plane
            << ", modulus " << p << ", (" << i << ", " << j << "): " << static_cast<int>(got[at]) << " for "
            << static_cast<int>(expected[at]);
      }
}

// Every tile of the Hopper kernel, then of the other one.
Variant variant_of(std::size_t i) {
  if (i < sm90_tiles.size())
    return {sm90_tiles[i].name,
            [i](const DeviceInt8Product& p) { multiply_sm90(static_cast<Sm90Variant>(i), p, nullptr); }};
  const std::size_t j = i - sm90_tiles.size();
  return {mma_tiles[j].name, [j](const DeviceInt8Product& p) { multiply_mma(static_cast<MmaVariant>(j), p, nullptr); }};
}

class Int8TilesTest : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Tiles, Int8TilesTest, testing::Range(std::size_t{0}, sm90_tiles.size() + mma_tiles.size()));

TEST_P(Int8TilesTest, ProductsOfSmallAndRaggedMatrices) {
  for (const Case& c : {Case{1, 1, 1, 2}, Case{100, 70, 130, 15}, Case{257, 129, 65, 49}, Case{333, 515, 300, 7},
                        Case{700, 40, 1000, 3}, Case{200, 140, 260, 3, 7}})
    for (const bool accumulate : {false, true}) check_variant(variant_of(GetParam()), c, accumulate);
}

TEST_P(Int8TilesTest, ProductsOfTheLongestK) { check_variant(variant_of(GetParam()), {40, 70, 65536, 2}, false); }

// Hopper's tiles alone do.
TEST_P(Int8TilesTest, LeaveOutPiecesOfZeros) {
  if (GetParam() >= sm90_tiles.size()) GTEST_SKIP() << "multiplies all";
  for (const Case& c : {Case{330, 300, 1000, 2}, Case{70, 300, 4500, 2}, Case{600, 65, 390, 2}, Case{100, 70, 9000, 1}})
    for (const int in_eight : {0, 2, 6}) check_variant(variant_of(GetParam()), c, false, {}, {c, in_eight});
  const Case many{700, 600, 260, 12};  // several tiles of a cluster, one behind the other
  check_variant(variant_of(GetParam()), many, true, {}, {many, 2});
}

// Rows 200 and 201 have no label, and columns the label 1 but for one that has none: entries without a common label.
TEST_P(Int8TilesTest, LeavesTilesAloneOfWhichNobodyWantsAnEntry) {
  const Case c{1600, 1300, 200, 3};
  std::vector<unsigned> rows(50, 1u << 1), columns(41, 1u << 1);
  rows[200 / 32] |= 1u << 0;
  columns[700 / 32] |= 1u << 0;
  const Variant variant = variant_of(GetParam());
  const auto entries = [&](bool sharing) {
    const EntryFilter filter{rows.data(), columns.data(), sharing};
    return [filter](std::int64_t i, std::int64_t j) {
      return filter.wants_some(filter.rows[i / 32], filter.columns[j / 32]);
    };
  };
  std::int64_t left = 0;
  check_variant(variant, c, false, {rows, columns, false, entries(false), &left});
  EXPECT_GT(left, c.m * c.n / 2 * c.moduli);  // a band of rows and one of columns are wanted
  check_variant(variant, c, false, {rows, columns, true, entries(true), &left});
  EXPECT_EQ(left, 0);
}

}  // namespace
}  // namespace vernier::cuda::engine_test
