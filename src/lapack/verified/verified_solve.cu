// Enclosures of solutions in device memory: matrices stay there, vectors are looked at by the host.
#include <algorithm>
#include <bit>

#include "base/duration.hpp"
#include "base/environment.hpp"
#include "lapack/arguments.hpp"
#include "lapack/calls.hpp"
#include "lapack/verified/determinant.hpp"
#include "lapack/verified/enclose.hpp"
#include "lapack/verified/interval_elements.cuh"
#include "lapack/verified/interval_products.hpp"
#include "lapack/verified/magnitudes.hpp"
#include "lapack/verified/upward.hpp"
#include "product/operand_blocks.hpp"
#include "vernier/cuda_lapack.hpp"
#include "vernier/cuda_level3.hpp"

namespace vernier::cuda {

__global__ void __launch_bounds__(interval_threads)
    set_identity_kernel(std::int64_t rows, std::int64_t columns, double* x) {
  const IntervalElement e(rows, columns);
  if (e.exists) x[e.at] = e.i == e.j ? 1 : 0;
}

// Column i goes to column `to[i]`.
__global__ void __launch_bounds__(interval_threads)
    scatter_columns(std::int64_t rows, std::int64_t columns, const double* x, const std::int64_t* to, double* out) {
  const IntervalElement e(rows, columns);
  if (e.exists) out[e.i + to[e.j] * rows] = x[e.at];
}

// The largest |x| / weight of each column, rounded up, as bits; zeros at first.
__global__ void __launch_bounds__(interval_threads)
    column_quotients(std::int64_t rows, std::int64_t columns, const double* x, const double* weight,
                     unsigned long long* most) {
  const IntervalElement e(rows, columns);
  if (!e.exists) return;
  const auto bits = std::bit_cast<unsigned long long>(above(fabs(x[e.at]) / weight[e.i]));
  if (bits > most[e.j]) atomicMax(most + e.j, bits);
}

// |A^-1 - R| is at most sums times quotient + factor, of a row and a column.
struct InverseSpread {
  const double *sums, *quotients, *factors;
};
__global__ void __launch_bounds__(interval_threads)
    inverse_ends(std::int64_t rows, std::int64_t columns, const double* r, InverseSpread s, double* low, double* high,
                 std::int64_t ld) {
  const IntervalElement e(rows, columns);
  if (!e.exists) return;
  const double spread = sum_up(above(s.sums[e.i] * s.quotients[e.j]), above(s.sums[e.i] * s.factors[e.j]));
  low[e.i + e.j * ld] = sum_down(r[e.at], -spread);
  high[e.i + e.j * ld] = sum_up(r[e.at], spread);
}

namespace {

using Vectors = ProvedSystem::Vectors;

struct DeviceSystem {
  std::int64_t n, nrhs;
  const double *A, *B;
  std::int64_t lda, ldb;
};

class VerifiedOnDevice final : public ProvedSystem {
 public:
  VerifiedOnDevice(const DeviceSystem& s, const Options& options)
      : ProvedSystem(s.n, s.nrhs),
        s_(s),
        options_(options),
        stream_(stream_of(options)),
        most_(std::max<std::int64_t>(s.nrhs, 1)),
        memory_(carve(Arena{}), stream_) {
    carve(memory_.arena());
  }

  // R, and whether it proves A regular.
  Regularity prove(Proves what) {
    Regularity proof;
    if (const std::int64_t info = invert(); info != 0) {
      proof.contraction = infinity;
      proof.failure = fmt::format("U({0}, {0}) of the LU factorisation is zero", info);
      return proof;
    }
    Vectors weights = unit_weights(n);
    double size = infinity;
    if (what == Proves::solutions) {
      weights = weights_by_norms(above(r_, n, weights));
      size = largest_beside(size_of_product(weights), weights);
    }
    const RemainderBits bits = remainder_bits(n, size);
    const auto prove = [&](const Contract& contract, double share, int attempts) {
      remainder(contract);
      prove_by(
          [&](const Vectors& v) {
            return remainder_sums(v, above(c_, n, v), share, share == 0 ? Vectors{} : size_of_product(v));
          },
          weights, attempts, proof);
    };
    const bool served = serves([&] { prove(bits.contract, bits.share, bits.enough ? attempts_by_exact : 1); });
    if (!served || (!bits.enough && !(proof.contraction < far_from_one)))
      prove(Contract::exact(), 0, attempts_by_exact);
    if (!(proof.contraction < 1)) proof.failure = too_ill_conditioned(proof.contraction);
    return proof;
  }

  Vectors right_hand_sides() const override {
    copy(y_, n, s_.B, s_.ldb, nrhs);
    return on_host(y_, n * nrhs, stream_);
  }
  Vectors residual(const Vectors& x) const override {
    to_device(x_, x, stream_);
    copy(y_, n, s_.B, s_.ldb, nrhs);
    multiply(-1, {s_.A, n, s_.lda}, {x_, nrhs, n}, 1, y_, Contract::exact());
    return on_host(y_, n * nrhs, stream_);
  }
  Vectors times(const Vectors& r) const override { return times_inverse(r, Contract::fp64()); }
  Vectors times_rounded_once(const Vectors& r) const override { return times_inverse(r, Contract::exact()); }
  Vectors times_above(const Vectors& r) const override { return above(r_, n, r); }

  // low <= A^-1 <= high by theorem 14, column by column; false, with neither written, where an end overflows.
  bool enclose_inverse(const Regularity& proof, double* low, double* high, std::int64_t ldx) {
    double *const weights = partial_, *const sums = weights + n, *const quotients = sums + n,
                  *const factors = quotients + n;
    to_device(weights, proof.weight, stream_);
    to_device(sums, proof.sums, stream_);
    check(cudaMemsetAsync(quotients, 0, static_cast<std::size_t>(n) * sizeof(double), stream_), "quotients");
    launch_elements("column_quotients", column_quotients, n, n, stream_, r_, weights,
                    reinterpret_cast<unsigned long long*>(quotients));
    const Vectors most = on_host(quotients, n, stream_);
    // |G||R| <= sums max(|R| / v) <= gamma v max(|R| / v), of each column.
    Vectors factor(most.size());
    for (std::size_t j = 0; j < most.size(); ++j)
      factor[j] = vernier::above(vernier::above(most[j] * proof.contraction) / sum_down(1, -proof.contraction));
    const auto largest = [](const Vectors& x) { return *std::max_element(x.begin(), x.end()); };
    const double size = largest(proof.sums);
    if (!std::isfinite(sum_up(vernier::above(size * largest(most)), vernier::above(size * largest(factor)))))
      return false;
    to_device(factors, factor, stream_);
    launch_elements("inverse_ends", inverse_ends, n, n, stream_, r_, InverseSpread{sums, quotients, factors}, low, high,
                    ldx);
    check(cudaStreamSynchronize(stream_), "verified_inverse");
    return true;
  }

 private:
  std::size_t carve(Arena arena) {
    const auto square = static_cast<std::size_t>(n * n), vectors = static_cast<std::size_t>(n * most_);
    factors_ = arena.take<double>(square), r_ = arena.take<double>(square), c_ = factors_;
    x_ = arena.take<double>(vectors), y_ = arena.take<double>(vectors);
    partial_ = arena.take<double>(static_cast<std::size_t>(n * magnitude_slices));
    spare_ = arena.take<double>(square);
    pivots_ = arena.take<std::int64_t>(static_cast<std::size_t>(n));
    return arena.used();
  }

  Options under(const Contract& contract) const {
    return {.contract = contract, .stream = options_.stream, .workspace_limit = options_.workspace_limit};
  }
  void copy(double* to, std::int64_t ld_to, const double* from, std::int64_t ld_from, std::int64_t columns) const {
    const auto bytes = [](std::int64_t count) { return static_cast<std::size_t>(count) * sizeof(double); };
    check(copy_lines(to, bytes(ld_to), from, bytes(ld_from), bytes(n), static_cast<std::size_t>(columns), stream_),
          "copy");
  }

  // LU of A in factors_, then R = (L U)^-1 P by rows, which makes R A nearer to I than columns would: U^-1 from each
  // block's diagonal on.
  std::int64_t invert() {
    copy(factors_, n, s_.A, s_.lda, n);
    if (const std::int64_t info = getrf<double>(n, n, factors_, n, pivots_, under(Contract::fp64())); info != 0)
      return info;
    set_identity(spare_);
    const std::int64_t width = std::max<std::int64_t>(256, (n + 7) / 8);
    for (std::int64_t j = 0; j < n; j += width)
      trsm<double>(Side::right, Uplo::upper, Op::none, Diag::non_unit, std::min(width, n - j), n - j, 1,
                   factors_ + j + j * n, n, spare_ + j + j * n, n, under(Contract::fp64()));
    trsm<double>(Side::right, Uplo::lower, Op::none, Diag::unit, n, n, 1, factors_, n, spare_, n,
                 under(Contract::fp64()));
    to_device(pivots_, pivoted_rows(on_host(pivots_, n, stream_)).from, stream_);
    launch_elements("scatter_columns", scatter_columns, n, n, stream_, spare_, pivots_, r_);
    check(cudaStreamSynchronize(stream_), "the inverse");
    return 0;
  }
  void set_identity(double* x) const { launch_elements("set_identity", set_identity_kernel, n, n, stream_, x); }

  void remainder(const Contract& contract) const {
    set_identity(c_);
    multiply(-1, {r_, n, n}, {s_.A, n, s_.lda}, 1, c_, contract);
  }

  struct Block {
    const double* data;
    std::int64_t count, ld;
  };
  // y = alpha M X + beta y
  void multiply(double alpha, const Block& m, const Block& x, double beta, double* y, const Contract& contract) const {
    gemm<double>(Op::none, Op::none, n, x.count, n, &alpha, m.data, m.ld, x.data, x.ld, &beta, y, n, under(contract));
  }
  Vectors times_inverse(const Vectors& r, const Contract& contract) const {
    to_device(x_, r, stream_);
    multiply(1, {r_, n, n}, {x_, nrhs, n}, 0, y_, contract);
    return on_host(y_, n * nrhs, stream_);
  }

  // At least |M| X of nonnegative columns.
  Vectors above(const double* m, std::int64_t ld, const Vectors& x) const {
    to_device(x_, x, stream_);
    const std::int64_t columns = static_cast<std::int64_t>(x.size()) / n;
    for (std::int64_t j = 0; j < columns; ++j) multiply_magnitudes(n, m, ld, x_ + j * n, partial_, y_ + j * n, stream_);
    return on_host(y_, n * columns, stream_);
  }
  Vectors size_of_product(const Vectors& v) const { return above(r_, n, above(s_.A, s_.lda, v)); }

  const DeviceSystem& s_;
  const Options& options_;
  const cudaStream_t stream_;
  const std::int64_t most_;
  double *factors_ = nullptr, *r_ = nullptr, *c_ = nullptr, *spare_ = nullptr, *x_ = nullptr, *y_ = nullptr,
         *partial_ = nullptr;
  std::int64_t* pivots_ = nullptr;
  DeviceWorkspace memory_;
};

void check_call(const char* routine, const DeviceSystem& s, const double* Xlow, const double* Xhigh, std::int64_t ldx,
                const Options& options) {
  check_system<double>(routine, {Op::none, s.n, s.nrhs, s.A, s.lda, s.B, s.ldb}, s.n > 0);
  check_pointer(routine, "Xlow", s.n > 0 && s.nrhs > 0, Xlow);
  check_pointer(routine, "Xhigh", s.n > 0 && s.nrhs > 0, Xhigh);
  check_leading(routine, "ldx", ldx, s.n);
  check_device<double>(routine, s.n);
  check_finite_matrix(routine, "A", s.A, s.n, s.n, s.lda, stream_of(options));
  check_finite_matrix(routine, "B", s.B, s.n, s.nrhs, s.ldb, stream_of(options));
}

}  // namespace

VerifiedReport verified_solve(std::int64_t n, std::int64_t nrhs, const double* A, std::int64_t lda, const double* B,
                              std::int64_t ldb, double* Xlow, double* Xhigh, std::int64_t ldx, const Options& options) {
  return prove_solution({n, nrhs, A, B, lda, ldb, Xlow, Xhigh, ldx}, options);
}

VerifiedReport prove_solution(const ProofCall& call, const Options& options) {
  const auto [n, nrhs, A, B, lda, ldb, Xlow, Xhigh, ldx, norm] = call;
  const Clock clock;
  const DeviceSystem system{n, nrhs, A, B, lda, ldb};
  check_call("verified_solve", system, Xlow, Xhigh, ldx, options);
  VerifiedReport report = verified_report("verified_solve", n, nrhs);
  const FloatingEnvironment environment;
  VerifiedOnDevice run(system, options);
  Regularity proof;
  if (n > 0) proof = run.prove(Proves::solutions);
  report.contraction = proof.contraction, report.reason = proof.failure;
  if (report.reason.empty()) {
    const Enclosure e = n > 0 && nrhs > 0 ? enclose(run, proof) : Enclosure{{}, {}, {}, true};
    report.verified = e.finite;
    if (norm != nullptr) *norm = norm_of_inverse(run, proof);
    if (!report.verified) report.reason = "the solution, or its error, overflows";
    if (report.verified && n > 0 && nrhs > 0) {
      Vectors low(e.x.size()), high(e.x.size());
      write_intervals(e, n, nrhs, low.data(), high.data(), n);
      copy_columns(low.data(), n, Xlow, ldx, n, nrhs, cudaMemcpyHostToDevice, stream_of(options));
      copy_columns(high.data(), n, Xhigh, ldx, n, nrhs, cudaMemcpyHostToDevice, stream_of(options));
    }
  }
  report.seconds = clock.seconds();
  return report;
}

VerifiedReport verified_inverse(std::int64_t n, const double* A, std::int64_t lda, double* low, double* high,
                                std::int64_t ldx, const Options& options) {
  const Clock clock;
  const DeviceSystem system{n, n, A, A, lda, lda};  // as many right-hand sides, of which none is read
  check_call("verified_inverse", system, low, high, ldx, options);
  VerifiedReport report = verified_report("verified_inverse", n, n);
  const FloatingEnvironment environment;
  if (n > 0) {
    const DeviceSystem alone{n, 0, A, A, lda, lda};
    VerifiedOnDevice run(alone, options);
    const Regularity proof = run.prove(Proves::inverse);
    report.contraction = proof.contraction, report.reason = proof.failure;
    if (report.reason.empty() && !run.enclose_inverse(proof, low, high, ldx))
      report.reason = "the inverse, or its error, overflows";
  }
  report.verified = report.reason.empty();
  report.seconds = clock.seconds();
  return report;
}

}  // namespace vernier::cuda
