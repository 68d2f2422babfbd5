// Do residues pay for a routine with a triangle on a CPU? The BLAS underneath does half of the square's work; in pieces
// by residues, squares on the diagonal of a product are whole, and blocks on the diagonal of a factor are the BLAS's.
#pragma once

#include <limits>

#include "base/environment.hpp"
#include "blas/cpu_seconds.hpp"
#include "blas/level3/triangle.hpp"
#include "blas/offload/device.hpp"
#include "product/native/native.hpp"
#include "product/plan/method.hpp"
#include "product/plan/observed_choice.hpp"
#include "residue/plan/cost.hpp"

namespace vernier {

// Where no other machine's bits are asked for. On many threads small pieces gain nothing, and the threads of the BLAS
// underneath, which would take them, and those of products keep one another from their processors.
constexpr TriangleCut cpu_cut(int threads) { return threads <= 4 ? common_cut : TriangleCut{1024, 128}; }

// Options of residues between which a routine works too: all of a brief one is one thread's, which waits for no other
// between its pieces. steps: residue_steps() of all of them.
inline Options brief_options(const Options& options, double steps, std::int64_t pieces) {
  Options inner = inner_options(options);
  if (steps < static_cast<double>(pieces) * least_steps_of_threads) inner.threads = 1;
  return inner;
}

// Not of pieces that may go to a GPU.
template <class T>
bool chooses_by_estimate(const ProductShape& shape, const Options& options) {
  return native_use<T>(options.contract) != NativeUse::never && requested_engine(options.engine).empty() &&
         (!asks_for_a_gpu(options) || stays_on_the_cpu<T>(shape, options));
}

// A triangle of a product, n x n x k.
template <class T>
ObservedChoice update_method(std::int64_t n, std::int64_t k, const Options& options) {
  if (!chooses_by_estimate<T>({n, n, k}, options)) return {};
  const int threads = usable_threads(options.threads);
  double pieces = 0;
  cut_triangle(Uplo::lower, cpu_cut(threads), 0, n,
               [&](std::int64_t i0, std::int64_t i1, std::int64_t j0, std::int64_t j1) {
                 pieces += cpu_residue_seconds<T>({i1 - i0, j1 - j0, k}, options.contract, threads);
               });
  return {{element_type<T>, {n, n, k}, threads, ProductForm::triangle},
          {Method::native, cpu_native_seconds<T>({n, n, k}, threads) / 2},
          {Method::residues, pieces}};
}

// A triangular factor of that order, and as many vectors that it multiplies or solves.
template <class T>
ObservedChoice factor_method(std::int64_t order, std::int64_t vectors, const Options& options) {
  if (!chooses_by_estimate<T>({order, vectors, order}, options)) return {};
  const int threads = usable_threads(options.threads);
  const auto native = [&](std::int64_t size) { return cpu_native_seconds<T>({size, vectors, size}, threads) / 2; };
  const TriangleCut cut = cpu_cut(threads);
  const auto pieces = [&](const auto& self, std::int64_t begin, std::int64_t end) -> double {
    if (end - begin <= cut.whole) return native(end - begin);
    const std::int64_t middle = cut.middle(begin, end);
    return self(self, begin, middle) + self(self, middle, end) +
           cpu_residue_seconds<T>({end - middle, vectors, middle - begin}, options.contract, threads);
  };
  // A single block on the diagonal is the BLAS's either way.
  const double no_product = order > cut.whole ? 1 : std::numeric_limits<double>::infinity();
  return {{element_type<T>, {order, vectors, order}, threads, ProductForm::factor},
          {Method::native, native(order)},
          {Method::residues, no_product * pieces(pieces, 0, order)}};
}

// The plan of the whole square, where its triangle goes to the BLAS underneath.
inline Plan native_triangle(Plan plan) {
  describe_native(plan, native_name());
  plan.workspace = 0;
  plan.reason += "; of a triangle the BLAS underneath does half of that";
  return plan;
}

}  // namespace vernier
