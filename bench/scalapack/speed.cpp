// Times a product or a factorisation of ScaLAPACK on a grid, as whatever is preloaded makes it.
//
//     mpirun -np 2 scalapack_speed gemm|getrf|potrf N BLOCK REPEATS
//
// Prints one line of JSON: seconds of each repeat, by the slowest process, and the largest error of (AB) x - A (B x),
// or of the solution x of A x = b, against |A||B||x| or |x| for x = (1, ..., 1).
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

extern "C" {
void Cblacs_pinfo(int*, int*);
void Cblacs_get(int, int, int*);
void Cblacs_gridinit(int*, const char*, int, int);
void Cblacs_gridinfo(int, int*, int*, int*, int*);
void Cblacs_barrier(int, const char*);
void Cblacs_exit(int);
void Cdgamx2d(int, const char*, const char*, int, int, double*, int, int*, int*, int, int, int);
void pdgemm_(const char*, const char*, const int*, const int*, const int*, const double*, const double*, const int*,
             const int*, const int*, const double*, const int*, const int*, const int*, const double*, double*,
             const int*, const int*, const int*);
void pdgetrf_(const int*, const int*, double*, const int*, const int*, const int*, int*, int*);
void pdgetrs_(const char*, const int*, const int*, const double*, const int*, const int*, const int*, const int*,
              double*, const int*, const int*, const int*, int*);
void pdpotrf_(const char*, const int*, double*, const int*, const int*, const int*, int*);
void pdpotrs_(const char*, const int*, const int*, const double*, const int*, const int*, const int*, double*,
              const int*, const int*, const int*, int*);
}

namespace {

constexpr int one = 1;

struct Grid {
  int context = -1, rows = 0, columns = 0, row = 0, column = 0;
};

// The indices of this process, along one side.
std::vector<int> own(int size, int block, int process, int processes) {
  std::vector<int> indices;
  for (int i = 0; i < size; ++i)
    if (i / block % processes == process) indices.push_back(i);
  return indices;
}

// (rand - 0.5) exp(0.5 normal), by place and seed alone, so that every grid has the same matrix.
double element(int i, int j, std::uint64_t seed) {
  std::uint64_t x = (seed << 48) ^ (static_cast<std::uint64_t>(i) << 24) ^ static_cast<std::uint64_t>(j);
  const auto next = [&] {
    x += 0x9e3779b97f4a7c15u;
    std::uint64_t z = x;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
  };
  const double u = next(), r = std::sqrt(-2 * std::log(1 - next())) * std::cos(2 * M_PI * next());
  return (u - 0.5) * std::exp(0.5 * r);
}

struct Matrix {
  std::vector<int> rows, columns;
  std::vector<double> data;
  int descriptor[9];
  int ld;

  Matrix(int m, int n, int block, const Grid& g)
      : rows(own(m, block, g.row, g.rows)),
        columns(own(n, block, g.column, g.columns)),
        data(std::max<std::size_t>(1, rows.size() * columns.size())),
        ld(std::max(1, static_cast<int>(rows.size()))) {
    const int d[9] = {1, g.context, m, n, block, block, 0, 0, ld};
    std::copy(d, d + 9, descriptor);
  }
  template <class Value>
  Matrix& fill(Value value) {
#pragma omp parallel for
    for (std::size_t j = 0; j < columns.size(); ++j)
      for (std::size_t i = 0; i < rows.size(); ++i) data[i + j * rows.size()] = value(rows[i], columns[j]);
    return *this;
  }
};

void multiply(int m, int n, int k, const Matrix& a, const Matrix& b, Matrix& c) {
  const double alpha = 1, beta = 0;
  pdgemm_("N", "N", &m, &n, &k, &alpha, a.data.data(), &one, &one, a.descriptor, b.data.data(), &one, &one,
          b.descriptor, &beta, c.data.data(), &one, &one, c.descriptor);
}

double largest_of_all(const Grid& g, double x) {
  int row = 0, column = 0;
  Cdgamx2d(g.context, "All", " ", 1, 1, &x, 1, &row, &column, -1, -1, -1);
  return x;
}

template <class Work>
double seconds_of(const Grid& g, Work work) {
  Cblacs_barrier(g.context, "All");
  const auto begin = std::chrono::steady_clock::now();
  work();
  return largest_of_all(g, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
}

double difference(const Matrix& x, const Matrix& y) {
  double largest = 0;
  for (std::size_t i = 0; i < x.data.size(); ++i) largest = std::max(largest, std::abs(x.data[i] - y.data[i]));
  return largest;
}

double magnitude(const Grid& g, const Matrix& x) {
  double largest = 0;
  for (const double e : x.data) largest = std::max(largest, std::abs(e));
  return largest_of_all(g, largest);
}

struct Result {
  std::vector<double> seconds;
  double error = 0;
};

Result time_product(const Grid& g, int n, int block, int repeats) {
  Matrix a(n, n, block, g), b = a, c = a, x(n, 1, block, g), bx = x, abx = x, cx = x;
  a.fill([](int i, int j) { return element(i, j, 1); });
  b.fill([](int i, int j) { return element(i, j, 2); });
  x.fill([](int, int) { return 1.0; });
  Result result;
  for (int r = 0; r < repeats; ++r) {
    c.fill([](int, int) { return NAN; });
    result.seconds.push_back(seconds_of(g, [&] { multiply(n, n, n, a, b, c); }));
  }
  multiply(n, 1, n, b, x, bx);
  multiply(n, 1, n, a, bx, abx);
  multiply(n, 1, n, c, x, cx);
  const auto absolute = [](Matrix& m) {
    for (double& e : m.data) e = std::abs(e);
  };
  absolute(a), absolute(b);
  const double error = largest_of_all(g, difference(abx, cx));
  multiply(n, 1, n, b, x, bx);
  multiply(n, 1, n, a, bx, abx);
  result.error = error / magnitude(g, abx);
  return result;
}

Result time_factors(const Grid& g, int n, int block, int repeats, bool definite) {
  Matrix a(n, n, block, g), x(n, 1, block, g), b = x;
  std::vector<int> pivots(static_cast<std::size_t>(a.rows.size()) + static_cast<std::size_t>(block));
  const auto fill = [&] {
    a.fill([&](int i, int j) {
      if (!definite) return element(i, j, 1);
      return element(std::min(i, j), std::max(i, j), 1) + (i == j ? 2.0 * std::sqrt(n) : 0.0);
    });
  };
  fill();
  x.fill([](int, int) { return 1.0; });
  multiply(n, 1, n, a, x, b);
  Result result;
  int info = 0;
  for (int r = 0; r < repeats; ++r) {
    fill();
    result.seconds.push_back(seconds_of(g, [&] {
      if (definite)
        pdpotrf_("L", &n, a.data.data(), &one, &one, a.descriptor, &info);
      else
        pdgetrf_(&n, &n, a.data.data(), &one, &one, a.descriptor, pivots.data(), &info);
    }));
    if (info != 0) result.error = INFINITY;
  }
  if (definite)
    pdpotrs_("L", &n, &one, a.data.data(), &one, &one, a.descriptor, b.data.data(), &one, &one, b.descriptor, &info);
  else
    pdgetrs_("N", &n, &one, a.data.data(), &one, &one, a.descriptor, pivots.data(), b.data.data(), &one, &one,
             b.descriptor, &info);
  result.error = std::max(result.error, largest_of_all(g, difference(b, x)));
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: scalapack_speed gemm|getrf|potrf N BLOCK REPEATS\n");
    return 2;
  }
  const std::string routine = argv[1];
  const int n = std::atoi(argv[2]), block = std::atoi(argv[3]), repeats = std::atoi(argv[4]);
  int rank = 0, ranks = 1;
  Cblacs_pinfo(&rank, &ranks);
  Grid g;
  int rows = static_cast<int>(std::sqrt(ranks));
  while (ranks % rows != 0) --rows;
  Cblacs_get(0, 0, &g.context);
  Cblacs_gridinit(&g.context, "Row", rows, ranks / rows);
  Cblacs_gridinfo(g.context, &g.rows, &g.columns, &g.row, &g.column);
  const Result result =
      routine == "gemm" ? time_product(g, n, block, repeats) : time_factors(g, n, block, repeats, routine == "potrf");
  if (rank == 0) {
    std::printf("{\"routine\": \"%s\", \"n\": %d, \"block\": %d, \"ranks\": %d, \"error\": %.3g, \"seconds\": [",
                argv[1], n, block, ranks, result.error);
    for (std::size_t i = 0; i < result.seconds.size(); ++i) std::printf("%s%.4f", i ? ", " : "", result.seconds[i]);
    std::printf("]}\n");
  }
  Cblacs_exit(0);
}
