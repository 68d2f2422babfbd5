// A Gaussian basis on the atoms of a molecule, and its overlap matrix.
#pragma once

#include <vector>

#include "chain.hpp"
#include "matrix.hpp"

namespace demo {

// One normalised Cartesian Gaussian at R (bohr), r = x - R:
//     s:  (2 a / pi)^(3/4) exp(-a r^2)            p:  2 sqrt(a) (2 a / pi)^(3/4) r_axis exp(-a r^2)
struct Gaussian {
  static constexpr int s = -1;  // value of axis

  Point centre;     // bohr
  double exponent;  // a, bohr^-2
  int axis;         // s, or 0, 1, 2 for p_x, p_y, p_z
  double energy;    // the diagonal element of the model Hamiltonian, eV
};

// Functions of the basis a residue and the two ends of the chain add.
int functions_per_residue();
int functions_of_ends();

std::vector<Gaussian> gaussian_basis(const std::vector<Atom>& atoms);

// S_ij = <i|j>: A. Szabo and N. S. Ostlund, Modern Quantum Chemistry, appendix A, for s; S. Obara and A. Saika, J.
// Chem. Phys. 84 (1986) 3963, for p. Symmetric, with a unit diagonal. Elements below 2^-53, the rounding error of the
// diagonal, are dropped, as programs of quantum chemistry do.
Matrix overlap_matrix(const std::vector<Gaussian>& basis);

}  // namespace demo
