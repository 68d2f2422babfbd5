#include "support/exact.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace vernier::test {
namespace {

static_assert(GMP_NUMB_BITS == 64, "terms are laid out for limbs of 64 bits");

// x = +-significand * 2^(position - 1074), position >= 0.
struct Parts {
  mp_limb_t significand = 0;
  int position = 0;
  bool negative = false;
};

Parts parts_of(double x) {
  if (!std::isfinite(x)) throw std::invalid_argument("the exact product is of finite numbers");
  const std::uint64_t bits = bits_of(x);
  const auto biased = static_cast<int>((bits >> 52) & 0x7ff);
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
  Parts parts;
  parts.negative = (bits >> 63) != 0;
  parts.significand = biased == 0 ? fraction : fraction | (std::uint64_t{1} << 52);
  parts.position = biased == 0 ? 0 : biased - 1;
  return parts;
}

// A long accumulator: positions up to 2 * 2045, 106 bits a product, and room for 2^90 of them.
class Accumulator {
 public:
  void add(const Parts& a, const Parts& b) {
    if (a.significand == 0 || b.significand == 0) return;
    const int position = a.position + b.position;
    std::array<mp_limb_t, 3> term = {a.significand, 0, 0};
    term[1] = mpn_mul_1(term.data(), term.data(), 1, b.significand);
    if (const auto shift = static_cast<unsigned>(position % 64); shift != 0)
      term[2] = mpn_lshift(term.data(), term.data(), 2, shift);
    mp_limb_t* limbs = sums_[a.negative != b.negative ? 1 : 0].data() + position / 64;
    mpn_add(limbs, limbs, limb_count - position / 64, term.data(), 3);
  }

  mpz_class positive() const { return integer(sums_[0]); }
  mpz_class negative() const { return integer(sums_[1]); }

 private:
  static constexpr int limb_count = 68;
  using Limbs = std::array<mp_limb_t, limb_count>;

  static mpz_class integer(const Limbs& limbs) {
    mpz_class z;
    mpz_import(z.get_mpz_t(), limb_count, -1, sizeof(mp_limb_t), 0, 0, limbs.data());
    return z;
  }

  std::array<Limbs, 2> sums_ = {};
};

// Columns of x one behind the other.
template <class T>
std::vector<Parts> parts_by_column(const Matrix<T>& x) {
  std::vector<Parts> parts;
  parts.reserve(static_cast<std::size_t>(x.rows() * x.columns()));
  for (std::int64_t j = 0; j < x.columns(); ++j)
    for (std::int64_t i = 0; i < x.rows(); ++i) parts.push_back(parts_of(static_cast<double>(x(i, j))));
  return parts;
}

}  // namespace

mpz_class exact_value(double x) {
  const Parts parts = parts_of(x);
  mpz_class z;
  mpz_set_ui(z.get_mpz_t(), parts.significand);
  z <<= static_cast<unsigned long>(parts.position + 1074);
  return parts.negative ? mpz_class(-z) : z;
}

template <class T>
T rounded(const mpz_class& value, int unit, Rounding rounding) {
  using Limits = std::numeric_limits<T>;
  if (value == 0) return T{0};
  mpz_class magnitude = abs(value);
  const bool away = rounding == (sgn(value) < 0 ? Rounding::down : Rounding::up),
             nearest = rounding == Rounding::nearest;
  const int leading = static_cast<int>(mpz_sizeinbase(magnitude.get_mpz_t(), 2)) - 1 + unit;
  const int last = std::max(leading, Limits::min_exponent - 1) - (Limits::digits - 1);  // of the bit kept last
  if (last > unit) {
    const auto drop = static_cast<mp_bitcnt_t>(last - unit);
    mpz_class kept = magnitude >> drop;
    const mpz_class twice_rest = (magnitude - (kept << drop)) << 1;
    const int against_half = cmp(twice_rest, mpz_class(mpz_class(1) << drop));
    const bool up = against_half > 0 || (against_half == 0 && mpz_odd_p(kept.get_mpz_t()) != 0);
    if (nearest ? up : away && twice_rest != 0) ++kept;
    magnitude = kept;
    unit = last;
  }
  // At most 2^digits: the conversion is exact, and only the scaling can overflow, to infinity.
  T result = std::ldexp(static_cast<T>(magnitude.get_d()), unit);
  if (std::isinf(result) && !nearest && !away) result = Limits::max();
  return sgn(value) < 0 ? -result : result;
}

template <class T>
ExactProduct<T>::ExactProduct(const Matrix<T>& a, const Matrix<T>& b)
    : rows_(a.rows()), columns_(b.columns()), inner_(a.columns()) {
  if (b.rows() != inner_) throw std::invalid_argument("the inner sizes differ");
  const std::vector<Parts> by_row = parts_by_column(transposed(a)), by_column = parts_by_column(b);
  sums_.resize(static_cast<std::size_t>(rows_ * columns_));
  magnitudes_.resize(sums_.size());
  for (std::int64_t j = 0; j < columns_; ++j)
    for (std::int64_t i = 0; i < rows_; ++i) {
      const Parts* row = by_row.data() + i * inner_;
      const Parts* column = by_column.data() + j * inner_;
      Accumulator accumulator;
      for (std::int64_t l = 0; l < inner_; ++l) accumulator.add(row[l], column[l]);
      const mpz_class positive = accumulator.positive(), negative = accumulator.negative();
      sums_[index(i, j)] = positive - negative;
      magnitudes_[index(i, j)] = positive + negative;
    }
}

template <class T>
Matrix<T> ExactProduct<T>::rounded() const {
  return Matrix<T>::of(rows_, columns_, [&](auto i, auto j) { return test::rounded<T>(sum(i, j)); });
}

template <class T>
std::vector<mpz_class> squared_column_norms(const Matrix<T>& x) {
  const std::vector<Parts> parts = parts_by_column(x);
  std::vector<mpz_class> norms;
  for (std::int64_t j = 0; j < x.columns(); ++j) {
    Accumulator accumulator;
    for (std::int64_t i = 0; i < x.rows(); ++i) {
      const Parts& p = parts[static_cast<std::size_t>(i + j * x.rows())];
      accumulator.add(p, p);
    }
    norms.push_back(accumulator.positive());
  }
  return norms;
}

template <class T>
std::vector<mpz_class> squared_row_norms(const Matrix<T>& x) {
  return squared_column_norms(transposed(x));
}

template <class T>
double largest_error(const ExactProduct<T>& exact, const Matrix<T>& result) {
  double largest = 0;
  for (std::int64_t j = 0; j < exact.columns(); ++j)
    for (std::int64_t i = 0; i < exact.rows(); ++i) {
      const mpz_class error = abs(exact_value(static_cast<double>(result(i, j))) - exact.sum(i, j));
      if (error == 0) continue;
      if (exact.magnitude(i, j) == 0) return std::numeric_limits<double>::infinity();
      long error_exponent = 0, magnitude_exponent = 0;
      const double e = mpz_get_d_2exp(&error_exponent, error.get_mpz_t());
      const double s = mpz_get_d_2exp(&magnitude_exponent, exact.magnitude(i, j).get_mpz_t());
      largest = std::max(largest, std::ldexp(e / s, static_cast<int>(error_exponent - magnitude_exponent)));
    }
  return largest;
}

template float rounded<float>(const mpz_class&, int, Rounding);
template double rounded<double>(const mpz_class&, int, Rounding);
template class ExactProduct<float>;
template class ExactProduct<double>;
template std::vector<mpz_class> squared_row_norms<float>(const Matrix<float>&);
template std::vector<mpz_class> squared_row_norms<double>(const Matrix<double>&);
template std::vector<mpz_class> squared_column_norms<float>(const Matrix<float>&);
template std::vector<mpz_class> squared_column_norms<double>(const Matrix<double>&);
template double largest_error<float>(const ExactProduct<float>&, const Matrix<float>&);
template double largest_error<double>(const ExactProduct<double>&, const Matrix<double>&);

}  // namespace vernier::test
