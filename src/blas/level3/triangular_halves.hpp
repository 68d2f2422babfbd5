// trmm and trsm by halves of A, for CPU and GPU: the problem, and the order of its products and diagonal blocks.
#pragma once

#include "blas/level3/triangle.hpp"

namespace vernier {

template <class T, class Settings>
struct Triangular : TriangularProduct<T> {
  const Settings& options;
};

// X, m x n and packed, becomes op(A) X, op(A)^-1 X, or these from the right; products read the untouched B of the call.
//   diagonal(begin, size, x): the block of A on the diagonal, and its rows or columns of X
//   multiply(call): C += sign A B
template <class T, class Settings, class Diagonal, class Multiply>
class TriangularHalves {
 public:
  TriangularHalves(const Triangular<T, Settings>& problem, const TriangleCut& cut, T* x, const Diagonal& diagonal,
                   const Multiply& multiply)
      : p_(problem), cut_(cut), x_(x), diagonal_(diagonal), multiply_(multiply) {}

  void run() const { run(0, p_.order()); }

 private:
  void run(std::int64_t begin, std::int64_t end) const {
    if (end - begin <= cut_.whole)
      return diagonal_(begin, end - begin, p_.side == Side::left ? x_ + begin : x_ + begin * p_.m);
    const std::int64_t middle = cut_.middle(begin, end);
    // op(A) couples the two halves of X one way: lower from the left and upper from the right take the first half to
    // the second.
    const bool forwards = p_.lower() == (p_.side == Side::left);
    if (!p_.solve) {
      run(begin, middle);
      run(middle, end);
      forwards ? couple(begin, middle, middle, end) : couple(middle, end, begin, middle);
    } else if (forwards) {
      run(begin, middle);
      couple(begin, middle, middle, end);
      run(middle, end);
    } else {
      run(middle, end);
      couple(middle, end, begin, middle);
      run(begin, middle);
    }
  }

  // X(to) += or -= the product of op(A)'s block and B(from) or X(from).
  void couple(std::int64_t from, std::int64_t from_end, std::int64_t to, std::int64_t to_end) const {
    const T sign = p_.solve ? T{-1} : T{1};
    const std::int64_t k = from_end - from, size = to_end - to;
    const T* source = p_.solve ? x_ : p_.b;
    const std::int64_t ld = p_.solve ? p_.m : p_.ldb;
    if (p_.side == Side::left)
      multiply_(
          {p_.opa, Op::none, size, p_.n, k, sign, p_.block(to, from), p_.lda, source + from, ld, T{1}, x_ + to, p_.m});
    else
      multiply_({Op::none, p_.opa, p_.m, size, k, sign, source + from * ld, ld, p_.block(from, to), p_.lda, T{1},
                 x_ + to * p_.m, p_.m});
  }

  const Triangular<T, Settings>& p_;
  const TriangleCut& cut_;
  T* x_;
  const Diagonal& diagonal_;
  const Multiply& multiply_;
};

// The plan where A is a single block on the diagonal, from that of an empty product.
inline Plan one_block(Plan plan, std::int64_t order) {
  plan.k = order;
  plan.reason = "A is one block on the diagonal: no product is needed";
  return plan;
}

}  // namespace vernier
