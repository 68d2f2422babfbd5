// The error curves of the block-FMA papers without a GPU: products and LU of growing size on modelled engines, beside
// their bounds. JSON on stdout.
//
//     error_curves [--largest N]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <vector>

#include "support/model_words.hpp"
#include "support/random.hpp"
#include "vernier/block_fma.hpp"
#include "vernier/vernier.hpp"

namespace vernier::test::error_curves {
namespace {

using Json = nlohmann::ordered_json;
using model::Format;
constexpr double u16 = 0x1p-11, u32 = 0x1p-24;

struct Row {
  const char* name;
  model::Engine engine;
  BlockFmaUnits units;
  bool converted;
};

std::vector<Row> rows() {
  return {
      {"fp16", model::block_fma(Format::fp16, Format::fp16, 1, 11, 11, 11), {u16, u16, u16, u16, 1}, true},
      {"TC16", model::block_fma(Format::fp16, Format::fp16, 4, 24, 11, 11), {u16, u32, u16, u16, 4}, true},
      {"TC32", model::block_fma(Format::fp16, Format::fp32, 4, 24, 24, 24), {u16, u32, u32, u32, 4}, true},
      {"TC32, b = 16", model::block_fma(Format::fp16, Format::fp32, 16, 24, 24, 24), {u16, u32, u32, u32, 16}, true},
      {"fp32", model::block_fma(Format::fp32, Format::fp32, 1, 24, 24, 24), {u32, u32, u32, u32, 1}, false}};
}

std::vector<double> uniform(std::int64_t count, double least, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> x(static_cast<std::size_t>(count));
  for (double& e : x) e = least + (1 - least) * random.uniform();
  return x;
}

// Largest and mean |C - AB| / |A||B| of 16 x 16 entries, A and B uniform in [0, 1) as in the paper.
Json product_errors(const Row& row, std::int64_t k) {
  constexpr std::int64_t m = 16;
  const auto a = uniform(m * k, 0, 1), b = uniform(m * k, 0, 2), zero = uniform(m * m, 1, 3);
  const auto pa = packed(row.engine.a, a), pb = packed(row.engine.b, b);
  auto c = packed(row.engine.c, std::vector<double>(zero.size(), 0.0));
  model::multiply(row.engine, {}, m, m, k, pa.data(), k, pb.data(), k, c.data(), c.data(), m);
  const auto bytes = static_cast<std::size_t>(model::storage_bytes(row.engine.c));
  double largest = 0, sum_of_errors = 0;
  for (std::int64_t j = 0; j < m; ++j)
    for (std::int64_t i = 0; i < m; ++i) {
      long double sum = 0;
      for (std::int64_t l = 0; l < k; ++l)
        sum +=
            static_cast<long double>(a[static_cast<std::size_t>(i * k + l)]) * b[static_cast<std::size_t>(j * k + l)];
      std::uint64_t word = 0;
      std::memcpy(&word, c.data() + static_cast<std::size_t>(i + j * m) * bytes, bytes);
      const auto error = static_cast<double>(std::abs(model::decode(row.engine.c, word) - sum) / sum);
      largest = std::max(largest, error);
      sum_of_errors += error;
    }
  const double bound = block_fma_bound(row.units, k, row.converted);
  return {{"engine", row.name},
          {"k", k},
          {"largest", largest},
          {"mean", sum_of_errors / (m * m)},
          {"bound", std::isfinite(bound) ? Json(bound) : Json()}};
}

// |PA - LU| against |L||U|, and in the Frobenius norm against |A|.
Json lu_errors(const char* name, const char* variant, const ModelledLu& result, std::int64_t n, std::vector<double> a,
               double bound) {
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      std::swap(a[static_cast<std::size_t>(i + j * n)],
                a[static_cast<std::size_t>(result.pivots[static_cast<std::size_t>(i)] - 1 + j * n)]);
  const auto lu = [&](std::int64_t i, std::int64_t j) { return result.lu[static_cast<std::size_t>(i + j * n)]; };
  double largest = 0, mean = 0, squares = 0, norm = 0;
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) {
      double sum = 0, size = 0;
      for (std::int64_t p = 0; p <= std::min(i, j); ++p) {
        const double term = (p == i ? 1 : lu(i, p)) * lu(p, j);
        sum += term;
        size += std::abs(term);
      }
      const double entry = a[static_cast<std::size_t>(i + j * n)], error = std::abs(entry - sum);
      largest = std::max(largest, error / size);
      mean += error / size / static_cast<double>(n * n);
      squares += error * error;
      norm += entry * entry;
    }
  return {{"engine", name},
          {"variant", variant},
          {"n", n},
          {"largest", largest},
          {"mean", mean},
          {"normwise", std::sqrt(squares / norm)},
          {"bound", std::isfinite(bound) ? Json(bound) : Json()}};
}

Json lu_curves(std::int64_t largest) {
  Json out = Json::array();
  for (std::int64_t n = 64; n <= largest; n *= 2) {
    const auto a = uniform(n * n, -1, static_cast<std::uint64_t>(n));
    for (const Row& row : rows()) {
      const std::int64_t b = row.units.b;
      const auto add = [&](const char* variant, std::int64_t outer, std::int64_t inner) {
        const double bound = block_lu_bound(row.units, n, inner, row.units.fma, 0);
        out.push_back(lu_errors(row.name, variant,
                                modelled_right_looking_lu({row.engine, outer, inner}, n, a.data(), n), n, a, bound));
      };
      add("right-looking, panels of b", b, b);
      if (std::strcmp(row.name, "TC32") != 0) continue;
      add("double panel, 64 and b", 64, b);
      add("panels of 64 in fp32", 64, 64);
      out.push_back(lu_errors(row.name, "left-looking, stored in fp16",
                              modelled_left_looking_lu({row.engine, 64, b}, n, a.data(), n), n, a,
                              block_lu_bound(row.units, n, b, row.units.fma, u16)));
    }
    std::fprintf(stderr, "LU of order %lld done\n", static_cast<long long>(n));
  }
  return out;
}

int run(int argc, char** argv) {
  std::int64_t largest = 1024;
  if (argc == 3 && std::strcmp(argv[1], "--largest") == 0)
    largest = std::atoll(argv[2]);
  else if (argc != 1)
    return std::fprintf(stderr, "usage: error_curves [--largest N]\n"), 2;
  Json products = Json::array();
  for (std::int64_t k = 16; k <= 32 * largest; k *= 4)
    for (const Row& row : rows()) products.push_back(product_errors(row, k));
  const Json out = {{"program", "error_curves"},
                    {"version", version()},
                    {"data", "products: uniform in [0, 1); LU: uniform in [-1, 1)"},
                    {"products", products},
                    {"lu", lu_curves(largest)}};
  std::printf("%s\n", out.dump(1).c_str());
  return 0;
}

}  // namespace
}  // namespace vernier::test::error_curves

int main(int argc, char** argv) { return vernier::test::error_curves::run(argc, argv); }
