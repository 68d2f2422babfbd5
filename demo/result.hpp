// Everything the demonstration found out, as a table for a person and as JSON.
#pragma once

#include <string>
#include <vector>

#include "measure.hpp"

namespace demo {

struct System {
  int residues = 0, atoms = 0, functions = 0, occupied = 0;
  std::string formula;
  double extent = 0;               // angstrom
  double condition = 0;            // of the overlap matrix
  double lowest = 0, highest = 0;  // orbital energies, eV: the first, the last occupied
  int repeats = 0;
};

struct ProductRow {
  std::string product, by;
  ProductResult result;
  double ratio = 0;  // OpenBLAS fp64's seconds over these
};

struct OrbitalRow {
  std::string by;
  std::string failure;
  double orthogonality = 0;       // max |C^T S C - I|
  double orthogonality_lost = 0;  // max |C^T S C - the reference's|; NaN if there is none
  double off_diagonal = 0;        // max |(C^T H C)_ij|, i /= j, both occupied, eV
  double energy_lost = 0;         // max |C^T H C - the reference's|, both occupied, eV; NaN if there is none
  bool reference = false;
};

struct Result {
  System system;
  std::vector<ProductRow> products;
  std::vector<OrbitalRow> orbitals;
  std::string headline;  // what the machine gains and what it costs; empty: it is faster
  std::vector<std::string> notes;
};

void print_table(const Result& result);  // on stdout
std::string json(const Result& result);

}  // namespace demo
