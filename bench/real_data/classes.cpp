#include "classes.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>

#include "huckel.hpp"

extern "C" {
void dpotrf_(const char* triangle, const int* n, double* a, const int* lda, int* info);
void dpotri_(const char* triangle, const int* n, double* a, const int* lda, int* info);
void dsyevd_(const char* job, const char* triangle, const int* n, double* a, const int* lda, double* values,
             double* work, const int* work_size, int* integers, const int* integers_size, int* info);
}

namespace vernier::bench {
namespace {

// SplitMix64 of a place, so that elements can be made in any order.
class Field {
 public:
  explicit Field(std::uint64_t seed) : seed_(mixed(seed + 1)) {}

  double uniform(std::int64_t i, std::int64_t j, std::uint64_t stream = 0) const {  // (0, 1)
    const std::uint64_t place = static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(j);
    return (static_cast<double>(mixed(mixed(place ^ seed_) + stream * 0xd1342543de82ef95u) >> 12) + 0.5) * 0x1p-52;
  }
  double normal(std::int64_t i, std::int64_t j) const {
    return std::sqrt(-2 * std::log(uniform(i, j, 1))) * std::cos(6.283185307179586 * uniform(i, j, 2));
  }
  double scattered(std::int64_t i, std::int64_t j, double phi) const {
    return (uniform(i, j, 3) - 0.5) * std::exp(phi * normal(i, j));
  }
  int exponent(std::int64_t i, int least, int most) const {
    return least + static_cast<int>(uniform(i, -1, 4) * (most - least + 1));
  }
  double distance(const Field& other, std::int64_t i, std::int64_t j) const {  // of normal points in space, squared
    double sum = 0;
    for (int d = 0; d < 3; ++d) {
      const double x = normal(i, -2 - d) - other.normal(j, -2 - d);
      sum += x * x;
    }
    return sum;
  }

 private:
  static std::uint64_t mixed(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  }
  std::uint64_t seed_;
};

using Element = std::function<double(std::int64_t, std::int64_t)>;

std::vector<double> matrix(std::int64_t rows, std::int64_t columns, const Element& element) {
  std::vector<double> x(static_cast<std::size_t>(rows * columns));
#pragma omp parallel for schedule(static)
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = 0; i < rows; ++i) x[static_cast<std::size_t>(i + j * rows)] = element(i, j);
  return x;
}

void check_lapack(int info, const char* routine) {
  if (info != 0) throw std::runtime_error(std::string(routine) + ": info = " + std::to_string(info));
}

// Columns: eigenvectors of a symmetric matrix, by rising eigenvalue.
std::vector<double> eigenvectors(std::vector<double> x, std::int64_t size) {
  const int n = static_cast<int>(size), query = -1;
  int info = 0, integers = 0;
  std::vector<double> values(static_cast<std::size_t>(n));
  double work = 0;
  dsyevd_("V", "L", &n, x.data(), &n, values.data(), &work, &query, &integers, &query, &info);
  std::vector<double> space(static_cast<std::size_t>(work));
  std::vector<int> places(static_cast<std::size_t>(integers));
  const int work_size = static_cast<int>(work);
  dsyevd_("V", "L", &n, x.data(), &n, values.data(), space.data(), &work_size, places.data(), &integers, &info);
  check_lapack(info, "dsyevd");
  return x;
}

// exp(-|x_i - x_j|^2 / 2) of normal points in space.
std::vector<double> kernel(std::int64_t size, const Field& points) {
  return matrix(size, size, [&](auto i, auto j) { return std::exp(-points.distance(points, i, j) / 2); });
}

// D C D with C near the identity and D from 1 to 1/1000: a sample covariance of variables of many scales.
std::vector<double> covariance(std::int64_t size, const Field& field) {
  const double spread = 1 / std::sqrt(5 * static_cast<double>(size));
  return matrix(size, size, [&](auto i, auto j) {
    const auto [low, high] = std::minmax(i, j);
    const double correlation = i == j ? 1 : spread * field.normal(low, high);
    return correlation * std::pow(10.0, -3 * static_cast<double>(i + j) / static_cast<double>(size));
  });
}

// The Cholesky factor, in the lower triangle, of the front of a layer of nodes in a stiffness matrix: conduction in a
// grid of cells of lognormal conductivity, where four layers have been eliminated before.
std::vector<double> front_factor(int size, const Field& field) {
  const int width = std::max(1, static_cast<int>(std::sqrt(size)));
  std::vector<double> front;
  int info = 0;
  for (int layer = 0; layer < 5; ++layer) {
    const auto bond = [&](int i, int direction) { return std::exp(field.normal(4 * layer + direction, i)); };
    std::vector<double> next(static_cast<std::size_t>(size) * static_cast<std::size_t>(size));
    const auto at = [&](int i, int j) -> double& {
      return next[static_cast<std::size_t>(i) + static_cast<std::size_t>(j) * static_cast<std::size_t>(size)];
    };
    if (layer > 0) {  // K - E S^-1 E of the bonds between layers
      dpotri_("L", &size, front.data(), &size, &info);
      check_lapack(info, "dpotri");
      for (int j = 0; j < size; ++j)
        for (int i = j; i < size; ++i)
          at(i, j) = -bond(i, 2) * bond(j, 2) *
                     front[static_cast<std::size_t>(i) + static_cast<std::size_t>(j) * static_cast<std::size_t>(size)];
    }
    for (int i = 0; i < size; ++i) {
      at(i, i) += bond(i, 2) + std::exp(field.normal(4 * layer + 6, i));  // to the layers before and behind
      for (const auto& [j, direction] : {std::pair{i + 1, 0}, std::pair{i + width, 1}}) {
        if (j >= size || (direction == 0 && j % width == 0)) continue;
        at(i, i) += bond(i, direction);
        at(j, j) += bond(i, direction);
        at(j, i) -= bond(i, direction);
      }
    }
    front = next;
    dpotrf_("L", &size, front.data(), &size, &info);
    check_lapack(info, "dpotrf");
  }
  return front;
}

// The update of a front by its first k columns, L_21 L_21^T; over again where C is larger.
void frontal_update(std::int64_t m, std::int64_t n, std::int64_t k, const Field& field, std::vector<double>& a,
                    std::vector<double>& b) {
  constexpr std::int64_t most = 1792;
  const std::int64_t rest = std::min(std::max(m, n), most);
  const int size = static_cast<int>(rest + k);
  const std::vector<double> factor = front_factor(size, field);
  const auto below = [&](std::int64_t i, std::int64_t l) {
    return factor[static_cast<std::size_t>(k + i % rest + l * size)];
  };
  a = matrix(m, k, below);
  b = matrix(k, n, [&](auto l, auto j) { return below(j, l); });
}

// The Hamiltonian of the demonstration's molecule and its orbitals, at least so many functions.
struct Molecule {
  demo::Matrix hamiltonian, orbitals;

  explicit Molecule(std::int64_t functions) {
    const std::int64_t each = demo::functions_per_residue();
    const auto residues = std::max<std::int64_t>(1, (functions - demo::functions_of_ends() + each - 1) / each);
    const auto basis = demo::gaussian_basis(demo::alanine_helix(static_cast<int>(residues)));
    const demo::Matrix overlap = demo::overlap_matrix(basis);
    hamiltonian = demo::hamiltonian(basis, overlap);
    orbitals = demo::solve(hamiltonian, overlap, [](const char*) {}).C;
  }
};

// Rows of H times columns of C, over again where the product is larger.
void orbital_product(std::int64_t m, std::int64_t n, std::int64_t k, std::vector<double>& a, std::vector<double>& b) {
  constexpr std::int64_t most = 2048;
  const Molecule molecule(std::min(k, most));
  const std::int64_t size = std::min(k, molecule.orbitals.rows);
  a = matrix(m, k, [&](auto i, auto l) { return molecule.hamiltonian(i % size, l % size); });
  b = matrix(k, n, [&](auto l, auto j) { return molecule.orbitals(l % size, j % size); });
}

struct Shape {
  std::int64_t m, n, k;
};
struct Class {
  RealClass about;
  std::function<void(const Shape&, const Field&, const Field&, Factors&)> make;
};

// Both factors, element by element.
template <class A, class B>
auto elements(A a, B b) {
  return [=](const Shape& s, const Field& f, const Field& g, Factors& out) {
    out.a = matrix(s.m, s.k, [&](auto i, auto l) { return a(s, f, i, l); });
    out.b = matrix(s.k, s.n, [&](auto l, auto j) { return b(s, g, l, j); });
  };
}

// A symmetric matrix of order k and its eigenvectors. Large ones are Kronecker products, whose eigenvectors are those
// of both factors.
class Eigensystem {
 public:
  using Make = std::function<std::vector<double>(std::int64_t, const Field&)>;

  Eigensystem(const Make& make, std::int64_t k, const Field& inner, const Field& outer)
      : inner_(make, k > largest && k % largest == 0 ? largest : k, inner), outer_(make, k / inner_.size, outer) {}

  double matrix(std::int64_t i, std::int64_t j) const { return at(i, j, &Factor::matrix); }
  double eigenvectors(std::int64_t i, std::int64_t j) const { return at(i, j, &Factor::eigenvectors); }

 private:
  static constexpr std::int64_t largest = 2048;
  struct Factor {
    std::int64_t size;
    std::vector<double> matrix, eigenvectors;

    Factor(const Make& make, std::int64_t order, const Field& field)
        : size(order), matrix(make(order, field)), eigenvectors(bench::eigenvectors(matrix, order)) {}
  };
  double at(std::int64_t i, std::int64_t j, std::vector<double> Factor::*part) const {
    const std::int64_t s = inner_.size, o = outer_.size;
    return (inner_.*part)[static_cast<std::size_t>(i % s + j % s * s)] *
           (outer_.*part)[static_cast<std::size_t>(i / s % o + j / s % o * o)];
  }
  Factor inner_, outer_;
};

// Rows of a symmetric matrix of order k (or its eigenvectors' transpose) times columns of eigenvectors, over again
// where C is larger.
auto with_eigenvectors(const Eigensystem::Make& make, bool transpose) {
  return [=](const Shape& s, const Field& f, const Field& g, Factors& out) {
    const Eigensystem x(make, s.k, f, g);
    out.a = matrix(s.m, s.k, [&](auto i, auto l) { return transpose ? x.eigenvectors(l, i) : x.matrix(i, l); });
    out.b = matrix(s.k, s.n, [&](auto l, auto j) { return x.eigenvectors(l, j); });
  };
}

RealClass eigen_class(const char* name, const char* description) {
  return {.name = name, .description = description, .lapack = true};
}

RealClass panel_class(const char* name, const char* description) {
  return {.name = name, .description = description, .longest_k = 256, .lapack = true};
}

Class random_class(const char* name, double phi) {
  const auto element = [phi](const Shape&, const Field& f, auto i, auto j) { return f.scattered(i, j, phi); };
  return {{name, "(rand - 0.5) exp(phi randn), phi = " + std::to_string(phi).substr(0, 3)}, elements(element, element)};
}

Class decay_class(const char* name, double rate) {
  const auto element = [rate](const Shape&, const Field&, auto i, auto j) {
    return std::exp(-rate * std::abs(static_cast<double>(i - j)));
  };
  return {{name, "exp(-" + std::to_string(rate).substr(0, 4) + " |i - j|) times itself"}, elements(element, element)};
}

const std::vector<Class>& classes() {
  const auto normal = [](const Shape&, const Field& f, auto i, auto j) { return f.normal(i, j); };
  const auto scaled = [](const Field& f, auto i, auto j, int e) { return std::ldexp(f.normal(i, j), e); };
  const auto gaussian = [](const Shape& s, const Field&, auto i, auto j) {  // points that both factors share
    static const Field points(7);
    return std::exp(-points.distance(points, i % (2 * s.k), j % (2 * s.k)) / 2);
  };
  static const std::vector<Class> list = {
      random_class("random_0.5", 0.5),
      random_class("random_1", 1),
      {{"normal", "normal"}, elements(normal, normal)},
      {{"lognormal", "exp(randn), all positive"},
       elements([](const Shape&, const Field& f, auto i, auto j) { return std::exp(f.normal(i, j)); },
                [](const Shape&, const Field& f, auto i, auto j) { return std::exp(f.normal(i, j)); })},
      {{"sparse", "5 % of normal elements, times normal"},
       elements([](const Shape&, const Field& f, auto i,
                   auto j) { return f.uniform(i, j, 5) < 0.05 ? f.normal(i, j) : 0.0; },
                normal)},
      {{"relu", "max(normal, 0) times weights"},
       elements([](const Shape&, const Field& f, auto i, auto j) { return std::max(f.normal(i, j), 0.0); }, normal)},
      {{"kernel_random", "Gaussian kernel of points in space, times normal"}, elements(gaussian, normal)},
      {{.name = "lu_update", .description = "normal, by a panel of 256", .longest_k = 256}, elements(normal, normal)},
      {{"rows_scaled", "normal, rows and columns times powers of two from 2^-300 to 2^300"},
       elements(
           [=](const Shape&, const Field& f, auto i, auto l) { return scaled(f, i, l, f.exponent(i, -300, 300)); },
           [=](const Shape&, const Field& f, auto l, auto j) { return scaled(f, l, j, f.exponent(j, -300, 300)); })},
      random_class("random_2", 2),
      {{"kernel_kernel", "Gaussian kernel times itself"}, elements(gaussian, gaussian)},
      {eigen_class("kernel_eigenvectors", "Gaussian kernel times its eigenvectors"), with_eigenvectors(kernel, false)},
      {eigen_class("v_t_v", "eigenvectors transposed times themselves"), with_eigenvectors(kernel, true)},
      {eigen_class("covariance_eigenvectors", "covariance of variables from 1 to 1/1000, times its eigenvectors"),
       with_eigenvectors(covariance, false)},
      {{"vandermonde", "Vandermonde matrix of points in [0, 1], times normal"},
       elements(
           [](const Shape& s, const Field&, auto i, auto l) {
             const double x = static_cast<double>(i) / static_cast<double>(std::max<std::int64_t>(s.m - 1, 1));
             return std::pow(x, static_cast<double>(s.k - 1 - l));
           },
           normal)},
      {eigen_class("orbitals", "Hamiltonian of the demonstration's molecule times its orbitals"),
       [](const Shape& s, const Field&, const Field&, Factors& out) { orbital_product(s.m, s.n, s.k, out.a, out.b); }},
      {panel_class("frontal_update", "update of a finite-element front by a panel of its Cholesky factor"),
       [](const Shape& s, const Field& f, const Field&, Factors& out) {
         frontal_update(s.m, s.n, s.k, f, out.a, out.b);
       }},
      random_class("random_4", 4),
      {{"triangular", "lower times upper triangle, normal"},
       elements([](const Shape&, const Field& f, auto i, auto l) { return l <= i ? f.normal(i, l) : 0.0; },
                [](const Shape&, const Field& f, auto l, auto j) { return l <= j ? f.normal(l, j) : 0.0; })},
      decay_class("slow_decay", 0.01),
      decay_class("fast_decay", 0.3),
      {{.name = "graded", .description = "normal, A by 2^(40 l / k), B by 2^(-40 l / k)", .campaign_k = 8192},
       elements([=](const Shape& s, const Field& f, auto i,
                    auto l) { return scaled(f, i, l, static_cast<int>(40 * l / s.k)); },
                [=](const Shape& s, const Field& f, auto l, auto j) {
                  return scaled(f, l, j, static_cast<int>(-40 * l / s.k));
                })},
      {{"band", "normal in bands of a quarter of k, times normal"},
       elements([](const Shape& s, const Field& f, auto i,
                   auto l) { return std::abs(l - i * s.k / s.m) <= s.k / 8 ? f.normal(i, l) : 0.0; },
                normal)},
      {{"blocks", "phi = 2 in three blocks along the diagonal, times alike"},
       elements([](const Shape& s, const Field& f, auto i,
                   auto l) { return 3 * i / s.m == 3 * l / s.k ? f.scattered(i, l, 2) : 0.0; },
                [](const Shape& s, const Field& f, auto l, auto j) {
                  return 3 * l / s.k == 3 * j / s.n ? f.scattered(l, j, 2) : 0.0;
                })},
      {{"subnormal", "normal times 2^-1050, times normal times 2^20"},
       elements([=](const Shape&, const Field& f, auto i, auto l) { return scaled(f, i, l, -1050); },
                [=](const Shape&, const Field& f, auto l, auto j) { return scaled(f, l, j, 20); })},
      {{"huge", "5 % of normal elements times 2^1000, times phi = 2 times 2^-500"},
       elements([=](const Shape&, const Field& f, auto i,
                    auto l) { return f.uniform(i, l, 5) < 0.05 ? scaled(f, i, l, 1000) : 0.0; },
                [](const Shape&, const Field& f, auto l, auto j) { return std::ldexp(f.scattered(l, j, 2), -500); })},
  };
  return list;
}

}  // namespace

const std::vector<RealClass>& real_classes() {
  static const std::vector<RealClass> list = [] {
    std::vector<RealClass> about;
    for (const Class& c : classes()) about.push_back(c.about);
    return about;
  }();
  return list;
}

namespace {

// The first m rows and n columns of a product over again.
Factors over_again(const Factors& few, std::int64_t m, std::int64_t n) {
  const auto index = [](std::int64_t i) { return static_cast<std::size_t>(i); };
  return {m, n, few.k, matrix(m, few.k, [&](auto i, auto l) { return few.a[index(i % few.m + l * few.m)]; }),
          matrix(few.k, n, [&](auto l, auto j) { return few.b[index(l + j % few.n * few.k)]; })};
}

}  // namespace

Factors make_factors(const std::string& name, std::int64_t m, std::int64_t n, std::int64_t k, std::uint64_t seed,
                     std::int64_t different) {
  if (different > 0 && (different < m || different < n))
    return over_again(make_factors(name, std::min(m, different), std::min(n, different), k, seed), m, n);
  for (const Class& c : classes()) {
    if (c.about.name != name) continue;
    const Shape shape{m, n, std::min(k, c.about.longest_k)};
    Factors factors{shape.m, shape.n, shape.k, {}, {}};
    c.make(shape, Field(2 * seed), Field(2 * seed + 1), factors);
    return factors;
  }
  throw std::out_of_range("real data: no class " + name);
}

}  // namespace vernier::bench
