// Residues of scaled elements as a product of byte matrices, weights times bytes of the elements, for the tensor
// instructions of a warp: which lane holds which weights, and where its residues go. Host and device.
//
// One instruction (mma m16n8k32) multiplies 16 rows of weights by 8 columns of bytes. Every lane brings the two words
// of an element of its own; lane 4 n + c thereby fills bytes 4 c .. 4 c + 3 and 16 + 4 c .. of column n. A row of
// weights that is zero but for those bytes picks that element out of the column. Hence four moduli by four lanes c in
// 16 rows, and the residues of 32 elements modulo four p in one instruction.
#pragma once

#include "number/host_device.hpp"

namespace vernier {

inline constexpr int fragment_moduli = 4;  // of one instruction

// Elements are taken in pieces of 128: lane L has the four from 4 chunk_of_lane(L) on. Then a lane's 16 residues, of
// one modulus, lie side by side.
VERNIER_HD constexpr int chunk_of_lane(int lane) {
  const int n = lane / 4, c = lane % 4;
  return n / 2 * 8 + c % 2 * 4 + c / 2 * 2 + n % 2;
}

// Row g = lane / 4 of the weights, and row g + 8 (upper), are those of modulus g / 2 for lane c = g % 2 or g % 2 + 2.
VERNIER_HD constexpr int fragment_modulus(int lane) { return lane / 8; }
VERNIER_HD constexpr bool holds_weights(int lane, bool upper) { return lane % 4 == lane / 4 % 2 + (upper ? 2 : 0); }

// Where the lane's 16 residues begin in the piece.
VERNIER_HD constexpr int fragment_byte(int lane) { return lane % 4 * 32 + lane / 4 % 2 * 16; }

// Where one or two moduli are left over by groups of four, two pieces share the instruction's rows: those of modulus 2
// h + j serve modulus j for piece h. A lane then has weights for one piece alone, and gets residues of that one.
VERNIER_HD constexpr int shared_modulus(int lane) { return fragment_modulus(lane) % 2; }
VERNIER_HD constexpr int shared_piece(int lane) { return fragment_modulus(lane) / 2; }

// What groups of four take of so many moduli, so that none, one or two are left.
VERNIER_HD constexpr int grouped_moduli(int moduli) { return (moduli + 1) / fragment_moduli * fragment_moduli; }

}  // namespace vernier
