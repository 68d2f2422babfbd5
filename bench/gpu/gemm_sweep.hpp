// double products of many shapes under the default contract, as a caller has them, beside cuBLAS.
#pragma once

namespace bench {

// A line for the machine, then for each shape: microseconds of one call from rest and of one among many, of cuBLAS, of
// the contract and of residues whatever the estimate says. Medians of so many turns.
void sweep_gemm(int turns);

}  // namespace bench
