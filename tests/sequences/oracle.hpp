// What a contract promises of one real number, alpha x.y + beta c, decided without rounding.
#pragma once

#include <string>
#include <vector>

#include "vernier/rounding.hpp"

namespace vernier::sequences {

struct Promise {
  const char* text;  // for vernier_set_contract, null: the type's own
  int bits;          // 0: rounded once, in that direction
  bool normwise = false;
  Rounding rounding = Rounding::nearest;
};

// Contracts that a call of this type is tried with: 'S', 'D', 'C' or 'Z'.
const std::vector<Promise>& promises(char type);

struct Number {
  std::vector<double> x, y;
  double alpha, beta, before, result;
  bool single, complex;
  bool alpha_first = false;  // the call multiplies a factor by alpha first: subnormal, or beyond
};

// Are intermediate results of the native product, or of scaling by alpha, perhaps beyond the type?
bool may_overflow(const Number& number);

// "" or what is wrong with the result. NaN and infinities of x and y are those of IEEE 754; where alpha, beta or c are
// none that a bound speaks of, nothing is said.
std::string fault_of(const Promise& promise, const Number& number);

}  // namespace vernier::sequences
