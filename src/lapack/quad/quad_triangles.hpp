// Triangles in dd and binary128, wherever the matrices lie: diagonal blocks element by element on the host, all else by
// products there.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>

#include "base/environment.hpp"
#include "product/call.hpp"
#include "residue/binary128/bits.hpp"
#include "residue/quad/quad_update.hpp"

namespace vernier {

// What factorisations ask of elements of dd and binary128 beside their arithmetic.
inline bool positive(const dd& x) { return x.hi > 0; }
#if defined(__SIZEOF_FLOAT128__)
inline bool positive(binary128 x) { return x > 0; }
inline binary128 magnitude(binary128 x) { return x < 0 ? -x : x; }
inline binary128 binary128_power(int exponent) {  // a normal number
  return std::bit_cast<binary128>(static_cast<Uint128>(exponent + QuadBits::bias) << QuadBits::fraction_bits);
}
inline binary128 root(binary128 x) {  // x > 0; two steps of Newton's method from 53 bits
  const int half = QuadBits(std::bit_cast<Uint128>(x)).exponent() / 2;
  const binary128 near_one = x * binary128_power(-half) * binary128_power(-half);
  binary128 s = std::sqrt(static_cast<double>(near_one));
  for (int step = 0; step < 2; ++step) s = (s + near_one / s) / 2;
  return s * binary128_power(half);
}
#endif

// One triangle of op(A), as its solves read it.
template <class T>
struct QuadTriangle {
  const T* a;
  std::int64_t lda;
  bool lower, transposed, unit;

  const T* element(std::int64_t i, std::int64_t l) const { return transposed ? a + l + i * lda : a + i + l * lda; }
  Op op() const { return transposed ? Op::transpose : Op::none; }
};

// Solves with the diagonal block of t in B, of `size` rows.
template <class T>
void solve_diagonal(const QuadTriangle<T>& t, std::int64_t size, std::int64_t columns, T* b, std::int64_t ldb,
                    int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
  for (std::int64_t j = 0; j < columns; ++j) {
    const FloatingEnvironment environment;
    T* x = b + j * ldb;
    for (std::int64_t s = 0; s < size; ++s) {
      const std::int64_t i = t.lower ? s : size - 1 - s;
      T sum = x[i];
      for (std::int64_t l = t.lower ? 0 : i + 1; l < (t.lower ? i : size); ++l)
        sum = sum - normalised(*t.element(i, l)) * x[l];
      x[i] = t.unit ? sum : sum / normalised(*t.element(i, i));
    }
  }
}

// LU with partial pivoting of a panel whose first row and column is `first`; info as LAPACK has it, or 0.
template <class T>
std::int64_t factor_panel(std::int64_t rows, std::int64_t columns, T* a, std::int64_t lda, std::int64_t first,
                          std::int64_t* pivots) {
  std::int64_t info = 0;
  for (std::int64_t j = 0; j < columns; ++j) {
    std::int64_t pivot = j;
    for (std::int64_t i = j + 1; i < rows; ++i)
      if (magnitude(a[i + j * lda]) > magnitude(a[pivot + j * lda])) pivot = i;
    pivots[j] = first + pivot + 1;
    if (pivot != j)
      for (std::int64_t l = 0; l < columns; ++l) std::swap(a[j + l * lda], a[pivot + l * lda]);
    const T top = a[j + j * lda];
    if (top == T(0.0)) {
      if (info == 0) info = first + j + 1;
      continue;
    }
    for (std::int64_t i = j + 1; i < rows; ++i) a[i + j * lda] = a[i + j * lda] / top;
    for (std::int64_t l = j + 1; l < columns; ++l) {
      const T factor = a[j + l * lda];
      for (std::int64_t i = j + 1; i < rows; ++i) a[i + l * lda] = a[i + l * lda] - a[i + j * lda] * factor;
    }
  }
  return info;
}

// Of a lower triangle; info as LAPACK has it.
template <class T>
std::int64_t factor_diagonal(std::int64_t n, T* a, std::int64_t lda, std::int64_t first) {
  for (std::int64_t j = 0; j < n; ++j) {
    T pivot = a[j + j * lda];
    for (std::int64_t l = 0; l < j; ++l) pivot = pivot - a[j + l * lda] * a[j + l * lda];
    if (!positive(pivot)) return first + j + 1;
    a[j + j * lda] = root(pivot);
    for (std::int64_t i = j + 1; i < n; ++i) {
      T sum = a[i + j * lda];
      for (std::int64_t l = 0; l < j; ++l) sum = sum - a[i + l * lda] * a[j + l * lda];
      a[i + j * lda] = sum / a[j + j * lda];
    }
  }
  return 0;
}

inline constexpr std::int64_t quad_block = 48;  // columns of a panel
inline constexpr std::int64_t quad_syrk_block = 256;

// A matrix that a place holds.
template <class T>
struct Placed {
  std::int64_t rows, columns;
  T* x;
  std::int64_t ld;
};

// What the host does with one: looks at it, fills it, or both.
enum class Access { read, write, edit };

// Place has, of matrices in its memory: multiply(GemmCall), host(Placed, Access, f) that calls f(x, ld) with host
// memory, normalise, transpose, swap_rows, take(count) -> a Buffer, check(routine) of its options, and threads().
template <class Place>
class QuadTriangles {
 public:
  using T = typename Place::Element;
  using Call = GemmCall<T, double>;

  explicit QuadTriangles(const Place& place) : place_(place) {}

  void syrk(Uplo uplo, const Call& p) const {  // p: of op(A) op(A)^T
    if (p.n == 0) return;
    const bool lower = uplo == Uplo::lower;
    const auto rows = [&](std::int64_t i) { return p.opa == Op::none ? p.a + i : p.a + i * p.lda; };
    const std::int64_t most = std::min(p.n, quad_syrk_block);
    const auto diagonal = place_.take(most * most);
    for (std::int64_t j = 0; j < p.n; j += quad_syrk_block) {
      const std::int64_t count = std::min(quad_syrk_block, p.n - j), begin = lower ? j + count : 0,
                         end = lower ? p.n : j;
      Call block = p;
      block.a = block.b = rows(j), block.ldb = p.lda;
      block.m = block.n = count, block.beta = 0, block.c = diagonal.data(), block.ldc = count;
      place_.multiply(block);
      update_triangle(lower, p.beta, {count, count, diagonal.data(), count},
                      {count, count, p.c + j + j * p.ldc, p.ldc});
      block.a = rows(begin), block.m = end - begin;
      block.beta = p.beta, block.c = p.c + begin + j * p.ldc, block.ldc = p.ldc;
      place_.multiply(block);
    }
  }

  // op(A) X = alpha B, or X op(A) = alpha B, X in place of B.
  void trsm(Side side, const QuadTriangle<T>& triangle, double alpha, const Placed<T>& b) const {
    if (b.rows == 0 || b.columns == 0) return;
    if (side == Side::left) {
      scale(alpha, b);
      return solve_left(triangle, b);
    }
    // X op(A) = B is op(A)^T X^T = B^T
    const auto memory = place_.take(b.rows * b.columns);
    const Placed<T> turned{b.columns, b.rows, memory.data(), std::max<std::int64_t>(1, b.columns)};
    place_.transpose(b, turned, false);
    scale(alpha, turned);
    solve_left({triangle.a, triangle.lda, !triangle.lower, !triangle.transposed, triangle.unit}, turned);
    place_.transpose(turned, b, false);
  }

 protected:
  // C -= op(A) op(B), where there is something to multiply.
  void subtract(Call p) const {
    if (p.shape().empty()) return;
    p.alpha = -1, p.beta = 1;
    place_.multiply(p);
  }

  void solve_left(const QuadTriangle<T>& t, const Placed<T>& b) const {
    for (std::int64_t done = 0; done < b.rows; done += quad_block) {
      const std::int64_t count = std::min(quad_block, b.rows - done), begin = t.lower ? done : b.rows - done - count,
                         end = begin + count;
      const Placed<T> rows{count, b.columns, b.x + begin, b.ld};
      const Placed<T> square{count, count, const_cast<T*>(t.element(begin, begin)), t.lda};  // which is read
      place_.host(square, Access::read, [&](const T* a, std::int64_t lda) {
        place_.host(rows, Access::edit, [&](T* x, std::int64_t ld) {
          solve_diagonal({a, lda, t.lower, t.transposed, t.unit}, count, b.columns, x, ld, place_.threads());
        });
      });
      const std::int64_t first = t.lower ? end : 0;  // of the rows that are left
      subtract({.opa = t.op(),
                .m = t.lower ? b.rows - end : begin,
                .n = b.columns,
                .k = count,
                .a = t.element(first, begin),
                .lda = t.lda,
                .b = rows.x,
                .ldb = b.ld,
                .c = b.x + first,
                .ldc = b.ld});
    }
  }

  const Place& place_;

 private:
  // C = product + beta C on one triangle.
  void update_triangle(bool lower, double beta, const Placed<T>& product, const Placed<T>& target) const {
    place_.host(product, Access::read, [&](const T* t, std::int64_t ldt) {
      place_.host(target, Access::edit, [&](T* c, std::int64_t ldc) {
        for (std::int64_t l = 0; l < product.columns; ++l)
          for (std::int64_t i = lower ? l : 0; i < (lower ? product.rows : l + 1); ++i) {
            T& x = c[i + l * ldc];
            x = beta == 0 ? t[i + l * ldt] : t[i + l * ldt] + normalised(x) * beta;
          }
      });
    });
  }

  void scale(double alpha, const Placed<T>& b) const {
    if (alpha == 1) return place_.normalise(b, 0);
    place_.host(b, Access::edit, [&](T* x, std::int64_t ld) {
      for (std::int64_t j = 0; j < b.columns; ++j)
        for (std::int64_t i = 0; i < b.rows; ++i) {
          T& e = x[i + j * ld];
          e = alpha == 0 ? T(0.0) : normalised(e) * alpha;
        }
    });
  }
};

}  // namespace vernier
