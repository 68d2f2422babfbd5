// Whole products: the vector paths equal the scalar model, and the order of the sum is the one that was asked for.
#include "model/replay.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <cstring>

#include "cases.hpp"
#include "model/tile.hpp"
#include "vernier/vernier.hpp"

namespace vernier::model::test::replay_test {
namespace {

struct Operands {
  std::vector<char> a, b, c;
  std::int64_t m, n, k;
};

Operands make(Cases& cases, const Engine& e, Stratum stratum, std::int64_t m, std::int64_t n, std::int64_t k) {
  Operands x{{}, {}, {}, m, n, k};
  const auto fill = [&](std::vector<char>& to, Format format, std::int64_t count, int exponent) {
    const auto bytes = static_cast<std::size_t>(storage_bytes(format));
    to.resize(static_cast<std::size_t>(count) * bytes);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::uint64_t word = cases.number(format, stratum, exponent, 12);
      std::memcpy(&to[static_cast<std::size_t>(i) * bytes], &word, bytes);
    }
  };
  fill(x.a, e.a, m * k, 0);
  fill(x.b, e.b, n * k, 0);
  fill(x.c, e.c, m * n, 2);
  return x;
}

std::vector<char> product(std::string_view path, const Engine& e, const Replay& r, const Operands& x) {
  std::vector<char> d(x.c.size());
  multiply_on(path, e, r, x.m, x.n, x.k, {x.a.data(), x.k, x.b.data(), x.k, x.c.data(), d.data(), x.m});
  return d;
}

class VectorPathTest : public testing::TestWithParam<const char*> {};

TEST_P(VectorPathTest, EqualsTheScalarModel) {
  if (find_vector_path(GetParam()) == nullptr) GTEST_SKIP() << "this processor has no " << GetParam();
  Cases cases(1);
  int engines_seen = 0;
  for (const NamedEngine& named : engines()) {
    if (!vector_path_fits(named.engine)) continue;
    ++engines_seen;
    for (int s = 0; s < strata; ++s) {
      const Operands x = make(cases, named.engine, static_cast<Stratum>(s), 19, 21, 3 * named.engine.k + 1);
      ASSERT_EQ(product(GetParam(), named.engine, {}, x), product("scalar", named.engine, {}, x))
          << named.name << " stratum " << s;
      const Replay cut{{}, 2 * named.engine.k, 2, false};
      ASSERT_EQ(product(GetParam(), named.engine, cut, x), product("scalar", named.engine, cut, x))
          << named.name << " stratum " << s;
    }
  }
  EXPECT_GT(engines_seen, 10);
}

INSTANTIATE_TEST_SUITE_P(Paths, VectorPathTest, testing::Values("avx512", "avx2"),
                         [](const auto& info) { return info.param; });

// The order written out with dot(): runs of one instruction summed outside, two parts of k.
TEST(Replay, RunsAndPartsAreSummedOutside) {
  const Engine& e = find_engine("hopper-mma-fp16-fp32").engine;
  Cases cases(5);
  const Operands x = make(cases, e, Stratum::cluster, 3, 2, 64);
  const std::vector<char> d = product("", e, {{}, 16, 2, false}, x);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 2; ++j) {
      float part[2] = {};
      std::memcpy(&part[0], &x.c[static_cast<std::size_t>(i + 3 * j) * 4], 4);
      for (int t = 0; t < 4; ++t) {
        std::uint64_t a[16] = {}, b[16] = {};
        for (int k = 0; k < 16; ++k) {
          std::memcpy(&a[k], &x.a[static_cast<std::size_t>(i * 64 + t * 16 + k) * 2], 2);
          std::memcpy(&b[k], &x.b[static_cast<std::size_t>(j * 64 + t * 16 + k) * 2], 2);
        }
        part[t / 2] += static_cast<float>(decode(e.c, dot(e, a, b, 0)));
      }
      float got = 0;
      std::memcpy(&got, &d[static_cast<std::size_t>(i + 3 * j) * 4], 4);
      EXPECT_EQ(got, part[0] + part[1]);
    }
}

// More tiles than threads, bands of rows and strips of columns that are not whole.
TEST(Replay, ThreadsLeaveNoTrace) {
  Cases cases(9);
  const int threads = omp_get_max_threads();
  for (const char* name : {"hopper-wgmma-fp16-fp32", "hopper-mma-e4m3-fp32", "amx-bf16", "nvidia-int8"}) {
    const Engine& e = find_engine(name).engine;
    const Operands x = make(cases, e, Stratum::cluster, 260, 37, 2 * e.k + 1);
    const Replay replay{{}, e.k, 2, false};
    omp_set_num_threads(1);
    const std::vector<char> alone = product("", e, replay, x);
    for (const int count : {2, 5}) {
      omp_set_num_threads(count);
      EXPECT_EQ(product("", e, replay, x), alone) << name << " threads " << count;
    }
    omp_set_num_threads(threads);
  }
}

TEST(Replay, NothingToAddLeavesC) {
  for (const char* name : {"hopper-wgmma-fp16-fp32", "amx-bf16"}) {
    const float c = 1.5;
    float d = 0;
    multiply(find_engine(name).engine, {}, 1, 1, 0, nullptr, 1, nullptr, 1, &c, &d, 1);
    EXPECT_EQ(d, 1.5) << name;
    multiply(find_engine(name).engine, {}, 0, 1, 4, nullptr, 4, nullptr, 4, &c, &d, 1);
  }
}

TEST(Replay, FollowsTheOrderOfK) {
  const Engine& e = find_engine("volta-fp16-fp32").engine;
  // 2^15 * 2^15, 1, -2^15 * 2^15: the one survives only behind the two others
  const std::uint16_t a[12] = {0x7800, 0, 0, 0, 0x3c00, 0, 0, 0, 0xf800, 0, 0, 0};
  const std::uint16_t b[12] = {0x7800, 0, 0, 0, 0x3c00, 0, 0, 0, 0x7800, 0, 0, 0};
  const float zero = 0;
  float d = 0;
  multiply(e, {}, 1, 1, 12, a, 12, b, 12, &zero, &d, 1);
  EXPECT_EQ(d, 0);
  multiply(e, {{0, 1, 2, 3, 8, 9, 10, 11, 4, 5, 6, 7}, 0, 1, false}, 1, 1, 12, a, 12, b, 12, &zero, &d, 1);
  EXPECT_EQ(d, 1);
}

TEST(Replay, RefusesWrongArguments) {
  const Engine& e = find_engine("volta-fp16-fp32").engine;
  const std::uint16_t a[4] = {};
  float d = 7;
  EXPECT_THROW(multiply(e, {}, 1, 1, 4, a, 3, a, 4, &d, &d, 1), Error);
  EXPECT_THROW(multiply(e, {{0, 1, 2, 2}, 0, 1, false}, 1, 1, 4, a, 4, a, 4, &d, &d, 1), Error);
  EXPECT_THROW(multiply(e, {{}, 0, 0, false}, 1, 1, 4, a, 4, a, 4, &d, &d, 1), Error);
  EXPECT_EQ(d, 7);
}

}  // namespace
}  // namespace vernier::model::test::replay_test
