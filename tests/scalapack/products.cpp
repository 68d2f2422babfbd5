// Random products by PBLAS on many grids, each beside gemm in one process: how many differ in a bit.
//
//     mpirun -np 6 products FIRST COUNT LARGEST       (VERNIER_CONTRACT: a contract that fixes bits)
//
// Prints one line for the calls of all grids, "products N results R different D hash H"; the exit code is 0 only where
// D = 0. A watchdog ends a program that hangs.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <type_traits>

#include "cases.hpp"
#include "vernier/vernier.hpp"

extern "C" {
#define DECLARE(t)                                                                                                    \
  void p##t##gemm_(const char*, const char*, const int*, const int*, const int*, const void*, void*, const int*,      \
                   const int*, const int*, void*, const int*, const int*, const int*, const void*, void*, const int*, \
                   const int*, const int*);                                                                           \
  void p##t##syrk_(const char*, const char*, const int*, const int*, const void*, void*, const int*, const int*,      \
                   const int*, const void*, void*, const int*, const int*, const int*);                               \
  void p##t##symm_(const char*, const char*, const int*, const int*, const void*, void*, const int*, const int*,      \
                   const int*, void*, const int*, const int*, const int*, const void*, void*, const int*, const int*, \
                   const int*);                                                                                       \
  void p##t##trmm_(const char*, const char*, const char*, const char*, const int*, const int*, const void*, void*,    \
                   const int*, const int*, const int*, void*, const int*, const int*, const int*);
DECLARE(s)
DECLARE(d)
DECLARE(c)
DECLARE(z)
decltype(pcsyrk_) pcherk_, pzherk_;
decltype(pcsymm_) pchemm_, pzhemm_;
}

namespace vernier::test::products {
namespace {

template <class T>
struct Functions {
  decltype(pdgemm_)* gemm;
  decltype(pdsyrk_)*syrk, *herk;
  decltype(pdsymm_)*symm, *hemm;
  decltype(pdtrmm_)* trmm;
};
template <class T>
Functions<T> functions() {
  if constexpr (std::is_same_v<T, float>) return {psgemm_, pssyrk_, pssyrk_, pssymm_, pssymm_, pstrmm_};
  if constexpr (std::is_same_v<T, double>) return {pdgemm_, pdsyrk_, pdsyrk_, pdsymm_, pdsymm_, pdtrmm_};
  if constexpr (std::is_same_v<T, std::complex<float>>) return {pcgemm_, pcsyrk_, pcherk_, pcsymm_, pchemm_, pctrmm_};
  if constexpr (std::is_same_v<T, std::complex<double>>) return {pzgemm_, pzsyrk_, pzherk_, pzsymm_, pzhemm_, pztrmm_};
}

Op op_of(char letter) { return static_cast<Op>(letter); }

template <class T>
class Comparison {
 public:
  Comparison(const Case& c, Random& r, const Options& options)
      : c_(c),
        options_(options),
        alpha_(factor<T>(r, real_factors())),
        beta_(factor<T>(r, real_factors())),
        a_(made(0, r)),
        b_(made(1, r)),
        c_whole_(made(2, r)) {
    // Where alpha is zero PBLAS scales C itself, complex numbers in roundings of its own.
    if (alpha_ == T{0} && (c.routine != gemm_routine || std::imag(beta_) != 0)) alpha_ = T{1};
  }

  // What one process has; the input where the contract does not hold the data.
  Whole<T> expected() const {
    const bool triangular_one = c_.routine == triangular;
    Whole<T> result = triangular_one ? b_ : c_whole_;
    Whole<T> x = operand(), y = cut(b_, 1, rows(1), columns(1));
    Whole<T> z = triangular_one ? y : cut(c_whole_, 2, rows(2), columns(2));
    if (c_.routine == rank_k) {
      if (c_.conjugated) real_diagonal(z);
      const char turned = c_.conjugated ? 'C' : 'T';
      product(c_.opa == 'N' ? 'N' : turned, c_.opa == 'N' ? turned : 'N', c_.n, c_.n, c_.k, x, x, beta_, z);
      if (c_.conjugated) real_diagonal(z);
    } else if (c_.routine == gemm_routine) {
      product(c_.opa, c_.opb, c_.m, c_.n, c_.k, x, y, beta_, z);
    } else {
      const char op = triangular_one ? c_.opa : 'N';
      const T beta = triangular_one ? T{0} : beta_;
      c_.side == 'L' ? product(op, 'N', c_.m, c_.n, c_.m, x, y, beta, z)
                     : product('N', op, c_.m, c_.n, c_.n, y, x, beta, z);
    }
    const int which = triangular_one ? 1 : 2;
    for (int j = 0; j < z.columns; ++j)
      for (int i = 0; i < z.rows; ++i)
        if (c_.routine != rank_k || (c_.uplo == 'U' ? i <= j : i >= j))
          result.at(i + c_.offsets[which][0], j + c_.offsets[which][1]) = z.at(i, j);
    return result;
  }

  Whole<T> on(const Grid& grid) const {
    Dealt<T> a(a_, grid, c_.blocks[0]), b(b_, grid, c_.blocks[1]), c(c_whole_, grid, c_.blocks[2]);
    const int at[6] = {c_.offsets[0][0] + 1, c_.offsets[0][1] + 1, c_.offsets[1][0] + 1,
                       c_.offsets[1][1] + 1, c_.offsets[2][0] + 1, c_.offsets[2][1] + 1};
    const Functions<T> f = functions<T>();
    void *x = a.local.data(), *y = b.local.data(), *z = c.local.data();
    switch (c_.routine) {
      case gemm_routine:
        f.gemm(&c_.opa, &c_.opb, &c_.m, &c_.n, &c_.k, &alpha_, x, at, at + 1, a.descriptor, y, at + 2, at + 3,
               b.descriptor, &beta_, z, at + 4, at + 5, c.descriptor);
        break;
      case rank_k:
        (c_.conjugated ? f.herk : f.syrk)(&c_.uplo, &c_.opa, &c_.n, &c_.k, &alpha_, x, at, at + 1, a.descriptor, &beta_,
                                          z, at + 4, at + 5, c.descriptor);
        break;
      case symmetric:
        (c_.conjugated ? f.hemm : f.symm)(&c_.side, &c_.uplo, &c_.m, &c_.n, &alpha_, x, at, at + 1, a.descriptor, y,
                                          at + 2, at + 3, b.descriptor, &beta_, z, at + 4, at + 5, c.descriptor);
        break;
      case triangular:
        f.trmm(&c_.side, &c_.uplo, &c_.opa, &c_.diag, &c_.m, &c_.n, &alpha_, x, at, at + 1, a.descriptor, y, at + 2,
               at + 3, b.descriptor);
        return b.gathered(b_.rows, b_.columns);
    }
    return c.gathered(c_whole_.rows, c_whole_.columns);
  }

 private:
  bool real_factors() const {
    return options_.contract.kind == Contract::Kind::exact || (c_.routine == rank_k && c_.conjugated);
  }
  int order() const { return c_.side == 'L' ? c_.m : c_.n; }
  int rows(int which) const {
    switch (c_.routine) {
      case gemm_routine:
        return which == 0 ? (c_.opa == 'N' ? c_.m : c_.k) : which == 1 ? (c_.opb == 'N' ? c_.k : c_.n) : c_.m;
      case rank_k:
        return which == 0 ? (c_.opa == 'N' ? c_.n : c_.k) : c_.n;
      default:
        return which == 0 ? order() : c_.m;
    }
  }
  int columns(int which) const {
    switch (c_.routine) {
      case gemm_routine:
        return which == 0 ? (c_.opa == 'N' ? c_.k : c_.m) : which == 1 ? (c_.opb == 'N' ? c_.n : c_.k) : c_.n;
      case rank_k:
        return which == 0 ? (c_.opa == 'N' ? c_.k : c_.n) : c_.n;
      default:
        return which == 0 ? order() : c_.n;
    }
  }
  Whole<T> made(int which, Random& r) const {
    return random_whole<T>(rows(which) + c_.offsets[which][0] + static_cast<int>(r.integer(0, 3)),
                           columns(which) + c_.offsets[which][1] + static_cast<int>(r.integer(0, 3)),
                           which == 2 ? ordinary : c_.kind, r);
  }
  Whole<T> cut(const Whole<T>& x, int which, int m, int n) const {
    Whole<T> y(m, n);
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < m; ++i) y.at(i, j) = x.at(i + c_.offsets[which][0], j + c_.offsets[which][1]);
    return y;
  }
  static void real_diagonal(Whole<T>& x) {
    if constexpr (complex_type<T>)
      for (int i = 0; i < x.rows; ++i) x.at(i, i) = x.at(i, i).real();
  }
  // A as the product reads it: symmetric and triangular ones filled in.
  Whole<T> operand() const {
    Whole<T> x = cut(a_, 0, rows(0), columns(0));
    if (c_.routine != symmetric && c_.routine != triangular) return x;
    for (int j = 0; j < x.columns; ++j)
      for (int i = 0; i < x.rows; ++i) {
        const bool inside = c_.uplo == 'U' ? i <= j : i >= j;
        if (c_.routine == triangular) {
          if (!inside) x.at(i, j) = T{0};
          if (i == j && c_.diag == 'U') x.at(i, j) = T{1};
        } else if (!inside) {
          T other = a_.at(j + c_.offsets[0][0], i + c_.offsets[0][1]);
          if constexpr (complex_type<T>)
            if (c_.conjugated) other = std::conj(other);
          x.at(i, j) = other;
        }
      }
    if (c_.routine == symmetric && c_.conjugated) real_diagonal(x);
    return x;
  }
  void product(char opa, char opb, int m, int n, int k, const Whole<T>& x, const Whole<T>& y, T beta,
               Whole<T>& z) const {
    gemm<T>(op_of(opa), op_of(opb), m, n, k, alpha_, x.data.data(), std::max(1, x.rows), y.data.data(),
            std::max(1, y.rows), beta, z.data.data(), std::max(1, z.rows), options_);
  }

  const Case& c_;
  const Options& options_;
  T alpha_, beta_;
  Whole<T> a_, b_, c_whole_;
};

template <class R>
bool same_real(R x, R y) {
  return (x != x && y != y) || std::memcmp(&x, &y, sizeof x) == 0;
}

template <class T>
bool same(const Whole<T>& x, const Whole<T>& y) {
  const auto *p = reinterpret_cast<const Real<T>*>(x.data.data()), *q = reinterpret_cast<const Real<T>*>(y.data.data());
  const std::size_t count = x.data.size() * sizeof(T) / sizeof(Real<T>);
  for (std::size_t i = 0; i < count; ++i)
    if (!same_real(p[i], q[i])) return false;
  return true;
}

struct Totals {
  long products = 0, results = 0, different = 0;
  std::uint64_t hash = 1469598103934665603u;

  template <class T>
  void add(const Whole<T>& x) {  // NaN are all alike
    const auto* p = reinterpret_cast<const Real<T>*>(x.data.data());
    for (std::size_t i = 0; i < x.data.size() * sizeof(T) / sizeof(Real<T>); ++i) {
      const Real<T> value = p[i] != p[i] ? std::numeric_limits<Real<T>>::quiet_NaN() : p[i];
      unsigned char bytes[sizeof value];
      std::memcpy(bytes, &value, sizeof value);
      for (const unsigned char b : bytes) hash = (hash ^ b) * 1099511628211u;
    }
  }
};

std::vector<Grid> grids_of(int processes) {
  std::vector<Grid> grids;
  for (int rows = 1; rows <= processes; ++rows)
    for (int columns = 1; rows * columns <= processes; ++columns) {
      Grid g;
      Cblacs_get(-1, 0, &g.context);
      Cblacs_gridinit(&g.context, "Row", rows, columns);
      Cblacs_gridinfo(g.context, &g.rows, &g.columns, &g.row, &g.column);
      g.rows = rows;
      g.columns = columns;
      grids.push_back(g);
    }
  return grids;
}

template <class T>
void compare(std::uint64_t seed, int largest, const std::vector<Grid>& grids, int rank, const Options& options,
             Totals& totals) {
  Random r(seed);
  const Case c = random_case(r, largest, complex_type<T>);
  const Comparison<T> comparison(c, r, options);
  ++totals.products;
  Whole<T> expected(0, 0);
  if (rank == 0) totals.add(expected = comparison.expected());
  // A large product goes to some of the grids, in turn.
  const std::size_t step = static_cast<double>(c.m) * c.n * c.k > 1e6 ? 5 : 1;
  for (std::size_t i = seed % step; i < grids.size(); i += step) {
    if (grids[i].row < 0 || grids[i].column < 0) continue;
    const Whole<T> result = comparison.on(grids[i]);
    if (rank != 0) continue;
    ++totals.results;
    if (same(result, expected)) continue;
    ++totals.different;
    std::fprintf(stderr, "product %llu (%s) differs on grid %d x %d: routine %d kind %d ops %c%c m n k %d %d %d\n",
                 static_cast<unsigned long long>(seed), typeid(T).name(), grids[i].rows, grids[i].columns, c.routine,
                 c.kind, c.opa, c.opb, c.m, c.n, c.k);
  }
}

int run(int argc, char** argv) {
  if (argc != 4) return std::fprintf(stderr, "usage: products FIRST COUNT LARGEST\n"), 2;
  int rank = 0, processes = 0;
  Cblacs_pinfo(&rank, &processes);
  const std::vector<Grid> grids = grids_of(processes);
  const char* contract = std::getenv("VERNIER_CONTRACT");
  Options options{.contract = Contract::parse(contract != nullptr ? contract : "fp64+reproducible"), .threads = 1};
  Totals totals;
  const auto first = std::strtoull(argv[1], nullptr, 10), count = std::strtoull(argv[2], nullptr, 10);
  const int largest = std::atoi(argv[3]);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    alarm(120);
    switch (seed % 4) {
      case 0:
        compare<double>(seed, largest, grids, rank, options, totals);
        break;
      case 1:
        compare<std::complex<double>>(seed, largest, grids, rank, options, totals);
        break;
      case 2:
        compare<float>(seed, largest, grids, rank, options, totals);
        break;
      default:
        compare<std::complex<float>>(seed, largest, grids, rank, options, totals);
    }
  }
  if (rank == 0)
    std::printf("products %ld grids %zu results %ld different %ld hash %016llx\n", totals.products, grids.size(),
                totals.results, totals.different, static_cast<unsigned long long>(totals.hash));
  std::fflush(stdout);
  alarm(60);
  Cblacs_exit(0);
  return totals.different == 0 ? 0 : 1;
}

}  // namespace
}  // namespace vernier::test::products

int main(int argc, char** argv) { return vernier::test::products::run(argc, argv); }
