#include "basis.hpp"

#include <cmath>
#include <numbers>

namespace demo {
namespace {

constexpr double bohr_per_angstrom = 1 / 0.529177210903;  // CODATA 2018
constexpr double smallest_overlap = 0x1p-53;              // the rounding error of the unit diagonal

// Primitive exponents in bohr^-2, tight to diffuse: the outer valence functions of 6-31G (W. J. Hehre, R. Ditchfield
// and J. A. Pople, J. Chem. Phys. 56 (1972) 2257), uncontracted; the diffuse function of 6-31++G (T. Clark et al., J.
// Comput. Chem. 4 (1983) 294); and for C, N and O one more at a third of its exponent, even-tempered, as doubly
// augmented basis sets have it. Diffuse functions on atoms that are 1 to 1.5 angstrom apart are nearly linearly
// dependent: there the condition number comes from.
//
// Energies in eV: the ionisation energies of the extended Hueckel method (R. Hoffmann, J. Chem. Phys. 39 (1963) 1397;
// for N and O as in J. H. Ammeter et al., J. Am. Chem. Soc. 100 (1978) 3686).
struct ElementBasis {
  std::array<double, 3> exponents;
  bool has_p;
  double s_energy, p_energy;
};

const ElementBasis& element_basis(Element element) {
  static const ElementBasis hydrogen = {{0.6401217, 0.1612778, 0.0360}, false, -13.6, 0};
  static const ElementBasis carbon = {{0.1687144, 0.0438, 0.0146}, true, -21.4, -11.4};
  static const ElementBasis nitrogen = {{0.2120315, 0.0639, 0.0213}, true, -26.0, -13.4};
  static const ElementBasis oxygen = {{0.2700058, 0.0845, 0.0282}, true, -32.3, -14.8};
  switch (element) {
    case Element::hydrogen:
      return hydrogen;
    case Element::carbon:
      return carbon;
    case Element::nitrogen:
      return nitrogen;
    default:
      return oxygen;
  }
}

int basis_size(const std::vector<Atom>& atoms) { return static_cast<int>(gaussian_basis(atoms).size()); }

double norm_factor(const Gaussian& g) {
  const double s = std::pow(2 * g.exponent / std::numbers::pi, 0.75);
  return g.axis == Gaussian::s ? s : 2 * std::sqrt(g.exponent) * s;
}

// <a|b> without the factors of normalisation. With p = a + b and P the weighted centre,
//     <s|s>     = (pi / p)^(3/2) exp(-a b R_AB^2 / p)
//     <p_i|s>   = (P - A)_i <s|s>
//     <p_i|p_j> = ((P - A)_i (P - B)_j + delta_ij / (2 p)) <s|s>
double primitive_overlap(const Gaussian& a, const Gaussian& b) {
  const double p = a.exponent + b.exponent;
  double r2 = 0;
  Point to_a, to_b;  // P - A, P - B
  for (int x = 0; x < 3; ++x) {
    const double ab = b.centre[x] - a.centre[x];
    r2 += ab * ab;
    to_a[x] = b.exponent / p * ab;
    to_b[x] = -a.exponent / p * ab;
  }
  const double ss = std::pow(std::numbers::pi / p, 1.5) * std::exp(-a.exponent * b.exponent / p * r2);
  if (a.axis == Gaussian::s && b.axis == Gaussian::s) return ss;
  if (b.axis == Gaussian::s) return to_a[a.axis] * ss;
  if (a.axis == Gaussian::s) return to_b[b.axis] * ss;
  return (to_a[a.axis] * to_b[b.axis] + (a.axis == b.axis ? 0.5 / p : 0.0)) * ss;
}

}  // namespace

int functions_of_ends() { return basis_size(alanine_helix(1)) - functions_per_residue(); }

int functions_per_residue() { return basis_size(alanine_helix(2)) - basis_size(alanine_helix(1)); }

std::vector<Gaussian> gaussian_basis(const std::vector<Atom>& atoms) {
  std::vector<Gaussian> basis;
  for (const Atom& atom : atoms) {
    const ElementBasis& element = element_basis(atom.element);
    Point centre = atom.position;
    for (double& x : centre) x *= bohr_per_angstrom;
    for (const double exponent : element.exponents) {
      basis.push_back({centre, exponent, Gaussian::s, element.s_energy});
      for (int axis = 0; element.has_p && axis < 3; ++axis) basis.push_back({centre, exponent, axis, element.p_energy});
    }
  }
  return basis;
}

Matrix overlap_matrix(const std::vector<Gaussian>& basis) {
  const auto n = static_cast<std::int64_t>(basis.size());
  Matrix S(n, n);
#pragma omp parallel for schedule(dynamic, 16)
  for (std::int64_t j = 0; j < n; ++j) {
    S(j, j) = 1;
    for (std::int64_t i = 0; i < j; ++i) {
      const double s = norm_factor(basis[i]) * norm_factor(basis[j]) * primitive_overlap(basis[i], basis[j]);
      S(i, j) = S(j, i) = std::abs(s) < smallest_overlap ? 0.0 : s;
    }
  }
  return S;
}

}  // namespace demo
