// A = A1 + A2 and x = x1 + x2, where A1 and x1 are multiples of one power of two for a row and a column, and so short
// that sums of block_k products are exact in fp64 (Ozaki et al. 2012). A1 x1 is added to r without loss, block by
// block; A1 x2 + A2 x is 2^-22 of it, and may have the errors of the BLAS underneath.
#include "lapack/solve/system.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "base/environment.hpp"
#include "base/instantiate.hpp"
#include "lapack/level3.hpp"
#include "number/complex.hpp"

namespace vernier {
namespace {

constexpr int short_bits = 22;  // of A1 and x1: 2 * 22 + log2(block_k) <= 53
constexpr std::int64_t block_k = 512, block_columns = 512;

// The exponent of the unit of a short part: |x| <= largest becomes at most 2^short_bits units.
int unit_of(double largest) { return (largest == 0 ? 0 : std::ilogb(largest) + 1) - short_bits; }

// (x + c) - c is x rounded to a multiple of the unit.
double rounding_constant(double largest) { return std::ldexp(1.5, unit_of(largest) + 52); }

// Numbers of a block, as the BLAS takes them: double, or complex numbers of it.
template <class T>
using Wide = std::conditional_t<is_complex<T>, std::complex<double>, double>;

// For columns of op(A) from `first` on, A1 and A2 as A is stored: n x count for Op::none, count x n else.
template <class T>
struct SplitMatrix {
  std::vector<double> head, tail, constants;

  explicit SplitMatrix(const System<T>& s) {
    for (const double x : s.op == Op::none ? s.row_largest : s.column_largest)
      constants.push_back(rounding_constant(x));
  }

  void take(const System<T>& s, std::int64_t first, std::int64_t count) {
    constexpr std::int64_t parts = is_complex<T> ? 2 : 1;
    const std::int64_t n = s.order();
    const bool plain = s.op == Op::none;
    const std::int64_t lines = plain ? count : n, length = plain ? n : count;
    for (auto* x : {&head, &tail}) x->resize(static_cast<std::size_t>(parts * n * count));
#pragma omp parallel for num_threads(s.threads) schedule(static)
    for (std::int64_t j = 0; j < lines; ++j) {
      const FloatingEnvironment environment;
      const auto* from =
          reinterpret_cast<const RealType<T>*>(plain ? s.a + (first + j) * s.lda : s.a + first + j * s.lda);
      const std::int64_t to = j * length * parts;
      for (std::int64_t i = 0; i < length * parts; ++i) {
        const auto value = static_cast<double>(from[i]);
        const double constant = constants[static_cast<std::size_t>(plain ? i / parts : j)];
        const double short_part = (value + constant) - constant;
        head[static_cast<std::size_t>(to + i)] = short_part;
        tail[static_cast<std::size_t>(to + i)] = value - short_part;
      }
    }
  }
};

template <class T>
class BlockResiduals {
 public:
  static constexpr std::int64_t parts = is_complex<T> ? 2 : 1;

  explicit BlockResiduals(const System<T>& s)
      : s_(s), n_(s.order()), level3_({.contract = Contract::fp64(), .threads = s.threads}, s.meter), a_(s) {}

  // r and x of `columns`, whose entries are numbers of ordinary size.
  void subtract(const Columns& columns, const double* x, const double* b, double* r) {
    const auto count = static_cast<std::int64_t>(columns.size()), length = s_.n;
    for (auto* v : {&rest_, &low_}) v->assign(static_cast<std::size_t>(length * count), 0.0);
    for (const std::int64_t c : columns) std::copy_n(b + c * length, length, r + c * length);
    const std::int64_t step = block_k / parts;
    for (std::int64_t k = 0; k < n_; k += step) {
      const std::int64_t depth = std::min(step, n_ - k);
      a_.take(s_, k, depth);
      split_vectors(columns, x, k, depth);
      exact_.assign(rest_.size(), 0.0);
      level3_.subtract_natively({s_.op, Op::none, n_, count, depth, -1, wide(a_.head), ld_of(depth), wide(x_head_),
                                 depth, 1, wide(exact_), n_});
      add_exact(columns, r);
      for (const auto& [a, v] : {std::pair{&a_.head, &x_tail_}, std::pair{&a_.tail, &x_whole_}})
        level3_.subtract_product(
            {s_.op, Op::none, n_, count, depth, -1, wide(*a), ld_of(depth), wide(*v), depth, 1, wide(rest_), n_});
    }
    for (std::int64_t q = 0; q < count; ++q)
      for (std::int64_t i = 0; i < length; ++i)
        r[columns[static_cast<std::size_t>(q)] * length + i] +=
            low_[static_cast<std::size_t>(q * length + i)] + rest_[static_cast<std::size_t>(q * length + i)];
  }

 private:
  void split_vectors(const Columns& columns, const double* x, std::int64_t first, std::int64_t depth) {
    const std::int64_t length = depth * parts;
    for (auto* v : {&x_whole_, &x_head_, &x_tail_}) v->resize(columns.size() * static_cast<std::size_t>(length));
#pragma omp parallel for num_threads(s_.threads) schedule(static)
    for (std::size_t q = 0; q < columns.size(); ++q) {
      const FloatingEnvironment environment;
      const double* column = x + columns[q] * s_.n;
      const double constant = rounding_constant(largest_magnitude(s_.n, column));
      for (std::int64_t i = 0; i < length; ++i) {
        const std::size_t to = q * static_cast<std::size_t>(length) + static_cast<std::size_t>(i);
        x_whole_[to] = column[first * parts + i];
        x_head_[to] = (x_whole_[to] + constant) - constant;
        x_tail_[to] = x_whole_[to] - x_head_[to];
      }
    }
  }

  // r + low += exact (TwoSum)
  void add_exact(const Columns& columns, double* r) {
#pragma omp parallel for num_threads(s_.threads) schedule(static)
    for (std::size_t q = 0; q < columns.size(); ++q) {
      const FloatingEnvironment environment;
      double* high = r + columns[q] * s_.n;
      const std::size_t from = q * static_cast<std::size_t>(s_.n);
      for (std::int64_t i = 0; i < s_.n; ++i) {
        const std::size_t at = from + static_cast<std::size_t>(i);
        const double sum = high[i] + exact_[at], part = sum - high[i];
        low_[at] += (high[i] - (sum - part)) + (exact_[at] - part);
        high[i] = sum;
      }
    }
  }

  using W = Wide<T>;

  static W* wide(std::vector<double>& x) { return reinterpret_cast<W*>(x.data()); }
  std::int64_t ld_of(std::int64_t depth) const { return s_.op == Op::none ? n_ : depth; }

  const System<T>& s_;
  std::int64_t n_;
  Level3<W> level3_;
  SplitMatrix<T> a_;
  std::vector<double> x_whole_, x_head_, x_tail_, exact_, rest_, low_;
};

bool is_ordinary(double largest) {
  return largest == 0 || (std::isfinite(largest) && std::abs(std::ilogb(largest)) <= most_system_exponent);
}

}  // namespace

template <class T>
bool block_residuals(const System<T>& s, const Columns& columns, const double* x, const double* b, double* r) {
  const auto serves = [&](std::int64_t c) {
    return is_ordinary(largest_magnitude(s.n, x + c * s.n)) && is_ordinary(largest_magnitude(s.n, b + c * s.n));
  };
  if (!std::all_of(columns.begin(), columns.end(), serves)) return false;
  BlockResiduals<T> work(s);
  for (std::size_t c = 0; c < columns.size(); c += block_columns) {
    const std::size_t count = std::min<std::size_t>(block_columns, columns.size() - c);
    const auto begin = columns.begin() + static_cast<std::ptrdiff_t>(c);
    work.subtract(Columns(begin, begin + static_cast<std::ptrdiff_t>(count)), x, b, r);
  }
  return true;
}

// (2 k + 2) u (|A1||x2| + |A2||x|) for k terms of each, |x2| <= 2^-short_bits max |x|, and additions of `low`. Of
// complex numbers k counts the real products, and moduli are at most sqrt(2) parts.
template <class T>
double block_residual_error(const System<T>& s) {
  constexpr std::int64_t parts = is_complex<T> ? 2 : 1;
  SplitMatrix<T> a(s);
  const std::int64_t n = s.order(), step = block_k / parts;
  std::vector<double> sums(static_cast<std::size_t>(n));
  for (std::int64_t k = 0; k < n; k += step) {
    const std::int64_t depth = std::min(step, n - k);
    a.take(s, k, depth);
    const bool plain = s.op == Op::none;
    const std::int64_t lines = plain ? depth : n, length = plain ? n : depth;
    for (std::int64_t j = 0; j < lines; ++j)
      for (std::int64_t i = 0; i < length * parts; ++i)
        sums[static_cast<std::size_t>(plain ? i / parts : j)] +=
            std::abs(a.tail[static_cast<std::size_t>(j * length * parts + i)]);
  }
  const double tails = n == 0 ? 0 : *std::max_element(sums.begin(), sums.end());
  const double terms = 2.0 * static_cast<double>(s.n) + 2 + static_cast<double>(n) / static_cast<double>(step);
  return s.norm == 0 ? 0 : parts * 1.01 * terms * 0x1p-53 * (std::ldexp(1.0, -short_bits) + tails / s.norm);
}

VERNIER_TYPE_INSTANCES(block_residuals, block_residual_error)

}  // namespace vernier
