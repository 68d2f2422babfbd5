#include "exact_sample.hpp"

#include <mpfr.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace vernier::cli {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

class Real {
 public:
  explicit Real(mpfr_prec_t bits) { mpfr_init2(value_, bits); }
  ~Real() { mpfr_clear(value_); }
  Real(const Real&) = delete;
  Real& operator=(const Real&) = delete;
  mpfr_ptr get() { return value_; }

 private:
  mpfr_t value_;
};

// A row or a column as exact MPFR numbers.
class Reals {
 public:
  explicit Reals(std::int64_t count) : values_(static_cast<std::size_t>(count)) {
    pointers_.reserve(values_.size());
    for (auto& value : values_) {
      mpfr_init2(&value, std::numeric_limits<double>::digits);
      pointers_.push_back(&value);
    }
  }
  ~Reals() {
    for (auto& value : values_) mpfr_clear(&value);
  }
  Reals(const Reals&) = delete;
  Reals& operator=(const Reals&) = delete;

  void set(std::int64_t l, double value) { mpfr_set_d(&values_[l], value, MPFR_RNDN); }
  const mpfr_ptr* pointers() const { return pointers_.data(); }

 private:
  std::vector<__mpfr_struct> values_;
  std::vector<mpfr_ptr> pointers_;
};

// The real products whose sum is one part of x y: each(factor, factor), Parts<T>::count times.
template <class R, class Each>
void real_products(R x, R y, int, const Each& each) {
  each(x, y);
}
template <class R, class Each>
void real_products(std::complex<R> x, std::complex<R> y, int part, const Each& each) {
  each(x.real(), part == 0 ? y.real() : y.imag());
  each(part == 0 ? -x.imag() : x.imag(), part == 0 ? y.imag() : y.real());
}

template <class R>
R part_of(R x, int) {
  return x;
}
template <class R>
R part_of(std::complex<R> x, int part) {
  return part == 0 ? x.real() : x.imag();
}

// One part of an entry at a time, with room for a row and a column.
template <class T>
class ExactEntry {
 public:
  explicit ExactEntry(const Product<T>& product)
      : product_(product),
        k_(product.alpha != 0 ? product.k : 0),
        terms_(k_ * Parts<T>::count),
        a_(terms_),
        b_(terms_),
        sum_(512),
        shift_(128) {}

  typename ExactSample<T>::Entry compute(std::int64_t i, std::int64_t j, int part) {
    const double alpha = product_.alpha, beta = product_.beta;
    const double c0 = beta != 0 ? static_cast<double>(part_of(product_.c0(i, j), part)) : 0;
    double plain = 0;  // sends NaN and infinities where a conventional product does
    long double absolute = 0;
    bool finite = std::isfinite(c0);
    std::int64_t term = 0;
    const auto add = [&](double x, double y) {
      a_.set(term, x);
      b_.set(term, y);
      ++term;
      plain += x * y;
      absolute += std::abs(static_cast<long double>(x) * y);
      finite = finite && std::isfinite(x) && std::isfinite(y);
    };
    for (std::int64_t l = 0; l < k_; ++l) real_products(product_.a(i, l), product_.b(l, j), part, add);
    absolute = std::abs(alpha) * absolute + std::abs(static_cast<long double>(beta) * c0);
    if (!finite) return {i, j, part, alpha * plain + beta * c0, 0, 0, true};
    const double high = sum(alpha, beta, c0);
    const double low = std::isfinite(high) ? remainder(high) : 0;
    return {i, j, part, high, low, static_cast<double>(absolute), false};
  }

 private:
  double sum(double alpha, double beta, double c0) {
    mpfr_dot(sum_.get(), a_.pointers(), b_.pointers(), static_cast<unsigned long>(terms_), MPFR_RNDN);
    mpfr_mul_d(sum_.get(), sum_.get(), alpha, MPFR_RNDN);
    mpfr_set_d(shift_.get(), beta, MPFR_RNDN);
    mpfr_mul_d(shift_.get(), shift_.get(), c0, MPFR_RNDN);
    mpfr_add(sum_.get(), sum_.get(), shift_.get(), MPFR_RNDN);
    return mpfr_get_d(sum_.get(), MPFR_RNDN);
  }

  double remainder(double high) {
    mpfr_sub_d(sum_.get(), sum_.get(), high, MPFR_RNDN);
    return mpfr_get_d(sum_.get(), MPFR_RNDN);
  }

  const Product<T>& product_;
  std::int64_t k_, terms_;
  Reals a_, b_;
  Real sum_, shift_;  // far more bits than the errors of interest reach
};

}  // namespace

template <class T>
ExactSample<T>::ExactSample(const Product<T>& product, std::int64_t count, std::uint64_t seed) {
  const double all = static_cast<double>(product.m) * static_cast<double>(product.n);
  if (all == 0) return;
  const bool every = all <= static_cast<double>(count);
  std::mt19937_64 random(seed);
  const std::int64_t places = every ? product.m * product.n : count;
  entries_.reserve(static_cast<std::size_t>(places * Parts<T>::count));
  const auto below = [&](std::int64_t size) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(size));
  };
  for (std::int64_t place = 0; place < places; ++place) {
    const std::int64_t i = every ? place % product.m : below(product.m);
    const std::int64_t j = every ? place / product.m : below(product.n);
    for (int part = 0; part < Parts<T>::count; ++part) entries_.push_back({i, j, part, 0, 0, 0, false});
  }
#pragma omp parallel
  {
    ExactEntry<T> exact(product);
#pragma omp for schedule(dynamic, 8)
    for (auto& entry : entries_) entry = exact.compute(entry.i, entry.j, entry.part);
    mpfr_free_cache();
  }
}

// Negative: not to be compared.
template <class T>
double ExactSample<T>::error(const Entry& entry, double value) const {
  using Real = typename Parts<T>::Real;
  if (entry.special) {
    const bool same =
        std::isnan(entry.high) ? std::isnan(value) : value == static_cast<double>(static_cast<Real>(entry.high));
    return same ? -1 : infinity;
  }
  // Sums that may overflow, and those where the spacing of subnormal numbers decides in place of u, have no such error.
  constexpr double least = std::numeric_limits<Real>::min() / std::numeric_limits<Real>::epsilon();
  if (!std::isfinite(static_cast<Real>(entry.magnitude)) || (entry.magnitude < least && entry.magnitude != 0))
    return -1;
  if (!std::isfinite(value)) return infinity;
  if (entry.magnitude == 0) return value == 0 ? 0 : infinity;
  return std::abs((value - entry.high) - entry.low) / entry.magnitude;
}

template <class T>
SampledError ExactSample<T>::errors(View<T> c) const {
  SampledError result;
  double sum = 0;
  for (const Entry& entry : entries_) {
    ++result.samples;
    const double e = error(entry, part_of(c(entry.i, entry.j), entry.part));
    if (e < 0) {
      if (entry.special) ++result.special;
      continue;
    }
    ++result.compared;
    sum += e;
    result.max = std::max(result.max, e);
  }
  if (result.compared > 0) result.mean = sum / static_cast<double>(result.compared);
  return result;
}

template class ExactSample<float>;
template class ExactSample<double>;
template class ExactSample<std::complex<float>>;
template class ExactSample<std::complex<double>>;

}  // namespace vernier::cli
