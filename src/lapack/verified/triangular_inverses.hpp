// X near L^-1 and Y near U^-1 of factors L U of P A: R = Y X P, and what it proves without a product of matrices.
#pragma once

#include "base/workspace.hpp"
#include "lapack/verified/regularity_proof.hpp"
#include "vernier/lapack.hpp"

namespace vernier {

// n x n numbers on pages that are kept between calls; nothing is known of them at first.
class SquareMemory {
 public:
  explicit SquareMemory(std::int64_t n)
      : memory_(size_product({static_cast<std::size_t>(n * n + 1), sizeof(double)})) {}
  double* data() const { return reinterpret_cast<double*>(memory_.data()); }

 private:
  Workspace memory_;
};

// A unit lower triangle and an upper one in one square, as LU leaves them; vectors are n x columns.
class Triangles {
 public:
  using Vectors = std::vector<double>;

  Triangles(std::int64_t n, const double* square, const Options& options) : n_(n), m_(square), options_(options) {}

  // Upper (lower x); at least |lower| x and |upper| x, of columns that are not negative.
  Vectors near(std::int64_t columns, const Vectors& x) const;
  Vectors above(Uplo uplo, std::int64_t columns, const Vectors& x) const;
  // At least |upper| times this is the error of near(), of at least |lower||x|.
  double error(double size) const;

 private:
  Vectors product(Uplo uplo, std::int64_t columns, const Vectors& x, bool magnitudes) const;

  std::int64_t n_;
  const double* m_;
  const Options& options_;
};

// L^-1 or U^-1 by rows, X L = I or Y U = I, into that triangle of `inverses`.
void invert_triangle(Uplo uplo, std::int64_t n, const double* factors, double* inverses, const Options& options);

// How large entries of I - R A are, R = X P by rows from Y U = I and X L = Y (theorem 14). X takes the place of Y.
class RemainderRange {
 public:
  // columns: at least |A_j|_2, and little more.
  RemainderRange(std::int64_t n, const double* factors, const double* y, std::vector<double> columns,
                 const Options& options);

  // At least |I - R A|_ij / (|R_i|_2 |A_j|_2), from near |R_i|_2; infinity where nothing is known.
  double share(const double* x, const std::vector<double>& rows) const;
  const std::vector<double>& columns() const { return columns_; }

 private:
  std::int64_t n_;
  const Options& options_;
  std::vector<double> columns_, lower_, upper_;  // |I - R A|_ij <= (|X| lower + upper)_i |A_j|_2
};

// Of factors by factor_lu() and inverses of their triangles: what theorem 14 needs of |I - R A| v.
class FactorProof {
 public:
  FactorProof(std::int64_t n, const double* factors, const double* inverses, const Options& options);

  // A contraction less than what Y and X prove, from Y and solutions with L whose signs let them grow: what tells,
  // before X is made, whether it is worth it. Weights that prove much are kept.
  double estimate();
  static constexpr double worth_it = 0.12;  // X proves four to five times what the estimate says
  void prove(int attempts, Regularity& result);

 private:
  using Vectors = Triangles::Vectors;

  // The bound of |I - R A| v, by a function that bounds |X| y.
  template <class TimesX>
  Vectors times(const Vectors& v, const TimesX& times_x);
  Vectors grown_by_lower(Vectors y) const;  // at most |L^-1| y

  std::int64_t n_;
  const double* factors_;
  Triangles lu_, inverses_;
  double share_, largest_ = 0;  // of U's entries
  Vectors weights_;             // that make up for the sizes of columns
  Vectors known_, w_, y_;       // the last v, and what does not depend on X
};

}  // namespace vernier
