// Which entries of a product somebody wants: how a pass over a few wide rows leaves most of C alone.
#pragma once

#include <cstdint>

#include "number/host_device.hpp"

namespace vernier {

// Rows and columns carry sets of labels (of a product by residues: its proofs, residue/scale/scaling.hpp), of which
// there are three. Wanted are the entries whose row and column share a label, or those whose row and column share none.
struct EntryFilter {
  static constexpr int group = 32;     // vectors
  static constexpr unsigned sets = 8;  // of labels

  // In device memory, a word for each group: bit s is set where some vector of the group has the set s. Null: every
  // entry is wanted.
  const unsigned *rows = nullptr, *columns = nullptr;
  bool sharing = true;

  VERNIER_HD bool any() const { return rows != nullptr; }

  // Of groups, or of unions of groups.
  VERNIER_HD bool wants_some(unsigned row_sets, unsigned column_sets) const {
    for (unsigned r = 0; r < sets; ++r) {
      if ((row_sets >> r & 1) == 0) continue;
      for (unsigned c = 0; c < sets; ++c)
        if ((column_sets >> c & 1) != 0 && ((r & c) != 0) == sharing) return true;
    }
    return false;
  }

  // That hold vectors begin .. end - 1.
  VERNIER_HD static unsigned sets_of(const unsigned* groups, std::int64_t begin, std::int64_t end) {
    unsigned all = 0;
    for (std::int64_t g = begin / group; g * group < end; ++g) all |= groups[g];
    return all;
  }
};

}  // namespace vernier
