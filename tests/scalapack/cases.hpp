// Random products: routine, shape, place and data.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "blacs.hpp"
#include "support/random.hpp"

namespace vernier::test {

template <class T>
inline constexpr bool complex_type = !std::is_floating_point_v<T>;
template <class T>
using Real = decltype(std::real(T{}));

enum Routine { gemm_routine, rank_k, symmetric, triangular };
enum Kind { ordinary, integers, wide, zeros, specials, kinds };

struct Case {
  Routine routine;
  Kind kind;
  bool conjugated;  // herk, hemm
  char side, uplo, opa, opb, diag;
  int m, n, k;
  int offsets[3][2];  // of A, B and C: rows and columns before the sub-matrix
  Blocks blocks[3];
};

template <class T>
T element(Kind kind, int i, int j, Random& r) {
  const auto real = [&]() -> Real<T> {
    const double x = r.scattered(0.5);
    switch (kind) {
      case integers:
        return static_cast<Real<T>>(r.integer(-5, 5));
      case wide:
        return static_cast<Real<T>>(i == 1 || j == 2 ? std::ldexp(x, static_cast<int>(r.integer(-30, 30))) : x);
      case zeros:
        return static_cast<Real<T>>(i % 3 == 0 || j % 4 == 1 ? 0 : x);
      case specials:
        if (r.integer(0, 60) == 0)
          return r.integer(0, 1) == 0 ? std::numeric_limits<Real<T>>::quiet_NaN()
                                      : static_cast<Real<T>>(r.sign()) * std::numeric_limits<Real<T>>::infinity();
        return static_cast<Real<T>>(x);
      default:
        return static_cast<Real<T>>(x);
    }
  };
  if constexpr (complex_type<T>) {
    const Real<T> x = real();
    return T(x, real());
  } else {
    return real();
  }
}

template <class T>
Whole<T> random_whole(int rows, int columns, Kind kind, Random& r) {
  Whole<T> x(rows, columns);
  for (int j = 0; j < columns; ++j)
    for (int i = 0; i < rows; ++i) x.at(i, j) = element<T>(kind, i, j, r);
  return x;
}

template <class T>
T factor(Random& r, bool real) {
  constexpr double values[] = {0, 1, -1, 2, 0.3, -1.7e5, 1};
  const auto one = [&] { return static_cast<Real<T>>(values[r.integer(0, 6)]); };
  if constexpr (complex_type<T>) {
    const Real<T> x = one();
    return T(x, real ? Real<T>{0} : one());
  } else {
    return one();
  }
}

inline int dimension(Random& r, int largest) {
  return static_cast<int>(r.integer(0, 3) == 0 ? r.integer(1, std::min(largest, 9)) : r.integer(1, largest));
}

// Blocks from 1 to 128, most of them smaller than the matrix.
inline int block(Random& r) {
  constexpr int usual[] = {1, 2, 3, 5, 7, 8, 16, 17, 32, 64, 100, 128};
  return usual[r.integer(0, 11)];
}

inline Case random_case(Random& r, int largest, bool is_complex) {
  Case c;
  c.routine = static_cast<Routine>(std::max<std::int64_t>(0, r.integer(-3, 3)));
  c.kind = static_cast<Kind>(r.integer(0, c.routine == gemm_routine ? kinds - 1 : kinds - 2));
  c.conjugated = is_complex && r.integer(0, 1) == 0;
  c.side = "LR"[r.integer(0, 1)];
  c.uplo = "UL"[r.integer(0, 1)];
  c.diag = "UN"[r.integer(0, 1)];
  c.opa = "NTC"[r.integer(0, 2)];
  c.opb = "NTC"[r.integer(0, 2)];
  if (c.routine == rank_k && c.opa != 'N') c.opa = c.conjugated ? 'C' : 'T';
  c.m = dimension(r, largest);
  c.n = dimension(r, largest);
  c.k = dimension(r, largest);
  for (auto& o : c.offsets)
    for (int& x : o) x = static_cast<int>(r.integer(0, 1) * r.integer(0, 19));
  for (Blocks& b : c.blocks) {
    b = {block(r), block(r), static_cast<int>(r.integer(0, 5)), static_cast<int>(r.integer(0, 5))};
    if (r.integer(0, 3) == 0) b.first_mb = block(r), b.first_nb = block(r);
  }
  if (r.integer(0, 2) == 0) {  // dealt out alike, as most programs have them
    c.opa = c.routine == gemm_routine ? 'N' : c.opa;
    c.opb = 'N';
    for (int which : {0, 1}) {
      c.blocks[which] = c.blocks[2];
      std::copy_n(c.offsets[2], 2, c.offsets[which]);
    }
  }
  return c;
}

}  // namespace vernier::test
