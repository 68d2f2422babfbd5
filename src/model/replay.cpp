// Whole products on a modelled engine: k order, runs, split-K, sums outside the engine.
#include "model/replay.hpp"

#include <omp.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "model/element.hpp"
#include "model/strip_product.hpp"

namespace vernier::model {
namespace {

ProductOrder make_order(const Engine& e, const Replay& r, std::int64_t k) {
  std::vector<std::int64_t> walk = r.k_order;
  if (walk.empty()) {
    walk.resize(static_cast<std::size_t>(k));
    std::iota(walk.begin(), walk.end(), std::int64_t{0});
  }
  ProductOrder order;
  for (int part = 0; part < r.split_k; ++part) {
    const std::int64_t first = k * part / r.split_k, last = k * (part + 1) / r.split_k;
    const std::int64_t step = r.run == 0 ? std::max<std::int64_t>(last - first, 1) : r.run;
    for (std::int64_t at = first; at < last || at == first; at += step) {
      Run run{static_cast<std::int64_t>(order.k.size()) / e.k, 0, at == first};
      for (std::int64_t i = at; i < std::min(at + step, last); ++i)
        order.k.push_back(walk[static_cast<std::size_t>(i)]);
      while (order.k.size() % static_cast<std::size_t>(e.k) != 0) order.k.push_back(-1);
      run.end = static_cast<std::int64_t>(order.k.size()) / e.k;
      order.runs.push_back(run);
    }
  }
  return order;
}

void check_arguments(const Replay& r, std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t lda,
                     std::int64_t ldb, std::int64_t ldc) {
  constexpr const char* least = "model::multiply: {} is {}; expected at least {}";
  require(m >= 0 && n >= 0 && k >= 0, "model::multiply: m, n and k must not be negative");
  require(lda >= std::max<std::int64_t>(1, k), least, "lda", lda, "max(1, k)");
  require(ldb >= std::max<std::int64_t>(1, k), least, "ldb", ldb, "max(1, k)");
  require(ldc >= std::max<std::int64_t>(1, m), least, "ldc", ldc, "max(1, m)");
  require(r.run >= 0, "model::multiply: run is {}; expected 0 or more", r.run);
  require(r.split_k >= 1, least, "split_k", r.split_k, 1);
  if (r.k_order.empty()) return;
  std::vector<bool> seen(static_cast<std::size_t>(k), false);
  bool permutation = static_cast<std::int64_t>(r.k_order.size()) == k;
  for (std::int64_t i : r.k_order) {
    permutation = permutation && i >= 0 && i < k && !seen[static_cast<std::size_t>(i)];
    if (permutation) seen[static_cast<std::size_t>(i)] = true;
  }
  require(permutation, "model::multiply: k_order is no permutation of 0 to k - 1");
}

}  // namespace

bool vector_path_fits(const Engine& e) {
  const auto narrow = [](Format f) { return f == Format::fp16 || f == Format::bf16 || f == Format::tf32; };
  return e.sum == Sum::block && narrow(e.a) && narrow(e.b) && e.c == Format::fp32 && e.k % e.block == 0 &&
         (e.block == 4 || e.block == 8 || e.block == 16) && e.fraction_bits >= 1 && e.fraction_bits <= 25 &&
         e.join == Join::first && e.alignment == Rounding::toward_zero && e.rounding == Rounding::toward_zero &&
         !e.normalise_products && !e.zero_keeps_exponent && e.carry_bits == 0 && e.product_bits == 0 &&
         e.output_fraction_bits == 23 && e.early_fraction_bits == 0 && !e.flush_inputs && !e.flush_c &&
         !e.flush_output && e.zero_sign == ZeroSign::positive && e.overflow == Overflow::infinity &&
         e.zero_exponent >= -1000;
}

std::string vector_path(const Engine& engine) {
  const VectorPath* path = vector_path_fits(engine) ? find_vector_path("") : nullptr;
  return path == nullptr ? "" : path->name;
}

std::uint64_t add_outside(const Engine& e, std::uint64_t a, std::uint64_t b) {
  if (e.sum == Sum::integer) return static_cast<std::uint32_t>(a + b);
  const FloatShape shape = shape_of(e.c);
  const Real x = real_of(unpack(shape, a), shape), y = real_of(unpack(shape, b), shape);
  return canonical(e, round_sum(Engine{}, shape, Rounding::nearest_even, x, y));
}

std::uint64_t dot(const Engine& engine, const std::uint64_t* a, const std::uint64_t* b, std::uint64_t c) {
  return element<largest_block>(engine, a, b, c);
}

void multiply(const Engine& engine, const Replay& replay, std::int64_t m, std::int64_t n, std::int64_t k, const void* A,
              std::int64_t lda, const void* B, std::int64_t ldb, const void* C, void* D, std::int64_t ldc) {
  multiply_on(replay.scalar ? "scalar" : "", engine, replay, m, n, k, {A, lda, B, ldb, C, D, ldc});
}

void multiply_on(std::string_view path_name, const Engine& e, const Replay& replay, std::int64_t m, std::int64_t n,
                 std::int64_t k, const StripOperands& operands) {
  validate(e);
  check_arguments(replay, m, n, k, operands.lda, operands.ldb, operands.ldc);
  const VectorPath* path = path_name == "scalar" || !vector_path_fits(e) ? nullptr : find_vector_path(path_name);
  const ProductOrder order = make_order(e, replay, k);
  const int columns = path == nullptr ? 16 : path->lanes;
  const std::int64_t bands = (m + band_rows - 1) / band_rows, strips = (n + columns - 1) / columns;
  const int available = omp_in_parallel() != 0 ? 1 : omp_get_max_threads();
  const auto threads = static_cast<int>(std::clamp<std::int64_t>(bands * strips, 1, std::max(1, available)));
  std::vector<StripProduct> products;  // one a thread; memory runs out here or nowhere
  products.reserve(static_cast<std::size_t>(threads));
  for (int t = 0; t < threads; ++t)
    products.emplace_back(e, path, order, static_cast<int>(std::min<std::int64_t>(band_rows, m)), columns,
                          replay.run != 0);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
  for (std::int64_t tile = 0; tile < bands * strips; ++tile) {  // elements are independent: any order, the same bits
    StripProduct& product = products[static_cast<std::size_t>(omp_get_thread_num())];
    const std::int64_t i = tile / strips * band_rows, j = tile % strips * columns;
    product.compute(operands, i, static_cast<int>(std::min<std::int64_t>(band_rows, m - i)), j,
                    static_cast<int>(std::min<std::int64_t>(columns, n - j)));
  }
}

}  // namespace vernier::model
