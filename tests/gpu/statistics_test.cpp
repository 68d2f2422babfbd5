// What a GPU finds out about vectors, against the definition.
#include <gtest/gtest.h>

#include <algorithm>

#include "gpu/fixture.hpp"
#include "product/arguments.hpp"
#include "residue/convert/convert.hpp"
#include "residue/convert/digits.hpp"
#include "residue/plan/bounds.hpp"

namespace vernier::test::statistics_test {
namespace {

// How the blocks that share a vector learn what the others found; alone: they share none.
enum class Blocks { in_clusters, meet_in_memory, alone };

template <class T>
void equal_the_definition(const std::string& family, std::int64_t m, std::int64_t n, std::int64_t k, Op opa, Op opb,
                          Blocks blocks) {
  auto [a, b] = make_operands<T>(family, m, n, k, 5);
  a(0, k / 2) = std::numeric_limits<T>::infinity();
  const Matrix<T> stored_a = stored(opa, a, 1), stored_b = stored(opb, b, 2);
  const auto upload = [](const Matrix<T>& x) {
    cuda::DeviceBuffer<T> copy(static_cast<std::size_t>(x.ld() * x.columns()));
    cuda::copy_to_device(copy.data(), x.data(), copy.bytes());
    return copy;
  };
  const cuda::DeviceBuffer<T> device_a = upload(stored_a), device_b = upload(stored_b);
  const Operand<T> rows{stored_a.data(), m, k, stored_a.ld(), opa != Op::none};
  const Operand<T> columns{stored_b.data(), n, k, stored_b.ld(), opb == Op::none};
  Operand<T> device_rows = rows, device_columns = columns;
  device_rows.data = device_a.data();
  device_columns.data = device_b.data();
  const cuda::DeviceBuffer<VectorStatistics> statistics(static_cast<std::size_t>(m + n));
  const cuda::DeviceBuffer<int> scales(static_cast<std::size_t>(m + n));
  const ScalingRule rule = scaling_rule<T>(Contract::fp64(), k);
  const cuda::DeviceBuffer<std::byte> place(blocks == Blocks::meet_in_memory ? std::size_t{1} << 21 : 0);
  cuda::check(cudaMemset(place.data(), 0xff, place.bytes()), "poison");
  cuda::measure_on_device<T>(
      {device_rows, statistics.data(), scales.data(), nullptr},
      {device_columns, statistics.data() + m, scales.data() + m, nullptr}, rule,
      {.moduli = 15, .words = 2, .clusters = blocks == Blocks::in_clusters, .meeting = {place.data(), place.bytes()}},
      {}, nullptr);
  std::vector<VectorStatistics> got(statistics.size());
  std::vector<int> got_scales(scales.size());
  cuda::check(cudaMemcpy(got.data(), statistics.data(), statistics.bytes(), cudaMemcpyDeviceToHost), "statistics");
  cuda::check(cudaMemcpy(got_scales.data(), scales.data(), scales.bytes(), cudaMemcpyDeviceToHost), "scales");
  for (std::int64_t v = 0; v < m + n; ++v) {
    const Operand<T>& x = v < m ? rows : columns;
    const VectorStatistics want = vector_statistics(x.at(v < m ? v : v - m, 0), x.k_stride(), k);
    const VectorStatistics& have = got[static_cast<std::size_t>(v)];
    ASSERT_TRUE(have == want) << family << ", vector " << v << " of " << m << " + " << n << ", k = " << k
                              << ": exponents " << have.exponent << " for " << want.exponent << ", lowest "
                              << have.lowest << " for " << want.lowest << ", squares " << have.squares << " for "
                              << want.squares << ", sum " << have.sum << " for " << want.sum << ", flatness "
                              << have.flatness << " for " << want.flatness;
    ASSERT_EQ(got_scales[static_cast<std::size_t>(v)], ordinary_scale(rule, k, want)) << family << ", vector " << v;
  }
}

class StatisticsOnGpu : public testing::TestWithParam<Blocks> {};
INSTANTIATE_TEST_SUITE_P(Blocks, StatisticsOnGpu,
                         testing::Values(Blocks::in_clusters, Blocks::meet_in_memory, Blocks::alone));

TEST_P(StatisticsOnGpu, EqualTheDefinitionInEveryLayout) {
  for (const std::string& family : operand_families())
    for (const Op opa : {Op::none, Op::transpose})
      for (const Op opb : {Op::none, Op::transpose}) {
        equal_the_definition<double>(family, 50, 33, 700, opa, opb, GetParam());
        equal_the_definition<float>(family, 17, 40, 129, opa, opb, GetParam());
      }
}

TEST_P(StatisticsOnGpu, EqualTheDefinitionForShortAndLongVectors) {
  for (const std::int64_t k : {1, 2, 127, 128, 255, 257, 1024, 4097, 20000})
    equal_the_definition<double>("random_phi_2", 20, 18, k, Op::none, Op::none, GetParam());
}

// More blocks than a GPU runs at once: those that wait must not keep out those that they wait for.
TEST_P(StatisticsOnGpu, EqualTheDefinitionWhereManyStripsWaitForTheirTurn) {
  equal_the_definition<double>("random_phi_2", 3000, 5, 4096, Op::none, Op::none, GetParam());
}

// Residues beside the statistics, each element read once, are those that scales which are there give.
void residues_are_the_same(const std::string& family, int words, int moduli, std::int64_t k, Op opa, Op opb) {
  constexpr std::int64_t m = 20, n = 35;
  auto [a, b] = make_operands<double>(family, m, n, k, 5);
  a(3, k / 2) = std::numeric_limits<double>::quiet_NaN();
  const Matrix<double> stored_a = stored(opa, a, 1), stored_b = stored(opb, b, 2);
  const DeviceCopy<double> device_a(stored_a), device_b(stored_b);
  const auto plane_bytes = static_cast<std::size_t>((m + n) * device_pitch(k) * moduli);
  const cuda::DeviceBuffer<VectorStatistics> statistics(m + n);
  const cuda::DeviceBuffer<int> scales(m + n);
  const cuda::DeviceBuffer<std::uint8_t> beside(plane_bytes), apart(plane_bytes);
  for (const auto* planes : {&beside, &apart}) cuda::check(cudaMemset(planes->data(), 0x7b, plane_bytes), "poison");
  ScalingRule rule = scaling_rule<double>(Contract::fp64(), k);
  rule.twice_norm_bits_16 = static_cast<int>(16 * log2_bound_of(moduli)) - 1;
  rule.largest_exponent = exponent_of_same_words(words == 2 ? largest_exponent(1) : largest_exponent(1) + 1);
  const auto operand = [&](const Operand<double>& x, bool row, const cuda::DeviceBuffer<std::uint8_t>& planes) {
    const std::int64_t first = row ? 0 : m;
    return cuda::DeviceOperand<double>{x, statistics.data() + first, scales.data() + first,
                                       planes.data() + first * device_pitch(k) * moduli};
  };
  const Operand<double> rows = rows_of(opa, static_cast<const double*>(device_a.data()), m, k, stored_a.ld()),
                        columns = columns_of(opb, static_cast<const double*>(device_b.data()), n, k, stored_b.ld());
  cuda::measure_on_device<double>(operand(rows, true, beside), operand(columns, false, beside), rule,
                                  {.moduli = moduli, .words = words, .deep = false}, {}, nullptr);
  cuda::decompose_on_device<double>(operand(rows, true, apart), operand(columns, false, apart),
                                    {.moduli = moduli, .words = 4}, nullptr, {});
  std::vector<std::uint8_t> got(plane_bytes), want(plane_bytes);
  cuda::check(cudaMemcpy(got.data(), beside.data(), plane_bytes, cudaMemcpyDeviceToHost), "beside");
  cuda::check(cudaMemcpy(want.data(), apart.data(), plane_bytes, cudaMemcpyDeviceToHost), "apart");
  const auto place = std::mismatch(got.begin(), got.end(), want.begin()).first - got.begin();
  EXPECT_EQ(place, static_cast<std::ptrdiff_t>(plane_bytes))
      << family << ", " << words << " words, " << moduli << " moduli, k = " << k;
}

TEST(ResiduesOnGpu, AreTheSameBesideTheStatistics) {
  if (!cuda::current_device().hopper()) GTEST_SKIP() << "needs a GPU of compute capability 9.0";
  for (const std::int64_t k : {130, 2100, 4096, 4500, 8192, 9000})
    for (const int moduli : {16, 17, 18, 19})
      for (const int words : {2, 3}) {
        residues_are_the_same("random_phi_1", words, moduli, k, Op::none, Op::none);
        residues_are_the_same("random_phi_4", words, moduli, k, Op::transpose, Op::transpose);
      }
  for (const std::string& family : operand_families()) residues_are_the_same(family, 3, 17, 700, Op::none, Op::none);
}

}  // namespace
}  // namespace vernier::test::statistics_test
