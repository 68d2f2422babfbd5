#include "triangle.hpp"

#include <algorithm>

namespace vernier::interpose {
namespace {

// The order that is solved underneath, at least. Where bits are to be fixed: one block of the matrix, so that a process
// has all of it and no grid changes the order of its sums.
constexpr int least_free = 256;

// Rows first .. first + order - 1 (from 0) of the triangle.
struct Part {
  int first, order;
};

class Solve {
 public:
  Solve(const SolveCall& call, int block, bool fixed, ParallelGemm multiply, ParallelSolve solve)
      : c_(call), block_(block), fixed_(fixed), multiply_(multiply), solve_(solve) {}

  // Is this part one for the solve underneath?
  bool is_leaf(Part p) const {
    if (fixed_) return begin_of(p) / block_ == (begin_of(p) + p.order - 1) / block_;
    return p.order <= (least_free + block_ - 1) / block_ * block_;
  }

  // Is the first update, the largest product, below the size of those that concern?
  bool is_small(Part p) const {
    const double half = half_of(p), rest = p.order - half, other = c_.side == 'L' ? c_.n : c_.m;
    return half * rest * other < settings().min_operations;
  }

  // X of a part of the triangle, in place of alpha B.
  void run(Part p, const void* alpha) const {
    if (is_leaf(p)) return underneath(p, alpha);
    const Part upper{p.first, half_of(p)}, lower{p.first + upper.order, p.order - upper.order};
    const bool is_lower = (c_.uplo == 'L') == (c_.op == 'N');  // op(A)
    const bool upper_first = is_lower == (c_.side == 'L');
    const Part &first = upper_first ? upper : lower, &second = upper_first ? lower : upper;
    run(first, alpha);
    update(first, second, alpha);
    run(second, one_.bytes);
  }

 private:
  int begin_of(const Part& p) const { return (c_.side == 'L' ? *c_.a.i : *c_.a.j) - 1 + p.first; }  // in the matrix

  // So that the second half begins with a block of the matrix, if there is more than one.
  int half_of(const Part& p) const {
    const int begin = begin_of(p);
    const int up = (begin + p.order / 2 + block_ - 1) / block_ * block_ - begin;
    const int middle = up < p.order ? up : (begin + p.order - 1) / block_ * block_ - begin;
    return middle > 0 && middle < p.order ? middle : p.order / 2;
  }

  void underneath(const Part& p, const void* alpha) const {
    const bool left = c_.side == 'L';
    const int ia = *c_.a.i + p.first, ja = *c_.a.j + p.first, ib = *c_.b.i + (left ? p.first : 0),
              jb = *c_.b.j + (left ? 0 : p.first), m = left ? p.order : c_.m, n = left ? c_.n : p.order;
    solve_(&c_.side, &c_.uplo, &c_.op, &c_.diag, &m, &n, alpha, c_.a.data, &ia, &ja, c_.a.descriptor, c_.b.data, &ib,
           &jb, c_.b.descriptor);
  }

  // B of `to` = alpha B - what X of `from` contributes.
  void update(const Part& from, const Part& to, const void* alpha) const {
    const bool left = c_.side == 'L', plain = c_.op == 'N';
    // The block of op(A) has rows `to` and columns `from` on the left, `from` and `to` on the right.
    const Part &rows = left == plain ? to : from, &columns = left == plain ? from : to;
    const int ia = *c_.a.i + rows.first, ja = *c_.a.j + columns.first;
    const int x_row = *c_.b.i + (left ? from.first : 0), x_column = *c_.b.j + (left ? 0 : from.first);
    const int row = *c_.b.i + (left ? to.first : 0), column = *c_.b.j + (left ? 0 : to.first);
    const char none = 'N';
    if (left)
      multiply_(&c_.op, &none, &to.order, &c_.n, &from.order, minus_one_.bytes, c_.a.data, &ia, &ja, c_.a.descriptor,
                c_.b.data, &x_row, &x_column, c_.b.descriptor, alpha, c_.b.data, &row, &column, c_.b.descriptor);
    else
      multiply_(&none, &c_.op, &c_.m, &to.order, &from.order, minus_one_.bytes, c_.b.data, &x_row, &x_column,
                c_.b.descriptor, c_.a.data, &ia, &ja, c_.a.descriptor, alpha, c_.b.data, &row, &column,
                c_.b.descriptor);
  }

  const SolveCall& c_;
  const int block_;
  const bool fixed_;
  const ParallelGemm multiply_;
  const ParallelSolve solve_;
  const Constant one_ = constant(c_.type, 1), minus_one_ = constant(c_.type, -1);
};

}  // namespace

bool take_solve(ParallelSymbol& symbol, const SolveCall& c, ParallelGemm multiply, ParallelSolve solve) {
  const int order = c.side == 'L' ? c.m : c.n;
  if (!symbol.concerns(c.m, c.n, order)) return false;
  const Grid grid = grid_of(c.a.descriptor[1]);
  const bool letters = c.side != 0 && c.uplo != 0 && c.op != 0 && c.diag != 0;
  if (!grid.here() || !letters) return symbol.refuse(Reason::invalid), false;
  const SubMatrix x(grid, c.a.descriptor, *c.a.i, *c.a.j, order, order);
  const SubMatrix y(grid, c.b.descriptor, *c.b.i, *c.b.j, c.m, c.n);
  if (!x.valid() || !y.valid()) return symbol.refuse(Reason::invalid), false;
  if (is_zero(c.type, c.alpha)) return symbol.refuse(Reason::trivial), false;
  const Solve all(c, std::max(1, x.row_block()), contract_fixes_bits(), multiply, solve);
  const Part whole{0, order};
  if (all.is_leaf(whole) || all.is_small(whole)) return symbol.refuse(Reason::small), false;
  all.run(whole, c.alpha);
  symbol.take();
  return true;
}

}  // namespace vernier::interpose
