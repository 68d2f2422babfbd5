// The products, triangular solves and symmetric updates that factorisations are made of, dealt out to threads.
#pragma once

#include <cstdint>

#include "product/call.hpp"
#include "product/progress.hpp"
#include "vernier/lapack.hpp"

namespace vernier {

// How much of a solver's work is done, for the caller who wants to know.
// Operations that were counted against those that are expected; what comes on top of these is told as nearly done.
class WorkMeter {
 public:
  WorkMeter(const std::function<void(double)>& tell, double expected) : progress_(tell), expected_(expected) {}

  void add(double operations) {
    done_ += operations;
    progress_.at(done_ / expected_);
  }
  void finish() const { progress_.finish(); }

 private:
  Progress progress_;
  double expected_, done_ = 0;
};

// A triangle as it is applied: op(A) X = B from the left, X op(A) = B from the right.
struct Triangle {
  Side side;
  Uplo uplo;
  Op op;
  Diag diag;
};

// Products that are worth it go through gemm, so that options.contract and options.engine decide; smaller ones go to
// the BLAS underneath, in pieces of one thread each. Its own threads are never used: two pools of threads that take
// turns would wait for each other.
template <class T>
class Level3 {
 public:
  explicit Level3(const Options& options, WorkMeter* meter = nullptr);  // throws as gemm does
  // By one thread beside others: no product through gemm, which would prepare a factor for each of them anew.
  static Level3 of_one_thread(Options options) {
    options.threads = 1;
    Level3 level3(options);
    level3.alone_ = true;
    return level3;
  }

  int threads() const { return threads_; }
  // Can a product fail for want of memory, or for its data? Else the BLAS underneath serves it then.
  bool may_fail() const;
  bool reproducible() const { return options_.contract.reproducible; }

  // C -= op(A) op(B): alpha is -1 and beta 1.
  void subtract_product(const GemmCall<T>& call) const;

  // The same by the BLAS underneath, whatever the contract says.
  void subtract_natively(const GemmCall<T>& call) const;

  // B, m x n, becomes X.
  void solve(Triangle triangle, std::int64_t m, std::int64_t n, const T* a, std::int64_t lda, T* b,
             std::int64_t ldb) const;

  // One triangle of C, n x n: lower C -= A A^H with A n x k, upper C -= A^H A with A k x n.
  void subtract_square(Uplo uplo, std::int64_t n, std::int64_t k, const T* a, std::int64_t lda, T* c,
                       std::int64_t ldc) const;

 private:
  bool through_gemm(const GemmCall<T>& call) const;
  // Of floats that are too small for residues: false where bf16 parts are not faster, or do not hold the data.
  bool subtract_by_parts(const GemmCall<T>& call) const;
  void subtract_somehow(const GemmCall<T>& call) const;

  Options options_;
  int threads_;
  bool alone_ = false;
  WorkMeter* meter_;  // of products; null: nobody asks
};

// ---- triangles of diagonal blocks, in one thread

// op(A) X = B or X op(A) = B; B, m x n, becomes X. The BLAS underneath does it, unless `own`: then plain loops in one
// fixed order, with the same bits everywhere.
template <class T>
void solve_small_triangle(Triangle triangle, std::int64_t m, std::int64_t n, const T* a, std::int64_t lda, T* b,
                          std::int64_t ldb, bool own);

// B := L^-1 B, L with ones on its diagonal: what LU asks for most. Halves down to the order of a panel, products by the
// BLAS underneath, whose trsm is slow for small triangles: of order 64 with 2048 right-hand sides it did 21 GFLOP/s on
// two cores.
template <class T>
void solve_small_unit_lower(std::int64_t m, std::int64_t n, const T* a, std::int64_t lda, T* b, std::int64_t ldb);

// One triangle of C: lower C -= A A^H, upper C -= A^H A, C n x n.
template <class T>
void subtract_small_square(Uplo uplo, std::int64_t n, std::int64_t k, const T* a, std::int64_t lda, T* c,
                           std::int64_t ldc, bool own);

}  // namespace vernier
