#include "lapack/solve/system.hpp"

#include <omp.h>

#include <algorithm>
#include <limits>

#include "base/environment.hpp"
#include "base/instantiate.hpp"
#include "base/status.hpp"
#include "lapack/kernels.hpp"
#include "number/complex.hpp"

namespace vernier {
namespace {

// Rows of A are read in as long pieces of a column as the first-level cache holds the sums of.
constexpr std::int64_t fewest_rows = 256, most_rows = 2048, columns_at_a_time = 64;

// "a NaN" or "an infinity" with its place; the sums have told that there is one, or that they overflowed.
template <class T>
void refuse_nonfinite(std::int64_t n, const T* a, std::int64_t lda) {
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i)
      require(std::isfinite(a[i + j * lda]), "solve: A({}, {}) is {}: expected a finite number", i + 1, j + 1,
              std::isnan(a[i + j * lda]) ? "a NaN" : "an infinity");
}

struct Sums {
  std::vector<double> row_largest, row_sum, column_largest, column_sum;
};

template <class T>
Sums sums_of(std::int64_t n, const T* a, std::int64_t lda, int threads, float* floats) {
  const auto size = static_cast<std::size_t>(n);
  Sums all{std::vector<double>(size), std::vector<double>(size), std::vector<double>(size), std::vector<double>(size)};
  // Of each thread, joined in one order; taken here, since no exception may leave a parallel region.
  std::vector<double> row_largest(size * static_cast<std::size_t>(threads)), row_sum(row_largest.size());
#pragma omp parallel num_threads(threads) if (n > 64)
  {
    const FloatingEnvironment environment;
    const std::size_t own = size * static_cast<std::size_t>(omp_get_thread_num());
#pragma omp for schedule(static)
    for (std::int64_t j = 0; j < n; ++j) {
      const T* column = a + j * lda;
      kernels().SumKernels<T>::sums(
          n, 1, column, lda,
          {row_largest.data() + own, row_sum.data() + own, &all.column_largest[static_cast<std::size_t>(j)],
           &all.column_sum[static_cast<std::size_t>(j)]});
      if (floats == nullptr) continue;
      for (std::int64_t i = 0; i < n; ++i) floats[i + j * n] = static_cast<float>(column[i]);
    }
  }
  for (std::size_t i = 0; i < row_sum.size(); ++i) {
    all.row_largest[i % size] = std::max(all.row_largest[i % size], row_largest[i]);
    all.row_sum[i % size] += row_sum[i];
  }
  return all;
}

double maximum(const std::vector<double>& x) { return x.empty() ? 0 : *std::max_element(x.begin(), x.end()); }

template <class T>
void take_figures(System<T>& s) {
  Sums sums =
      sums_of(s.n, s.a, s.lda, s.threads, s.floats == nullptr ? nullptr : reinterpret_cast<float*>(s.floats->data()));
  const double total = maximum(s.op == Op::none ? sums.row_sum : sums.column_sum);
  s.norm = total;  // a rounded sum: backward_error allows for it
  s.row_largest = std::move(sums.row_largest), s.column_largest = std::move(sums.column_largest);
  s.largest = maximum(s.row_largest);
  const auto finite = [](double x) { return std::isfinite(x); };
  if (!std::all_of(sums.row_sum.begin(), sums.row_sum.end(), finite)) refuse_nonfinite(s.n, s.a, s.lda);
}

template <class T>
void real_residuals(const System<T>& s, const Columns& columns, const double* x, const double* b, double* r) {
  const std::int64_t n = s.n, lda = s.lda;
  const int threads = s.threads;
  const T* a = s.a;
  const bool plain = s.op == Op::none;
  const std::int64_t rows = std::clamp((n + threads - 1) / threads, fewest_rows, most_rows);
  const std::int64_t step = plain ? rows : columns_at_a_time, parts = (n + step - 1) / step;
  const VectorKernels<T>& kernel = vector_kernels<T>();
  const std::size_t lows = columns.size() * static_cast<std::size_t>(step);
  std::vector<double> all_lows(lows * static_cast<std::size_t>(threads));
#pragma omp parallel num_threads(threads) if (n > 64)
  {
    const FloatingEnvironment environment;
    double* low = all_lows.data() + lows * static_cast<std::size_t>(omp_get_thread_num());
#pragma omp for schedule(dynamic)
    for (std::int64_t p = 0; p < parts; ++p) {
      const std::int64_t first = p * step, count = std::min(step, n - first);
      std::fill_n(low, lows, 0.0);
      for (const std::int64_t c : columns) std::copy_n(b + c * n + first, count, r + c * n + first);
      const std::int64_t along = plain ? residual_columns : n;  // of A, while the next right-hand side takes its turn
      for (std::int64_t k = 0; k < n; k += along) {
        double* rest = low;
        for (const std::int64_t c : columns) {
          if (plain) {
            double* high = r + c * n + first;
            const std::int64_t width = std::min(along, n - k);
            kernel.exact(count, width, a + first + k * lda, lda, x + c * n + k, high, rest);
            if (s.sizes != nullptr)
              kernel.magnitudes(count, width, a + first + k * lda, lda, x + c * n + k, s.sizes + c * n + first);
            for (std::int64_t i = 0; i < count; ++i) {  // so that rest stays small (TwoSum)
              const double sum = high[i] + rest[i], part = sum - high[i];
              rest[i] = (high[i] - (sum - part)) + (rest[i] - part);
              high[i] = sum;
            }
          } else {
            kernel.exact_transposed(n, count, a + first * lda, lda, x + c * n, r + c * n + first, rest);
          }
          rest += step;
        }
      }
      const double* rest = low;
      for (const std::int64_t c : columns) {
        for (std::int64_t i = 0; i < count; ++i) r[c * n + first + i] += rest[i];
        rest += step;
      }
    }
  }
}

// A as the numbers that it is in memory, column j.
template <class T>
const RealType<T>* numbers_of(const System<T>& s, std::int64_t j) {
  return reinterpret_cast<const RealType<T>*>(s.a + j * s.lda);
}

template <class T>
void take_scaled_copy(System<T>& s, int exponent) {
  const std::int64_t order = s.order();
  s.copy.resize(checked_area<T>(order, order));
#pragma omp parallel for num_threads(s.threads) schedule(static)
  for (std::int64_t j = 0; j < order; ++j)
    for (std::int64_t i = 0; i < s.n; ++i)
      reinterpret_cast<RealType<T>*>(s.copy.data())[i + j * s.n] = std::ldexp(numbers_of(s, j)[i], -exponent);
  s.exponent = exponent;
  s.a = s.copy.data();
  s.lda = order;
}

}  // namespace

template <class T>
System<T> measure_system(Op op, std::int64_t n, const T* a, std::int64_t lda, int threads, bool with_floats) {
  System<T> s;
  s.op = op;
  if (is_complex<T>) s.parts = 2;
  s.n = s.parts * n;
  s.a = a;
  s.lda = lda;
  s.threads = threads;
  if (with_floats && !is_complex<T>) s.floats = std::make_unique<Workspace>(checked_area<double>(n, n) * sizeof(float));
  if constexpr (is_complex<T>)
    s.largest = largest_finite_part(s);
  else
    take_figures(s);
  const int exponent = s.largest == 0 ? 0 : std::ilogb(s.largest);
  const bool ordinary = exponent >= least_system_exponent && exponent <= most_system_exponent;
  if (!ordinary) take_scaled_copy(s, exponent);
  if (is_complex<T> || !ordinary) take_figures(s);
  return s;
}

template <class T>
void System<T>::residuals(const Columns& columns, const double* x, const double* b, double* r) const {
  if constexpr (is_complex<T>)
    complex_residuals(*this, columns, x, b, r);
  else
    real_residuals(*this, columns, x, b, r);
}

template <class T>
void System<T>::normwise_residuals(const Columns& columns, const double* x, const double* b, double* r) const {
  if (measurement == 0 || !block_residuals(*this, columns, x, b, r)) residuals(columns, x, b, r);
}

template <class T>
void System<T>::add_magnitudes(const double* x, double* y) const {
  if constexpr (is_complex<T>) {
    add_complex_magnitudes(*this, x, y);
  } else {
    const VectorKernels<T>& kernel = vector_kernels<T>();
    (op == Op::none ? kernel.magnitudes : kernel.magnitudes_transposed)(n, n, a, lda, x, y);
  }
}

template <class T>
std::vector<double> System<T>::largest_of_scaled_columns(const std::vector<int>& exponents) const {
  const std::vector<double> factors = powers_of_two(exponents);
  std::vector<double> all(factors.size());
#pragma omp parallel for num_threads(threads) schedule(static) if (n > 64)
  for (std::size_t j = 0; j < all.size(); ++j) {
    const auto* column = numbers_of(*this, static_cast<std::int64_t>(j));
    double most = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
      most = std::max(most, std::abs(static_cast<double>(column[i])) * factors[i / static_cast<std::size_t>(parts)]);
    all[j] = most;
  }
  return all;
}

std::vector<double> powers_of_two(const std::vector<int>& exponents) {
  std::vector<double> powers(exponents.size());
  for (std::size_t i = 0; i < powers.size(); ++i) powers[i] = power_of_two(exponents[i]);
  return powers;
}

double largest_magnitude(std::int64_t n, const double* x) {
  constexpr int lanes = 8;                      // that the compiler puts into vectors
  double most[lanes] = {}, poison[lanes] = {};  // a NaN where an entry is not finite
  std::int64_t i = 0;
  const auto see = [&](int l, double value) {
    most[l] = value > most[l] ? value : most[l];
    poison[l] += value * 0;
  };
  for (; i + lanes <= n; i += lanes)
    for (int l = 0; l < lanes; ++l) see(l, std::abs(x[i + l]));
  for (; i < n; ++i) see(0, std::abs(x[i]));
  const bool finite = std::none_of(poison, poison + lanes, [](double p) { return std::isnan(p); });
  if (!finite && std::any_of(x, x + n, [](double value) { return std::isnan(value); }))
    return std::numeric_limits<double>::quiet_NaN();
  return *std::max_element(most, most + lanes);
}

double backward_error(const LinearSystem& s, const double* x, const double* b, const double* r) {
  const double residual = largest_entry(s, r), largest_x = largest_entry(s, x);
  constexpr double most = std::numeric_limits<double>::max();  // a smaller divisor bounds the quotient, too
  const double size = std::min(s.norm * largest_x + largest_entry(s, b), most);
  if (residual == 0 && size == 0) return 0;
  // Entries of the residual, the norm and the quotient are right to a few units, the residual but for residual_share().
  const auto n = static_cast<double>(s.n);
  const double error = residual / size * (1 + (n + 8) * 0x1p-52) + residual_share(s.n) + s.measurement;
  return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
}

double largest_entry(const LinearSystem& s, const double* x) {
  if (s.parts == 1) return largest_magnitude(s.n, x);
  double most = 0;
  for (std::int64_t i = 0; i < s.n; i += 2) {
    const double modulus = std::hypot(x[i], x[i + 1]);
    if (std::isnan(x[i]) || std::isnan(x[i + 1])) return std::numeric_limits<double>::quiet_NaN();
    most = std::max(most, modulus);
  }
  return most;
}

void take_moduli(const LinearSystem& s, double* x) {
  for (std::int64_t i = 0; i < s.n; i += s.parts) {
    const double modulus = s.parts == 1 ? std::abs(x[i]) : std::hypot(x[i], x[i + 1]);
    std::fill_n(x + i, s.parts, modulus);
  }
}

#define VERNIER_INSTANTIATE(T) template class System<T>;
VERNIER_EACH_TYPE(VERNIER_INSTANTIATE)
VERNIER_TYPE_INSTANCES(measure_system)

}  // namespace vernier
