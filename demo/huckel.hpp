// Extended Hueckel theory on a given overlap matrix, and its orbitals.
#pragma once

#include <functional>
#include <vector>

#include "basis.hpp"
#include "matrix.hpp"

namespace demo {

// H_ii = energy of function i;  H_ij = K S_ij (H_ii + H_jj) / 2 with K = 1.75 (M. Wolfsberg and L. Helmholz, J. Chem.
// Phys. 20 (1952) 837; R. Hoffmann, J. Chem. Phys. 39 (1963) 1397). In eV.
Matrix hamiltonian(const std::vector<Gaussian>& basis, const Matrix& S);

// Largest eigenvalue over smallest, of a symmetric positive definite matrix (LAPACK dsyevd).
double condition_number(Matrix S);

struct Orbitals {
  Matrix C;                      // column j is orbital j
  std::vector<double> energies;  // ascending, eV
};

// H C = S C diag(energies), C^T S C = I: Cholesky factor of S, reduction to a standard problem, divide and conquer (the
// steps of LAPACK's dsygvd). step(name) is called before each.
Orbitals solve(const Matrix& H, const Matrix& S, const std::function<void(const char*)>& step);

}  // namespace demo
