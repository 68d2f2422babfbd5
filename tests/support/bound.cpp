#include "support/bound.hpp"

#include <cmath>
#include <limits>

#include "support/compare.hpp"

namespace vernier::test {
namespace {

// Every term of the bound is a multiple of 2^-extra units.
constexpr unsigned extra = 192;

mpz_class power_of_two(unsigned long exponent) { return mpz_class(1) << exponent; }

// c * 2^extra of a componentwise contract.
template <class T>
mpz_class coefficient(const Contract& contract, std::int64_t k) {
  const mpz_class inner = static_cast<long>(k);
  switch (contract.kind) {
    case Contract::Kind::fp64:
      return (inner + 1) * power_of_two(extra - 53);
    case Contract::Kind::fp32:
      return (inner + 1) * power_of_two(extra - 24);
    case Contract::Kind::bits:
      return inner * power_of_two(extra - static_cast<unsigned>(contract.bits_asked)) +
             power_of_two(extra - std::numeric_limits<T>::digits);
    case Contract::Kind::normwise:
    case Contract::Kind::exact:  // is compared bit by bit
      break;
  }
  return 0;
}

// (sqrt(k) 2^-bits + u64) |A_i| |B_j| * 2^extra, rounded down by less than one in 2^-extra units.
mpz_class normwise_bound(int bits, std::int64_t k, const mpz_class& row, const mpz_class& column) {
  // sqrt(x) * 2^(extra - n) = sqrt(x * 4^(extra - n))
  const auto root = [](const mpz_class& x, int n) {
    return mpz_class(sqrt(mpz_class(x << (2 * (extra - static_cast<unsigned>(n))))));
  };
  return root(row * column * static_cast<long>(k), bits) + root(row * column, 53);
}

// 2^extra times the smallest number that rounds to infinity.
template <class T>
mpz_class overflow_threshold() {
  using Limits = std::numeric_limits<T>;
  const mpz_class half_ulp = mpz_class(1)
                             << static_cast<unsigned long>(Limits::max_exponent - Limits::digits - 1 - exact_unit);
  return (exact_value(static_cast<double>(Limits::max())) + half_ulp) << extra;
}

template <class T>
bool kept(T value, const mpz_class& sum, const mpz_class& bound) {
  if (std::isnan(value)) return false;
  if (std::isinf(value)) return ((value < 0 ? mpz_class(-sum) : sum) << extra) + bound >= overflow_threshold<T>();
  const mpz_class exact = exact_value(static_cast<double>(value));
  mpz_class allowed = bound;
  if (sizeof(T) == 4) allowed += abs(exact) << (extra - 24);
  if (std::abs(value) <= std::numeric_limits<T>::min())
    allowed += exact_value(static_cast<double>(std::numeric_limits<T>::denorm_min())) << (extra - 1);
  return (abs(exact - sum) << extra) <= allowed;
}

}  // namespace

template <class T>
std::string broken_bound(const Contract& contract, const Matrix<T>& a, const Matrix<T>& b, const ExactProduct<T>& exact,
                         const Matrix<T>& result) {
  const bool normwise = contract.kind == Contract::Kind::normwise;
  const mpz_class c = coefficient<T>(contract, exact.inner());
  const auto row_norms = squared_row_norms(a), column_norms = squared_column_norms(b);
  std::int64_t broken = 0;
  std::string first;
  for (std::int64_t j = 0; j < exact.columns(); ++j)
    for (std::int64_t i = 0; i < exact.rows(); ++i) {
      const mpz_class bound =
          normwise ? normwise_bound(contract.bits_asked, exact.inner(), row_norms[static_cast<std::size_t>(i)],
                                    column_norms[static_cast<std::size_t>(j)])
                   : mpz_class(c * exact.magnitude(i, j));
      if (kept(result(i, j), exact.sum(i, j), bound) || broken++ > 0) continue;
      first =
          joined("(", i, ", ", j, "): got ", described(result(i, j)), ", exact product ",
                 described(rounded<T>(exact.sum(i, j))), ", |A||B| ", described(rounded<double>(exact.magnitude(i, j))),
                 ", bound ", described(rounded<double>(bound, exact_unit - static_cast<int>(extra))));
    }
  if (broken == 0) return "";
  return joined(first, "; ", broken, " of ", exact.rows() * exact.columns(), " entries outside the bound");
}

template std::string broken_bound<float>(const Contract&, const Matrix<float>&, const Matrix<float>&,
                                         const ExactProduct<float>&, const Matrix<float>&);
template std::string broken_bound<double>(const Contract&, const Matrix<double>&, const Matrix<double>&,
                                          const ExactProduct<double>&, const Matrix<double>&);

}  // namespace vernier::test
