// p?trsm on several processes, all sides, triangles, ops and diagonals: integers whose solution is exact.
//
// Exits with 0 where every solution is, bit for bit. A watchdog ends a process that waits for longer than a minute.
#include <unistd.h>

#include <cstdio>
#include <string>

#include "blacs.hpp"
#include "support/random.hpp"

extern "C" {
void pdtrsm_(const char*, const char*, const char*, const char*, const int*, const int*, const void*, void*, const int*,
             const int*, const int*, void*, const int*, const int*, const int*);
void pztrsm_(const char*, const char*, const char*, const char*, const int*, const int*, const void*, void*, const int*,
             const int*, const int*, void*, const int*, const int*, const int*);
}

namespace vernier::test::solve {
namespace {

constexpr int order = 270, other = 5, block = 16, row_offset = 21, column_offset = 8;

inline double conjugate(double x) { return x; }
inline std::complex<double> conjugate(std::complex<double> x) { return std::conj(x); }

template <class T>
T integer(Random& r, int largest) {
  if constexpr (std::is_same_v<T, double>)
    return static_cast<double>(r.integer(-largest, largest));
  else
    return {static_cast<double>(r.integer(-largest, largest)), static_cast<double>(r.integer(-largest, largest))};
}

struct Letters {
  char side, uplo, op, diag;
};

// Few entries beside the diagonal, so that nothing grows.
template <class T>
Whole<T> triangle(const Letters& l, Random& r) {
  Whole<T> a(order + row_offset, order + column_offset);
  for (T& x : a.data) x = integer<T>(r, 1000);  // beyond the triangle nothing is read
  for (int j = 0; j < order; ++j)
    for (int i = 0; i < order; ++i)
      if (i == j)
        a.at(i + row_offset, j + column_offset) = l.diag == 'U' ? T{1e9} : T{0.5};
      else if ((i > j) == (l.uplo == 'L'))
        a.at(i + row_offset, j + column_offset) = r.integer(0, 20) == 0 ? integer<T>(r, 1) : T{0};
  return a;
}

template <class T>
T entry(const Whole<T>& a, const Letters& l, int i, int j) {
  if (i == j) return l.diag == 'U' ? T{1} : T{0.5};
  if (l.op != 'N') std::swap(i, j);
  if ((i > j) != (l.uplo == 'L')) return T{0};
  const T x = a.at(i + row_offset, j + column_offset);
  return l.op == 'C' ? conjugate(x) : x;
}

template <class T>
bool solves(const Grid& grid, const Letters& l, Random& r, bool root) {
  const bool left = l.side == 'L';
  const int m = left ? order : other, n = left ? other : order;
  const Whole<T> a = triangle<T>(l, r);
  Whole<T> x(m, n), b(m, n);
  for (T& e : x.data) e = integer<T>(r, 9);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i) {
      T sum{0};
      for (int k = 0; k < order; ++k) sum += left ? entry(a, l, i, k) * x.at(k, j) : x.at(i, k) * entry(a, l, k, j);
      b.at(i, j) = sum * 0.25;
    }
  Dealt<T> da(a, grid, {block, block, 1, 0}), db(b, grid, {block, block, 0, 1});
  const T alpha{4};
  const int one = 1, row = row_offset + 1, column = column_offset + 1;
  const auto trsm = std::is_same_v<T, double> ? pdtrsm_ : pztrsm_;
  trsm(&l.side, &l.uplo, &l.op, &l.diag, &m, &n, &alpha, da.local.data(), &row, &column, da.descriptor, db.local.data(),
       &one, &one, db.descriptor);
  const Whole<T> found = db.gathered(m, n);
  if (!root) return true;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i)
      if (found.at(i, j) != x.at(i, j)) {
        std::fprintf(stderr, "%c%c%c%c on %d x %d: (%d, %d): got %g, expected %g\n", l.side, l.uplo, l.op, l.diag,
                     grid.rows, grid.columns, i, j, std::real(found.at(i, j)), std::real(x.at(i, j)));
        return false;
      }
  return true;
}

int run() {
  int rank = 0, processes = 0;
  Cblacs_pinfo(&rank, &processes);
  bool well = true;
  for (const int rows : {1, processes}) {
    Grid g;
    Cblacs_get(-1, 0, &g.context);
    Cblacs_gridinit(&g.context, "Row", rows, processes / rows);
    Cblacs_gridinfo(g.context, &g.rows, &g.columns, &g.row, &g.column);
    Random r(17);
    for (const char side : std::string("LR"))
      for (const char uplo : std::string("UL"))
        for (const char op : std::string("NTC"))
          for (const char diag : std::string("UN")) {
            if ((side == 'L') != (rows == 1)) continue;
            alarm(60);
            const Letters letters{side, uplo, op, diag};
            well = (op == 'T' ? solves<double>(g, letters, r, rank == 0)
                              : solves<std::complex<double>>(g, letters, r, rank == 0)) &&
                   well;
          }
  }
  if (rank == 0 && well) std::printf("all solutions are right\n");
  std::fflush(stdout);
  Cblacs_exit(0);
  return well ? 0 : 1;
}

}  // namespace
}  // namespace vernier::test::solve

int main() { return vernier::test::solve::run(); }
