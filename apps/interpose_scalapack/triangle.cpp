#include "triangle.hpp"

#include <algorithm>

namespace vernier::interpose {
namespace {

// Orders that are solved underneath, at least: one block where bits are to be fixed, so that a process has all of it
// and no grid changes the order of its sums.
constexpr int least_fixed = 8, least_free = 256;

// Rows first .. first + order - 1 (from 0) of the triangle.
struct Part {
  int first, order;
};

class Solve {
 public:
  Solve(const SolveCall& call, int block, int leaf, ParallelGemm multiply, ParallelSolve solve)
      : c_(call), block_(block), leaf_(leaf), multiply_(multiply), solve_(solve) {}

  // X of a part of the triangle, in place of alpha B.
  void run(Part p, const void* alpha) const {
    if (p.order <= leaf_) return underneath(p, alpha);
    const Part upper{p.first, half_of(p)}, lower{p.first + upper.order, p.order - upper.order};
    const bool is_lower = (c_.uplo == 'L') == (c_.op == 'N');  // op(A)
    const bool upper_first = is_lower == (c_.side == 'L');
    const Part &first = upper_first ? upper : lower, &second = upper_first ? lower : upper;
    run(first, alpha);
    update(first, second, alpha);
    run(second, one_.bytes);
  }

 private:
  // So that both halves begin with a block of the matrix.
  int half_of(const Part& p) const {
    const int begin = (c_.side == 'L' ? *c_.a.i : *c_.a.j) - 1 + p.first;
    const int middle = (begin + p.order / 2 + block_ - 1) / block_ * block_ - begin;
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
  const int block_, leaf_;
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
  const int block = std::max(1, x.row_block()), least = contract_fixes_bits() ? least_fixed : least_free;
  const int leaf = (least + block - 1) / block * block;
  if (order <= leaf) return symbol.refuse(Reason::small), false;
  Solve(c, block, leaf, multiply, solve).run({0, order}, c.alpha);
  symbol.take();
  return true;
}

}  // namespace vernier::interpose
