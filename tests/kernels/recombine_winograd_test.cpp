// Recombination of the products of Strassen-Winograd, thread by thread on the host: the bits of sums that are taken
// modulo each p first.
#include <gtest/gtest.h>

#include <random>

#include "cuda/launch.hpp"
#include "residue/recombine/recombine_winograd.cuh"

namespace vernier::cuda::recombine_winograd_test {
namespace {

template <int Limbs>
double expected(const CrtTables<Limbs>& tables, const std::vector<int>& residues, int exponent) {
  CrtSums<Limbs> sums;
  const auto byte = [&](std::size_t q) {
    return q < residues.size() ? static_cast<std::uint8_t>(residues[q]) : std::uint8_t{0};
  };
  for (int g = 0; g < tables.pairs; ++g) {
    const auto q = static_cast<std::size_t>(2 * g);
    sums.add(joined_residues(tables.pair[g], static_cast<std::uint32_t>(byte(q) | byte(q + 1) << 8), 0), tables, g);
  }
  sums.reduce(tables);
  return rounded_crt<double>(sums, exponent);
}

template <int Limbs = 3>
void has_the_bits_of_reduced_sums(std::int64_t m, std::int64_t n, int count, double beta) {
  std::mt19937_64 random(static_cast<std::uint64_t>(m));
  const ResidueSystem& system = residue_system(count);
  const ProductUnits units = product_units(half_vectors(m), half_vectors(n));
  const std::int64_t plane = units.plane_bytes();
  std::vector<std::int8_t> residues(static_cast<std::size_t>(count * winograd_products * plane));
  for (std::size_t i = 0; i < residues.size(); ++i)
    residues[i] = static_cast<std::int8_t>(symmetric_residue(
        static_cast<std::int64_t>(random() % 10007), moduli[i / static_cast<std::size_t>(winograd_products * plane)]));
  std::vector<int> rows(static_cast<std::size_t>(m)), columns(static_cast<std::size_t>(n));
  for (auto* scales : {&rows, &columns})
    for (int& s : *scales) s = static_cast<int>(random() % 60);
  const std::int64_t ldc = m + count % 2;
  std::vector<double> c(static_cast<std::size_t>(ldc * n), 0.25);
  DeviceRecombination<double> task;
  task.moduli = count;
  task.residues = residues.data();
  task.units = units;
  task.plane_stride = winograd_products * plane;
  task.m = m;
  task.n = n;
  task.side.a.scales = rows.data();
  task.side.b.scales = columns.data();
  task.to = {{1.5}, {beta}, c.data(), ldc};
  ASSERT_TRUE(launch_winograd_recombination(task, nullptr));
  const CrtTables<Limbs> tables(system);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < m; ++i) {
      const std::int64_t down = i / half_vectors(m), across = j / half_vectors(n), row = i - down * half_vectors(m),
                         column = j - across * half_vectors(n);
      const std::int64_t at = (column / unit_columns * units.down + row / unit_rows) * unit_bytes +
                              unit_index(static_cast<int>(row % unit_rows), static_cast<int>(column % unit_columns));
      std::vector<int> sums;
      for (int q = 0; q < count; ++q) {
        int sum = 0;
        for (int s = 0; s < winograd_products; ++s)
          sum += winograd_c[2 * down + across][s] *
                 residues[static_cast<std::size_t>((q * winograd_products + s) * plane + at)];
        sums.push_back(symmetric_residue(sum, moduli[static_cast<std::size_t>(q)]));
      }
      const int exponent = -(rows[static_cast<std::size_t>(i)] + columns[static_cast<std::size_t>(j)]);
      ASSERT_EQ(c[static_cast<std::size_t>(i + j * ldc)], updated(expected(tables, sums, exponent), 1.5, beta, 0.25))
          << count << " moduli, (" << i << ", " << j << ")";
    }
}

TEST(RecombineWinograd, EqualsRecombinationOfReducedSums) {
  has_the_bits_of_reduced_sums(100, 90, 15, 0);
  has_the_bits_of_reduced_sums(131, 70, 14, 0.5);
  has_the_bits_of_reduced_sums(64, 65, 13, 1);
  has_the_bits_of_reduced_sums<4>(70, 67, 16, 1);
  has_the_bits_of_reduced_sums<4>(65, 40, 17, 0);
  has_the_bits_of_reduced_sums<4>(40, 64, 19, 0.5);
}

}  // namespace
}  // namespace vernier::cuda::recombine_winograd_test
