// Where a thread's residues of C lie, and the sums of the Chinese remainder theorem of four entries at a time, on a
// device.
#pragma once

#include "engine/panel_cuda.hpp"
#include "residue/recombine/crt.hpp"

namespace vernier::cuda {

// So many bytes of a plane, the at-th of it: of 16, which a thread of the product kernel stored, or of a part of them.
// Pairs of rows, and with eight bytes or more the same eight rows further on, of two columns that are eight apart.
template <int Bytes>
struct UnitPlace {
  std::int64_t row, column;  // of the first element

  __device__ UnitPlace(const ProductUnits& units, std::int64_t at) {
    constexpr int pieces = 16 / Bytes;
    const std::int64_t unit = at / (unit_bytes / Bytes), across = unit / units.down, down = unit - across * units.down;
    const int piece = static_cast<int>(at % pieces), lane = static_cast<int>(at / pieces % 32),
              warp = static_cast<int>(at / (32 * pieces) % 4);
    row = down * unit_rows + piece * (unit_rows / pieces) + lane % 4 * 2;
    column = across * unit_columns + warp * 16 + lane / 4;
  }
};

// Four entries from one word of every plane, load(modulus): bytes 0 and 1 are rows of one column, 2 and 3 of another.
// Pairs: how many pairs of moduli there are, or 0 for tables.pairs. Sums are not reduced: whoever rounds them does that
// one entry at a time, for the registers.
template <int Pairs, class Sums, class Tables, class Load>
__device__ __forceinline__ void sum_four(const Tables& tables, int moduli, Load load, Sums (&sums)[4]) {
  const auto add_pair = [&](int g) {
    const std::uint32_t a = load(2 * g), b = 2 * g + 1 < moduli ? load(2 * g + 1) : 0;
    const std::uint32_t low = __byte_perm(a, b, 0x5140), high = __byte_perm(a, b, 0x7362);
    sums[0].add(joined_residues(tables.pair[g], low, 0), tables, g);
    sums[1].add(joined_residues(tables.pair[g], low, 1), tables, g);
    sums[2].add(joined_residues(tables.pair[g], high, 0), tables, g);
    sums[3].add(joined_residues(tables.pair[g], high, 1), tables, g);
  };
  if constexpr (Pairs > 0) {
#pragma unroll
    for (int g = 0; g < Pairs; ++g) add_pair(g);
  } else {
#pragma unroll 1
    for (int g = 0; g < tables.pairs; ++g) add_pair(g);
  }
}

}  // namespace vernier::cuda
