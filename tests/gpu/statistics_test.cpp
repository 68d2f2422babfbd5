// What a GPU finds out about vectors, against the definition.
#include <gtest/gtest.h>

#include "cuda/device.hpp"
#include "residue/convert/convert.hpp"
#include "residue/plan/bounds.hpp"
#include "support/generators.hpp"

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

}  // namespace
}  // namespace vernier::test::statistics_test
