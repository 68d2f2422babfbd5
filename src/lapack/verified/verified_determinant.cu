// Enclosures of determinants and bounds of least eigenvalues in device memory: matrices stay there, vectors are looked
// at by the host.
#include <algorithm>

#include "base/environment.hpp"
#include "lapack/calls.hpp"
#include "lapack/verified/determinant.hpp"
#include "lapack/verified/enclose.hpp"
#include "lapack/verified/interval_elements.cuh"
#include "lapack/verified/magnitudes.hpp"
#include "product/operand_blocks.hpp"
#include "vernier/cuda_lapack.hpp"
#include "vernier/cuda_level3.hpp"

namespace vernier::cuda {

// Row i is row from[i] of x.
__global__ void __launch_bounds__(interval_threads)
    permute_rows(std::int64_t rows, std::int64_t columns, const double* x, std::int64_t ld, const std::int64_t* from,
                 double* out) {
  const IntervalElement e(rows, columns);
  if (e.exists) out[e.at] = x[from[e.i] + e.j * ld];
}

// The symmetric matrix of a lower triangle.
__global__ void __launch_bounds__(interval_threads)
    mirror_lower(std::int64_t rows, std::int64_t columns, const double* x, std::int64_t ld, double* out) {
  const IntervalElement e(rows, columns);
  if (e.exists) out[e.at] = x[max(e.i, e.j) + min(e.i, e.j) * ld];
}

// Zeros beside a triangle, or everywhere; ones on the diagonal.
struct TriangleFill {
  bool lower, zeros_everywhere, ones;
};
__global__ void __launch_bounds__(interval_threads)
    set_triangle(std::int64_t rows, std::int64_t columns, double* x, TriangleFill fill) {
  const IntervalElement e(rows, columns);
  if (!e.exists) return;
  if (e.i == e.j ? fill.zeros_everywhere : fill.zeros_everywhere || (e.i < e.j) == fill.lower) x[e.at] = 0;
  if (e.i == e.j && fill.ones) x[e.at] = 1;
}

// Of `rows` diagonal elements.
__global__ void __launch_bounds__(interval_threads)
    take_diagonal_kernel(std::int64_t rows, std::int64_t columns, double* x, double* out) {
  const IntervalElement e(rows, columns);
  if (!e.exists) return;
  double& own = x[e.i + e.i * rows];
  out[e.i] = own;
  own = 0;
}
__global__ void __launch_bounds__(interval_threads)
    shift_diagonal(std::int64_t rows, std::int64_t columns, double* x, double shift) {
  const IntervalElement e(rows, columns);
  if (e.exists) x[e.i + e.i * rows] -= shift;
}

namespace {

using HostVector = std::vector<double>;

// What both proofs need of n x n matrices without gaps.
class SquaresOnDevice {
 public:
  SquaresOnDevice(std::int64_t n, int squares, const Options& options)
      : n_(n), count_(squares), options_(options), stream_(stream_of(options)), memory_(carve(Arena{}), stream_) {
    carve(memory_.arena());
  }

  double* square(int i) const { return squares_[static_cast<std::size_t>(i)]; }
  Options under(const Contract& contract) const {
    return {.contract = contract, .stream = options_.stream, .workspace_limit = options_.workspace_limit};
  }
  void copy(double* to, const double* from, std::int64_t ld) const {
    const auto bytes = [](std::int64_t count) { return static_cast<std::size_t>(count) * sizeof(double); };
    check(copy_lines(to, bytes(n_), from, bytes(ld), bytes(n_), static_cast<std::size_t>(n_), stream_), "copy");
  }
  // At least |M| v.
  HostVector above(const double* m, const HostVector& v) const {
    to_device(x_, v, stream_);
    multiply_magnitudes(n_, m, n_, x_, partial_, y_, stream_);
    return on_host(y_, n_, stream_);
  }
  HostVector row_sums(const double* m) const { return above(m, HostVector(static_cast<std::size_t>(n_), 1.0)); }
  bool finite(const double* m) const { return all_finite(row_sums(m)); }
  // The diagonal of m, which is zero afterwards.
  HostVector take_diagonal(double* m) const {
    launch_elements("take_diagonal", take_diagonal_kernel, n_, 1, stream_, m, y_);
    return on_host(y_, n_, stream_);
  }

 protected:
  const std::int64_t n_;
  const int count_;
  const Options& options_;
  const cudaStream_t stream_;
  double *x_ = nullptr, *y_ = nullptr, *partial_ = nullptr;
  std::int64_t* order_ = nullptr;

 private:
  std::size_t carve(Arena arena) {
    squares_.clear();
    for (int i = 0; i < count_; ++i) squares_.push_back(arena.take<double>(static_cast<std::size_t>(n_ * n_)));
    x_ = arena.take<double>(static_cast<std::size_t>(n_)), y_ = arena.take<double>(static_cast<std::size_t>(n_));
    partial_ = arena.take<double>(static_cast<std::size_t>(n_ * magnitude_slices));
    order_ = arena.take<std::int64_t>(static_cast<std::size_t>(n_));
    return arena.used();
  }

  std::vector<double*> squares_;
  DeviceWorkspace memory_;
};

class DeterminantOnDevice : private SquaresOnDevice {
 public:
  DeterminantOnDevice(std::int64_t n, const Options& options) : SquaresOnDevice(n, 6, options) {}

  // Why not; empty on success.
  std::string enclose(const double* A, std::int64_t lda, DeterminantInterval& result) {
    double *const factors = square(0), *const permuted = square(1), *const lower = square(2), *const upper = square(3),
                  *const mid = square(4), *const rad = square(5);
    copy(factors, A, lda);
    const std::int64_t info = getrf<double>(n_, n_, factors, n_, order_, under(Contract::fp64()));
    if (info != 0) return fmt::format("U({0}, {0}) of the LU factorisation is zero", info);
    const PivotedRows order = pivoted_rows(on_host(order_, n_, stream_));
    to_device(order_, order.from, stream_);
    launch_elements("permute_rows", permute_rows, n_, n_, stream_, A, lda, order_, permuted);
    invert(Uplo::lower, factors, lower);
    invert(Uplo::upper, factors, upper);
    if (!finite(lower) || !finite(upper)) return "the inverse of a factor overflows";
    const double* const none = nullptr;
    interval_gemm<double>(Op::none, Op::none, n_, n_, n_, lower, none, n_, permuted, none, n_, mid, rad, n_,
                          under(Contract::fp64()));
    if (!finite(mid) || !finite(rad)) return "a product overflows";
    interval_gemm<double>(Op::none, Op::none, n_, n_, n_, mid, rad, n_, upper, none, n_, factors, permuted, n_,
                          under(Contract::fp64()));
    Factors2 product;
    const NearIdentity near{take_diagonal(factors), take_diagonal(permuted), [&](const HostVector& v) {
                              HostVector sums = above(factors, v);
                              const HostVector radii = above(permuted, v);
                              for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = sum_up(sums[i], radii[i]);
                              return sums;
                            }};
    if (!enclose_near_identity(near, product))
      return "the preconditioned matrix is not diagonally dominant: A is too ill-conditioned";
    return divide_by_diagonal(take_diagonal(upper), order.odd, product, result);
  }

 private:
  // X near the inverse of a triangle, and a triangle itself.
  void invert(Uplo uplo, const double* factors, double* x) const {
    const bool lower = uplo == Uplo::lower;
    launch_elements("set_triangle", set_triangle, n_, n_, stream_, x, TriangleFill{lower, true, true});
    trsm<double>(Side::left, uplo, Op::none, lower ? Diag::unit : Diag::non_unit, n_, n_, 1, factors, n_, x, n_,
                 under(Contract::fp64()));
    launch_elements("set_triangle", set_triangle, n_, n_, stream_, x, TriangleFill{lower, false, lower});
  }
};

class DefiniteOnDevice final : public DefiniteProof, private SquaresOnDevice {
 public:
  DefiniteOnDevice(std::int64_t n, const double* A, std::int64_t lda, const Options& options)
      : SquaresOnDevice(n, 3, options) {
    launch_elements("mirror", mirror_lower, n_, n_, stream_, A, lda, square(0));
    check_finite_matrix("verified_definite", "A", square(0), n_, n_, n_, stream_);
  }

  bool factor(double shift) override {
    copy(square(1), square(0), n_);
    launch_elements("shift_diagonal", shift_diagonal, n_, 1, stream_, square(1), shift);
    if (potrf<double>(Uplo::lower, n_, square(1), n_, under(Contract::fp64())) != 0) return false;
    launch_elements("set_triangle", set_triangle, n_, n_, stream_, square(1), TriangleFill{true, false, false});
    return true;
  }
  HostVector solve(HostVector x) const override {
    to_device(x_, x, stream_);
    potrs<double>(Uplo::lower, n_, 1, square(1), n_, x_, n_, under(Contract::fp64()));
    return on_host(x_, n_, stream_);
  }
  // shift - |F - shift I|_inf: rows of |F| without the diagonal, which has its own terms; F is rounded to nearest.
  double bound(double shift) const override {
    double* const f = square(2);
    const double minus = -1, one = 1;
    copy(f, square(0), n_);
    gemm<double>(Op::none, Op::transpose, n_, n_, n_, &minus, square(1), n_, square(1), n_, &one, f, n_,
                 under(Contract::exact()));
    const HostVector diagonal = take_diagonal(f), sums = row_sums(f);
    const double tiny = static_cast<double>(n_) * 0x1p-1074;
    double most = 0;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const double x = diagonal[i], own = sum_up(std::max(sum_up(x, -shift), sum_up(shift, -x)), half_unit(x)),
                   beside = sum_up(sum_up(sums[i], vernier::above(sums[i] * 0x1p-53)), tiny), all = sum_up(own, beside);
      most = std::isfinite(all) ? std::max(most, all) : infinity;
    }
    return sum_down(shift, -most);
  }
};

void check_square(const char* routine, std::int64_t n, const double* A, std::int64_t lda) {
  check_dimension(routine, "n", n);
  check_area(routine, n, n);
  check_pointer(routine, "A", n > 0, A);
  check_leading(routine, "lda", lda, n);
  check_device<double>(routine, n);
}

}  // namespace

VerifiedReport verified_determinant(std::int64_t n, const double* A, std::int64_t lda, DeterminantInterval& determinant,
                                    const Options& options) {
  check_square("verified_determinant", n, A, lda);
  check_finite_matrix("verified_determinant", "A", A, n, n, lda, stream_of(options));
  const FloatingEnvironment environment;
  return report_determinant(
      n, [&](DeterminantInterval& result) { return DeterminantOnDevice(n, options).enclose(A, lda, result); },
      determinant);
}

VerifiedReport verified_definite(std::int64_t n, const double* A, std::int64_t lda, double& bound,
                                 const Options& options) {
  require(n > 0, "verified_definite: n = {}: expected at least 1", n);
  check_square("verified_definite", n, A, lda);
  const FloatingEnvironment environment;
  DefiniteOnDevice proof(n, A, lda, options);
  return report_definite(n, proof, bound);
}

}  // namespace vernier::cuda
