// Tables that depend on a pass alone, made once a process: they take a quarter of a millisecond, some of the time of
// small products. Thread-safe, never destroyed.
#pragma once

#include "residue/recombine/recombine.hpp"
#include "residue/residues.hpp"

namespace vernier {

const DigitTables& digit_tables(int moduli, PanelSide side, bool narrow, int limbs);
const RecombineTables& recombine_tables(int moduli);

}  // namespace vernier
