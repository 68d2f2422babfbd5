// Which way an irregular product goes where the device decides: the words that open the gates of the kernels which are
// queued for each way (cuda/gate.hpp).
#pragma once

namespace vernier::cuda {

// In device memory. The kernel that measures writes `irregular`, choose_route_on_device() the rest, as numbers of
// moduli or 1; all are 0 for a product that is regular, and so done already.
struct DeviceRoute {
  int irregular;
  int spanned;     // some entries are wide: block spans are to be measured, and the choice made anew
  int ordinary;    // ordinary entries have that many moduli; they are ...
  int uniform;     // ... all entries, and all elements are finite
  int mixed;       // ... or not
  int wide;        // moduli of wide entries, as one of the classes has them
  int conversion;  // of the wide entries' elements: conversion_of()
  int native;      // the conventional product takes C
  int unmet;       // nothing that is queued keeps the contract: C is left as it is
  // What the choice stands on, as Scaling and Report have it; rows and columns.
  int any_ordinary, any_wide, wide_exponent;
  int wide_vectors[2], span[2], nonfinite[2];
  int guessed;  // moduli of residues that were made before their scales were known to serve, and do
  double wide_log2;
};

// What is found out about such residues, in device memory; zeros before.
struct GuessFindings {
  int fails;  // 1: they do not serve; 0 also where nobody asked
  // Bit g: of the guesses of the one that is judged, balanced or not, number g + 1 of these:
  unsigned allowed;  // its errors of a sample are small enough
  unsigned coarse;   // some scale of it is too coarse
  unsigned judged;   // blocks of the kernel that judges
  int asymmetric;    // 1: op(B) is not op(A) transposed
};

// Words of a scaled element of wide entries; a conversion is queued for each number.
inline constexpr int few_route_words = 4, many_route_words = 6;
// ... by scales from the product of |A| and |B|; many words only from so many moduli on.
inline constexpr int bound_route_words[] = {2, 3, many_route_words};
inline constexpr int least_moduli_of_many_words = 26;
constexpr int conversion_of(int moduli, int words) { return 8 * moduli + words; }

// Numbers of moduli that wide entries may get. A launch fixes the number, so there is one for each class; more moduli
// than are needed carry the same integer.
inline constexpr int most_route_classes = 7;
struct RouteClasses {
  int count = 0;
  int moduli[most_route_classes] = {};         // rising
  double log2_bound[most_route_classes] = {};  // of the integer products that so many hold

  constexpr RouteClasses below(int most) const {
    RouteClasses fewer = *this;
    while (fewer.count > 0 && moduli[fewer.count - 1] >= most) --fewer.count;
    return fewer;
  }
};

// What the rows and columns together say about a product, gathered by the kernel that measures them; in device memory,
// zeros before a launch, and afterwards again.
struct RegularityState {
  // per operand: how much less than most_allowance is the least partners' roughness that a vector can stand, and the
  // largest roughness
  int shortfall[2], roughness[2];
  int some_not_own[2];  // vectors that are not proved by their own span
  int nonfinite;
  unsigned strips_done;

  static constexpr int most_allowance = 1 << 20;
};

}  // namespace vernier::cuda
