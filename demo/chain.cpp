#include "chain.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace demo {
namespace {

// Lengths in angstrom, angles in degrees.
// Backbone and side chain: R. A. Engh and R. Huber, Acta Cryst. A47 (1991) 392-400, the values of alanine.
namespace length {
constexpr double n_ca = 1.458, ca_c = 1.525, c_n = 1.329, c_o = 1.231, ca_cb = 1.521;
// Bonds to hydrogen: standard values of J. A. Pople and M. Gordon, J. Am. Chem. Soc. 89 (1967) 4253-4261.
constexpr double c_h = 1.09, n_h = 1.01;
}  // namespace length
namespace angle {
constexpr double n_ca_c = 111.2, ca_c_n = 116.2, c_n_ca = 121.7, ca_c_o = 120.8, c_ca_cb = 110.5;
constexpr double c_n_h = (360.0 - c_n_ca) / 2;  // the hydrogen of the planar peptide group halves what is left
constexpr double tetrahedral = 109.4712;
}  // namespace angle
// Right-handed alpha helix: S. Arnott and S. D. Dover, J. Mol. Biol. 30 (1967) 209-212 (polyalanine), rounded.
namespace torsion {
constexpr double phi = -57, psi = -47, omega = 180;
constexpr double n_c_ca_cb = 122.7;  // the L form: N, C and CB clockwise as seen from CA's hydrogen
}  // namespace torsion

Point operator+(const Point& a, const Point& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }
Point operator-(const Point& a, const Point& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
Point operator*(double s, const Point& a) { return {s * a[0], s * a[1], s * a[2]}; }
Point cross(const Point& a, const Point& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
double norm(const Point& a) { return std::hypot(a[0], a[1], a[2]); }
Point unit(const Point& a) { return 1 / norm(a) * a; }

constexpr double radians(double degrees) { return degrees * std::numbers::pi / 180; }

// The point d with |cd| = length, angle(b, c, d) and torsion(a, b, c, d) as given (J. Parsons et al., J. Comput. Chem.
// 26 (2005) 1063-1068, the natural extension reference frame).
Point place(const Point& a, const Point& b, const Point& c, double length, double angle, double torsion) {
  const Point x = unit(c - b), z = unit(cross(b - a, x)), y = cross(z, x);
  const double theta = radians(angle), chi = radians(torsion);
  return c +
         length * (-std::cos(theta) * x + std::sin(theta) * std::cos(chi) * y + std::sin(theta) * std::sin(chi) * z);
}

struct Backbone {
  Point n, ca, c;
};

Backbone first_backbone() {
  const double theta = radians(angle::n_ca_c);
  const Point ca = {length::n_ca, 0, 0};
  return {{0, 0, 0}, ca, ca + length::ca_c * Point{-std::cos(theta), std::sin(theta), 0}};
}

Point next_nitrogen(const Backbone& r) { return place(r.n, r.ca, r.c, length::c_n, angle::ca_c_n, torsion::psi); }

Backbone next_backbone(const Backbone& r) {
  const Point n = next_nitrogen(r);
  const Point ca = place(r.ca, r.c, n, length::n_ca, angle::c_n_ca, torsion::omega);
  return {n, ca, place(r.c, n, ca, length::ca_c, angle::n_ca_c, torsion::phi)};
}

// The hydrogen of a peptide nitrogen lies in the plane of the group, on the far side of the oxygen.
Point amide_hydrogen(const Backbone& before, const Point& n) {
  return place(before.ca, before.c, n, length::n_h, angle::c_n_h, torsion::omega - 180);
}

void add_carbons(std::vector<Atom>& atoms, const Backbone& r) {
  const Point cb = place(r.n, r.c, r.ca, length::ca_cb, angle::c_ca_cb, torsion::n_c_ca_cb);
  const Point outward = unit(unit(r.ca - r.n) + unit(r.ca - r.c) + unit(r.ca - cb));
  atoms.push_back({Element::carbon, r.ca});
  atoms.push_back({Element::hydrogen, r.ca + length::c_h * outward});
  atoms.push_back({Element::carbon, cb});
  for (const double chi : {60.0, 180.0, 300.0})
    atoms.push_back({Element::hydrogen, place(r.n, r.ca, cb, length::c_h, angle::tetrahedral, chi)});
  atoms.push_back({Element::carbon, r.c});
  atoms.push_back({Element::oxygen, place(r.n, r.ca, r.c, length::c_o, angle::ca_c_o, torsion::psi + 180)});
}

}  // namespace

std::vector<Atom> alanine_helix(int residues) {
  std::vector<Atom> atoms;
  Backbone r = first_backbone(), before = r;
  for (int i = 0; i < residues; ++i) {
    atoms.push_back({Element::nitrogen, r.n});
    if (i == 0) {
      for (const double chi : {60.0, 180.0})
        atoms.push_back({Element::hydrogen, place(r.c, r.ca, r.n, length::n_h, angle::tetrahedral, chi)});
    } else {
      atoms.push_back({Element::hydrogen, amide_hydrogen(before, r.n)});
    }
    add_carbons(atoms, r);
    before = r;
    r = next_backbone(r);
  }
  atoms.push_back({Element::nitrogen, r.n});
  atoms.push_back({Element::hydrogen, amide_hydrogen(before, r.n)});
  atoms.push_back({Element::hydrogen, place(before.ca, before.c, r.n, length::n_h, angle::c_n_h, torsion::omega)});
  return atoms;
}

double extent(const std::vector<Atom>& atoms) {
  double largest = 0;
  for (const Atom& a : atoms)
    for (const Atom& b : atoms) largest = std::max(largest, norm(a.position - b.position));
  return largest;
}

int valence_electrons(const std::vector<Atom>& atoms) {
  int sum = 0;
  for (const Atom& a : atoms)
    sum += a.element == Element::hydrogen   ? 1
           : a.element == Element::carbon   ? 4
           : a.element == Element::nitrogen ? 5
                                            : 6;
  return sum;
}

std::string formula(const std::vector<Atom>& atoms) {
  std::string text;
  const std::array order = {Element::carbon, Element::hydrogen, Element::nitrogen, Element::oxygen};
  for (std::size_t e = 0; e < order.size(); ++e) {
    const auto count = std::count_if(atoms.begin(), atoms.end(), [&](const Atom& a) { return a.element == order[e]; });
    if (count > 0) text += "CHNO"[e] + (count > 1 ? std::to_string(count) : "");
  }
  return text;
}

}  // namespace demo
