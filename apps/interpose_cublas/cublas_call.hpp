// From cuBLAS's terms to those of a Call.
#pragma once

#include <optional>

#include "cublas.hpp"
#include "symbol.hpp"

namespace vernier::interpose::cublas {

inline bool complex_type(vernier_type type) { return type == VERNIER_C || type == VERNIER_Z; }

// Values that are none of cuBLAS's become 0. For real types the conjugate transpose is the transpose.
inline char op_letter(int op, vernier_type type) {
  return op == op_n ? 'N' : op == op_t ? 'T' : op == op_c ? (complex_type(type) ? 'C' : 'T') : 0;
}
inline char uplo_letter(int uplo) { return uplo == lower ? 'L' : uplo == upper ? 'U' : 0; }
inline char side_letter(int side) { return side == left ? 'L' : side == right ? 'R' : 0; }
inline char diag_letter(int diag) { return diag == non_unit ? 'N' : diag == unit ? 'U' : 0; }

std::optional<vernier_type> type_of(int data_type);
// Does that type of computation leave it to the library how the type's own precision is reached?
bool leaves_it_open(vernier_type type, int compute_type);

bool is_zero(vernier_type type, const void* factor);
bool is_zero_on_host(Handle handle, vernier_type type, const void* factor);  // as the pointer mode allows to see

// A batch of which a product fails is passed on whole, others of it done or not: it must not read what they have
// written.
bool can_be_redone(const Call& call);

// Offers a call, of sizes that concern, with the stream and the modes of the cuBLAS handle; true if it is done.
bool offer(Symbol& symbol, Handle handle, Call& call);

}  // namespace vernier::interpose::cublas
