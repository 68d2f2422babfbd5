#include "lapack/solve/factors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "base/instantiate.hpp"
#include "lapack/kernels.hpp"
#include "lapack/level3.hpp"
#include "lapack/lu/getrf.hpp"
#include "lapack/lu/stored_lu.hpp"
#include "number/complex.hpp"

namespace vernier {

// x becomes op(L)^-1 x or op(U)^-1 x; L has a diagonal of ones.
template <class S>
class TriangularVectors {
 public:
  TriangularVectors(std::int64_t n, const S* lu, std::int64_t ld, int threads)
      : n_(n), lu_(lu), ld_(ld), threads_(n > 1024 ? threads : 1) {}

  void lower(double* x) const {
    for (std::int64_t k = 0; k < n_; k += block) {
      const std::int64_t end = std::min(k + block, n_);
      for (std::int64_t j = k; j < end; ++j) kernel_.subtract(end - j - 1, 1, at(j + 1, j), ld_, x + j, x + j + 1);
      subtract_rows(end, n_, k, end, x);
    }
  }
  void upper(double* x) const {
    for (std::int64_t end = n_; end > 0;) {
      const std::int64_t k = (end - 1) / block * block;
      for (std::int64_t j = end - 1; j >= k; --j) {
        x[j] /= static_cast<double>(*at(j, j));
        kernel_.subtract(j - k, 1, at(k, j), ld_, x + j, x + k);
      }
      subtract_rows(0, k, k, end, x);
      end = k;
    }
  }
  void upper_transposed(double* x) const {
    for (std::int64_t k = 0; k < n_; k += block) {
      const std::int64_t end = std::min(k + block, n_);
      subtract_sums(0, k, k, end, x);
      for (std::int64_t j = k; j < end; ++j) {
        kernel_.subtract_transposed(j - k, 1, at(k, j), ld_, x + k, x + j);
        x[j] /= static_cast<double>(*at(j, j));
      }
    }
  }
  void lower_transposed(double* x) const {
    for (std::int64_t end = n_; end > 0;) {
      const std::int64_t k = (end - 1) / block * block;
      subtract_sums(end, n_, k, end, x);
      for (std::int64_t j = end - 1; j >= k; --j)
        kernel_.subtract_transposed(end - j - 1, 1, at(j + 1, j), ld_, x + j + 1, x + j);
      end = k;
    }
  }

 private:
  static constexpr std::int64_t block = 128;

  const S* at(std::int64_t i, std::int64_t j) const { return lu_ + i + j * ld_; }

  // x[first, last) -= LU(first : last, k : end) x[k, end)
  void subtract_rows(std::int64_t first, std::int64_t last, std::int64_t k, std::int64_t end, double* x) const {
    const std::int64_t share = (last - first + threads_ - 1) / threads_,
                       step = std::clamp<std::int64_t>(share, 512, 2048);
    const std::int64_t parts = (last - first + step - 1) / step;
#pragma omp parallel for num_threads(threads_) schedule(static) if (threads_ > 1 && parts > 1)
    for (std::int64_t p = 0; p < parts; ++p) {
      const std::int64_t i = first + p * step;
      kernel_.subtract(std::min(step, last - i), end - k, at(i, k), ld_, x + k, x + i);
    }
  }
  // x[k, end) -= LU(first : last, k : end)^T x[first, last)
  void subtract_sums(std::int64_t first, std::int64_t last, std::int64_t k, std::int64_t end, double* x) const {
    if (first == last) return;
    constexpr std::int64_t step = 16;
    const std::int64_t parts = (end - k + step - 1) / step;
#pragma omp parallel for num_threads(threads_) schedule(static) if (threads_ > 1 && last - first > 512)
    for (std::int64_t p = 0; p < parts; ++p) {
      const std::int64_t j = k + p * step;
      kernel_.subtract_transposed(last - first, std::min(step, end - j), at(first, j), ld_, x + first, x + j);
    }
  }

  std::int64_t n_;
  const S* lu_;
  std::int64_t ld_;
  int threads_;
  const VectorKernels<S>& kernel_ = vector_kernels<S>();
};

namespace {

constexpr int usual_spread = 4;  // bits between the largest entries of rows, or of columns, that need no scaling
constexpr std::size_t columns_for_products = 8;  // from so many right-hand sides on, level 3 wins

int spread(const std::vector<double>& largest) {
  constexpr int lanes = 8;  // that the compiler puts into vectors
  constexpr double infinite = std::numeric_limits<double>::infinity();
  double least_of[lanes];
  std::fill_n(least_of, lanes, infinite);
  const auto see = [&](int l, double x) {
    const double size = x == 0 ? infinite : x;
    least_of[l] = size < least_of[l] ? size : least_of[l];
  };
  std::size_t i = 0;
  for (; i + lanes <= largest.size(); i += lanes)
    for (int l = 0; l < lanes; ++l) see(l, largest[i + static_cast<std::size_t>(l)]);
  for (; i < largest.size(); ++i) see(0, largest[i]);
  const double most = largest_magnitude(static_cast<std::int64_t>(largest.size()), largest.data());
  const double least = *std::min_element(least_of, least_of + lanes);
  return most == 0 ? 0 : std::ilogb(most) - std::ilogb(least);
}

std::size_t area(std::int64_t n) { return checked_area<double>(n, n); }

// The scaled matrix, rounded to S.
template <class S, class T>
void convert(const System<T>& s, const Equilibration& e, S* out) {
  constexpr std::int64_t parts = is_complex<T> ? 2 : 1;
  const std::int64_t n = s.order();
  const bool as_it_is = is_trivial(e);
  const std::vector<double> factors = powers_of_two(e.rows);
#pragma omp parallel for num_threads(s.threads) schedule(static) if (n > 64)
  for (std::int64_t j = 0; j < n; ++j) {
    const auto* column = reinterpret_cast<const RealType<T>*>(s.a + j * s.lda);
    auto* scaled = reinterpret_cast<RealType<S>*>(out + j * n);
    if (as_it_is) {
      for (std::int64_t i = 0; i < parts * n; ++i) scaled[i] = static_cast<RealType<S>>(column[i]);
      continue;
    }
    const double factor = power_of_two(e.columns[static_cast<std::size_t>(j)]);
    for (std::int64_t i = 0; i < parts * n; ++i)
      scaled[i] = static_cast<RealType<S>>(static_cast<double>(column[i]) *
                                           factors[static_cast<std::size_t>(i / parts)] * factor);
  }
}

template <int parts>
void scale(const std::vector<int>& exponents, double* x) {
  for (std::size_t i = 0; i < parts * exponents.size(); ++i) x[i] *= power_of_two(exponents[i / parts]);
}

template <class S>
double magnitude(S x) {
  if constexpr (is_complex<S>)
    return static_cast<double>(std::abs(x));
  else
    return std::abs(static_cast<double>(x));
}

template <class S>
class StoredFactors : public LuFactors {
 public:
  StoredFactors(const LinearSystem& system, int threads, std::unique_ptr<Workspace> memory, Equilibration equilibration,
                double unit_roundoff, const Options& options)
      : n_(system.order()),
        threads_(threads),
        meter_(system.meter),
        unit_roundoff_(unit_roundoff),
        memory_(std::move(memory)),
        lu_(reinterpret_cast<S*>(memory_->data())),
        pivots_(static_cast<std::size_t>(n_)),
        scales_(std::move(equilibration)),
        options_(options) {
    equilibrated = scales_.wanted;
  }

  double unit_roundoff() const override { return unit_roundoff_; }
  double pivot_ratio() const override {
    double least = std::numeric_limits<double>::infinity(), most = 0;
    for (std::int64_t i = 0; i < n_; ++i) {
      const double pivot = magnitude(lu_[i + i * n_]);
      least = std::min(least, pivot);
      most = std::max(most, pivot);
    }
    return most == 0 ? 1 : least / most;
  }
  S* data() { return lu_; }
  std::int64_t* pivots() { return pivots_.data(); }
  Equilibration& scales() { return scales_; }

  void solve(Op op, const Columns& columns, double* x) const override {
    const bool plain = op == Op::none;
    for (const std::int64_t c : columns) scale<parts>(plain ? scales_.rows : scales_.columns, x + c * length());
    if constexpr (is_complex<S>) {
      solve_block(plain ? Op::none : Op::conjugate_transpose, columns, x);
    } else if constexpr (!std::is_floating_point_v<S>) {
      for (const std::int64_t c : columns) solve_vector(op, x + c * n_);
    } else {
      if (columns.size() < columns_for_products)
        for (const std::int64_t c : columns) solve_vector(op, x + c * n_);
      else
        solve_block(op, columns, x);
    }
    for (const std::int64_t c : columns) scale<parts>(plain ? scales_.columns : scales_.rows, x + c * length());
  }

 private:
  static constexpr int parts = is_complex<S> ? 2 : 1;

  std::int64_t length() const { return parts * n_; }  // of vectors

  void solve_vector(Op op, double* x) const {
    const TriangularVectors<S> triangles(n_, lu_, n_, threads_);
    if (op == Op::none) {
      swap_rows(1, 1, x, n_, 0, n_, pivots_.data(), SwapOrder::forward);
      triangles.lower(x);
      triangles.upper(x);
    } else {
      triangles.upper_transposed(x);
      triangles.lower_transposed(x);
      swap_rows(1, 1, x, n_, 0, n_, pivots_.data(), SwapOrder::backward);
    }
  }

  // In the arithmetic of the factors, every column moved near 1.
  void solve_block(Op op, const Columns& columns, double* x) const {
    const auto count = static_cast<std::int64_t>(columns.size());
    std::vector<S> block(static_cast<std::size_t>(n_ * count));
    auto* numbers = reinterpret_cast<RealType<S>*>(block.data());
    std::vector<int> exponents(columns.size());
#pragma omp parallel for num_threads(threads_) schedule(static) if (count * n_ > (1 << 16))
    for (std::int64_t q = 0; q < count; ++q) {
      const double* from = x + columns[static_cast<std::size_t>(q)] * length();
      const int exponent = normalising_exponent(largest_magnitude(length(), from));
      exponents[static_cast<std::size_t>(q)] = exponent;
      for (std::int64_t i = 0; i < length(); ++i)
        numbers[i + q * length()] = static_cast<RealType<S>>(from[i] * power_of_two(exponent));
    }
    solve_with_lu(Level3<S>(options_, meter_), op, {n_, lu_, n_, pivots_.data()}, count, block.data(), n_);
#pragma omp parallel for num_threads(threads_) schedule(static) if (count * n_ > (1 << 16))
    for (std::int64_t q = 0; q < count; ++q) {
      double* to = x + columns[static_cast<std::size_t>(q)] * length();
      const double factor = power_of_two(-exponents[static_cast<std::size_t>(q)]);
      for (std::int64_t i = 0; i < length(); ++i) to[i] = static_cast<double>(numbers[i + q * length()]) * factor;
    }
  }

  std::int64_t n_;
  int threads_;
  WorkMeter* meter_;
  double unit_roundoff_;
  std::unique_ptr<Workspace> memory_;
  S* lu_;
  std::vector<std::int64_t> pivots_;
  Equilibration scales_;
  Options options_;
};

template <class S, class T>
std::unique_ptr<LuFactors> factorise_in(System<T>& s, const Options& options) {
  const std::int64_t n = s.order();
  Equilibration scales = equilibrate(s, 0);
  const bool converted = std::is_same_v<S, float> && s.floats != nullptr && is_trivial(scales);
  if (!converted) s.floats.reset();
  auto memory = converted ? std::move(s.floats) : std::make_unique<Workspace>(area(n) * sizeof(S));
  auto factors = std::make_unique<StoredFactors<S>>(s, s.threads, std::move(memory), std::move(scales),
                                                    std::numeric_limits<RealType<S>>::epsilon() / 2, options);
  if (!converted) convert(s, factors->scales(), factors->data());
  factors->info = factor_lu(Level3<S>(options, s.meter), n, n, factors->data(), n, factors->pivots());
  return factors;
}

// With room for growth where the format is narrow: the largest entries at about 2^-headroom, then smaller.
template <class Format, class T>
std::unique_ptr<LuFactors> factorise_stored(const System<T>& s, int headroom, int last_headroom,
                                            const Options& options) {
  using Word = typename Format::Word;
  std::unique_ptr<StoredFactors<Word>> factors;
  for (; headroom <= last_headroom; headroom += half_headroom_step) {
    auto memory = std::make_unique<Workspace>(area(s.n) * sizeof(Word));
    factors = std::make_unique<StoredFactors<Word>>(s, s.threads, std::move(memory), equilibrate(s, headroom),
                                                    Format::unit_roundoff, options);
    const Equilibration& e = factors->scales();
    const auto column_block = [&](std::int64_t first, std::int64_t count, float* out) {
      for (std::int64_t j = 0; j < count; ++j) {
        const double factor = power_of_two(e.columns[static_cast<std::size_t>(first + j)]);
        for (std::int64_t i = 0; i < s.n; ++i)
          out[i + j * s.n] = static_cast<float>(static_cast<double>(s.a[i + (first + j) * s.lda]) *
                                                power_of_two(e.rows[static_cast<std::size_t>(i)]) * factor);
      }
    };
    const StoredLu result = factor_stored_lu<Format>(Level3<float>(options, s.meter), s.n, column_block,
                                                     factors->data(), factors->pivots());
    factors->info = result.info;
    factors->overflow = result.overflow;
    if (!factors->overflow) break;
  }
  return factors;
}

}  // namespace

int normalising_exponent(double x) {
  return x == 0 ? 0 : std::clamp(-std::ilogb(x) - 1, -exponent_limit, exponent_limit);
}

Equilibration equilibrate(const LinearSystem& s, int headroom) {
  const auto size = static_cast<std::size_t>(s.order());
  Equilibration e{std::vector<int>(size), std::vector<int>(size)};
  e.wanted = spread(s.row_largest) > usual_spread || spread(s.column_largest) > usual_spread;
  if (!e.wanted) {
    // Numbers of ordinary size stay as they are, unless the format is narrow.
    const int exponent = normalising_exponent(s.largest);
    const bool ordinary = headroom == 0 && std::abs(exponent) < 32;
    std::fill(e.rows.begin(), e.rows.end(), ordinary ? 0 : exponent - headroom);
    return e;
  }
  std::transform(s.row_largest.begin(), s.row_largest.end(), e.rows.begin(), normalising_exponent);
  const std::vector<double> largest = s.largest_of_scaled_columns(e.rows);
  std::transform(largest.begin(), largest.end(), e.columns.begin(),
                 [&](double x) { return normalising_exponent(x) - headroom; });
  return e;
}

template <class T>
std::unique_ptr<LuFactors> factorise(System<T>& system, Factors precision, const Options& options) {
  if constexpr (is_complex<T>)
    return precision == Factors::fp32 ? factorise_in<std::complex<float>>(system, options)
                                      : factorise_in<std::complex<double>>(system, options);
  else
    switch (precision) {
      case Factors::bf16:
        return factorise_stored<StoredBf16>(system, 0, 0, options);
      case Factors::fp16:
        return factorise_stored<StoredFp16>(system, half_headroom, half_headroom + half_headroom_step, options);
      case Factors::fp32:
        return factorise_in<float>(system, options);
      default:
        return factorise_in<double>(system, options);
    }
}

VERNIER_TYPE_INSTANCES(factorise)

}  // namespace vernier
