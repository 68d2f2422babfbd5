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

// One entry at a time, with room for a row and a column.
template <class T>
class ExactEntry {
 public:
  explicit ExactEntry(const Product<T>& product)
      : product_(product), k_(product.alpha != 0 ? product.k : 0), a_(k_), b_(k_), sum_(512), shift_(128) {}

  typename ExactSample<T>::Entry compute(std::int64_t i, std::int64_t j) {
    const double alpha = product_.alpha, beta = product_.beta;
    const double c0 = beta != 0 ? static_cast<double>(product_.c0(i, j)) : 0;
    double plain = 0;  // sends NaN and infinities where a conventional product does
    long double absolute = 0;
    bool finite = std::isfinite(c0);
    for (std::int64_t l = 0; l < k_; ++l) {
      const double x = product_.a(i, l), y = product_.b(l, j);
      a_.set(l, x);
      b_.set(l, y);
      plain += x * y;
      absolute += std::abs(static_cast<long double>(x) * y);
      finite = finite && std::isfinite(x) && std::isfinite(y);
    }
    absolute = std::abs(alpha) * absolute + std::abs(static_cast<long double>(beta) * c0);
    if (!finite) return {i, j, alpha * plain + beta * c0, 0, 0, true};
    const double high = sum(alpha, beta, c0);
    const double low = std::isfinite(high) ? remainder(high) : 0;
    return {i, j, high, low, static_cast<double>(absolute), false};
  }

 private:
  double sum(double alpha, double beta, double c0) {
    mpfr_dot(sum_.get(), a_.pointers(), b_.pointers(), static_cast<unsigned long>(k_), MPFR_RNDN);
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
  std::int64_t k_;
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
  entries_.resize(static_cast<std::size_t>(every ? product.m * product.n : count));
  for (std::size_t e = 0; e < entries_.size(); ++e) {
    const auto index = static_cast<std::int64_t>(e);
    entries_[e].i =
        every ? index % product.m : static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(product.m));
    entries_[e].j =
        every ? index / product.m : static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(product.n));
  }
#pragma omp parallel
  {
    ExactEntry<T> exact(product);
#pragma omp for schedule(dynamic, 8)
    for (auto& entry : entries_) entry = exact.compute(entry.i, entry.j);
    mpfr_free_cache();
  }
}

// Negative: not to be compared.
template <class T>
double ExactSample<T>::error(const Entry& entry, double value) const {
  if (entry.special) {
    const bool same =
        std::isnan(entry.high) ? std::isnan(value) : value == static_cast<double>(static_cast<T>(entry.high));
    return same ? -1 : infinity;
  }
  // Sums that may overflow, and those where the spacing of subnormal numbers decides in place of u, have no such error.
  constexpr double least = std::numeric_limits<T>::min() / std::numeric_limits<T>::epsilon();
  if (!std::isfinite(static_cast<T>(entry.magnitude)) || (entry.magnitude < least && entry.magnitude != 0)) return -1;
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
    const double e = error(entry, c(entry.i, entry.j));
    if (e < 0) continue;
    ++result.compared;
    sum += e;
    result.max = std::max(result.max, e);
  }
  if (result.compared > 0) result.mean = sum / static_cast<double>(result.compared);
  return result;
}

template class ExactSample<float>;
template class ExactSample<double>;

}  // namespace vernier::cli
