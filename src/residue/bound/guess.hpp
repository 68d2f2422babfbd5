// Scales that residues on a GPU may have before the product of |A| and |B| is known: those of the norms of vectors, as
// much as some moduli hold (docs/accuracy.md, theorem 12). Host and device.
#pragma once

#include "number/host_device.hpp"

namespace vernier::cuda {

// Rows may have norms of so many 32nds of a bit more than columns' equal share of what the moduli hold, columns less.
struct Guess {
  int moduli, share_32;
  bool balanced = false;  // of operands that are balanced along k (balance.hpp)
};

// Guesses have numbers from 1 on, 0 is none. The first four have the least moduli: scales are powers of two, which lose
// up to a bit of each side's share, and with another share one side loses less. Behind most_guesses come balanced ones.
inline constexpr int guess_shares = 4, most_guesses = 8, balanced_guesses = 4, largest_share_32 = 16;
constexpr bool is_balanced(int number) { return number > most_guesses; }
VERNIER_HD constexpr Guess guess_of(int least_moduli, int number) {
  constexpr int shares[guess_shares] = {0, -8, 8, largest_share_32};
  if (number > most_guesses) return {least_moduli + number - most_guesses - 1, 0, true};
  if (number <= guess_shares) return {least_moduli, shares[number - 1]};
  return {least_moduli + number - guess_shares, 0};
}

// Of more moduli than this beyond the least, the scales that the bound asks for decide, and more of k is to be known.
VERNIER_HD constexpr bool judged_finely(int least_moduli, int moduli) { return moduli > least_moduli + 1; }

}  // namespace vernier::cuda
