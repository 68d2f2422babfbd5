// Products whose operands travel as numbers: PBLAS brings whole rows of op(A) and whole columns of op(B) to the process
// that has the entries of C, which multiplies them like any product of one process.
#pragma once

#include "whole_panels.hpp"

namespace vernier::interpose {

// How many rows and columns of C are multiplied at a time, so that panels of all k fit into memory; the same on every
// process. None: panels are too large for the matrices, or for PBLAS; or one process has so much more of C than a fair
// share that it had better stay with A or B: a small C with a long k lies on few processes.
struct Pieces {
  int rows = 0, columns = 0;
  bool any() const { return rows > 0 && columns > 0; }
};
Pieces pieces_of(const Grid& grid, const DistributedCall& call, double most_shares);

// Of residues, whose elements cost some four times a number's product; of the BLAS.
inline constexpr double most_shares_of_residues = 4, most_shares_of_blas = 2;

// C = alpha op(A) op(B) + beta C on the local part of C, or on a copy of it. No process leaves early: what fails on one
// is told afterwards.
struct PanelOutcome {
  vernier_status status;
  double seconds;  // of the local products; the rest of the time is PBLAS's
};
// whole: the panels, allocated, where they need not come through PBLAS; else null
// all_reserved(bytes of a panel of rows, of columns): memory for both, on every process; they all ask before each piece
using AllReserved = std::function<bool(double rows, double columns)>;
PanelOutcome multiply_panels(const DistributedCall& call, const Pieces& pieces, vernier_handle handle,
                             const vernier_part& c, WholePanels* whole, const AllReserved& all_reserved);

}  // namespace vernier::interpose
