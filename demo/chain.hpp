// The molecule: an alpha helix of L-alanine, H-(Ala)_r-NH2, built from published bond lengths and angles.
#pragma once

#include <array>
#include <string>
#include <vector>

namespace demo {

enum class Element { hydrogen, carbon, nitrogen, oxygen };

using Point = std::array<double, 3>;  // angstrom

struct Atom {
  Element element;
  Point position;
};

// The helix of r >= 1 residues: 10 r + 4 atoms, in the order of the chain.
std::vector<Atom> alanine_helix(int residues);

// The largest distance between two atoms, angstrom.
double extent(const std::vector<Atom>& atoms);

int valence_electrons(const std::vector<Atom>& atoms);

std::string formula(const std::vector<Atom>& atoms);  // "C3H8N2O"

}  // namespace demo
