// C = alpha T + beta C from complete sums of elements.
#pragma once

#include "residue/partial/pass_data.hpp"
#include "residue/scale/scaling.hpp"

namespace vernier {

template <class T>
struct Finish {
  std::span<const PassData> passes;
  const std::byte* const* elements;  // of each pass
  std::int64_t ld;
  bool exact;
  Rounding rounding;                                       // of exact
  std::span<const VectorProof> row_proofs, column_proofs;  // of all rows and columns: which entries are ordinary
  T alpha, beta;
  MatrixPart<T> c;
};

template <class T>
void finish_part(const Finish<T>& finish);

// C = beta C
template <class T>
void scale_part(T beta, const MatrixPart<T>& c, Rounding rounding);

}  // namespace vernier
