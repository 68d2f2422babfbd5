// Vectors of all kinds, and operands made of them.
#pragma once

#include <array>
#include <limits>

#include "number/ieee754.hpp"
#include "product/operand.hpp"
#include "support/matrix.hpp"
#include "support/random.hpp"

namespace vernier::test {

enum class Kind {
  scattered,
  flat,
  wide,
  whole_range,
  subnormal,
  mostly_zero,
  zero,
  powers_of_two,
  largest,
  equal,
  peak,
};
inline constexpr std::array all_kinds = {Kind::scattered, Kind::flat,        Kind::wide, Kind::whole_range,
                                         Kind::subnormal, Kind::mostly_zero, Kind::zero, Kind::powers_of_two,
                                         Kind::largest,   Kind::equal,       Kind::peak};

// Element l of a vector.
template <class T>
T sample(Kind kind, std::int64_t l, Random& r) {
  using F = Ieee754<T>;
  constexpr int least = F::min_exponent - F::precision + 1;
  switch (kind) {
    case Kind::scattered:
      return static_cast<T>(r.scattered(1));
    case Kind::flat:
      return static_cast<T>(r.sign() * (1 + r.uniform()));
    case Kind::wide:
      return static_cast<T>(r.exp_rand(-40, 40));
    case Kind::whole_range:
      return static_cast<T>(r.exp_rand(least, F::max_exponent - 1));
    case Kind::subnormal:
      return static_cast<T>(r.exp_rand(least, F::min_exponent + 1));
    case Kind::mostly_zero:
      return r.uniform() < 0.7 ? T{0} : static_cast<T>(r.exp_rand(-5, 5));
    case Kind::zero:
      return r.sign() < 0 ? -T{0} : T{0};
    case Kind::powers_of_two:
      return static_cast<T>(std::ldexp(r.sign(), static_cast<int>(r.integer(-20, 20))));
    case Kind::largest:
      return static_cast<T>(r.sign()) * std::numeric_limits<T>::max();
    case Kind::equal:
      return static_cast<T>(r.sign() * 0.7);
    case Kind::peak:
      return static_cast<T>(std::ldexp(r.scattered(0.5), l == 0 ? 50 : 0));
  }
  return T{0};
}

// k x vectors; every vector is of a kind of its own.
template <class T>
Matrix<T> vectors_of_all_kinds(std::int64_t k, std::int64_t vectors, Random& r) {
  Matrix<T> x(k, vectors);
  for (std::int64_t v = 0; v < vectors; ++v) {
    const Kind kind = all_kinds[static_cast<std::size_t>(r.integer(0, all_kinds.size() - 1))];
    for (std::int64_t l = 0; l < k; ++l) x(l, v) = sample<T>(kind, l, r);
  }
  return x;
}

// NaN and infinities into a third of the vectors.
template <class T>
void sprinkle_nonfinite(Matrix<T>& x, Random& r) {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  const std::array<T, 4> values = {infinity, -infinity, std::numeric_limits<T>::quiet_NaN(),
                                   std::numeric_limits<T>::signaling_NaN()};
  for (std::int64_t v = 0; v < x.columns(); ++v) {
    if (r.integer(0, 2) != 0) continue;
    const std::int64_t count = r.integer(1, x.rows());
    for (std::int64_t i = 0; i < count; ++i)
      x(r.integer(0, x.rows() - 1), v) = values[static_cast<std::size_t>(r.integer(0, 3))];
  }
}

// The columns of x as the vectors of an operand, in either layout, with NaN between them.
template <class T>
struct StoredOperand {
  Matrix<T> storage;
  Operand<T> operand;

  StoredOperand(const Matrix<T>& x, bool k_contiguous, std::int64_t pad)
      : storage(padded(k_contiguous ? x : transposed(x), pad)),
        operand{storage.data(), x.columns(), x.rows(), storage.ld(), k_contiguous} {}
  StoredOperand(const StoredOperand&) = delete;
  StoredOperand& operator=(const StoredOperand&) = delete;
};

}  // namespace vernier::test
