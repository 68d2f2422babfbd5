// float products of many shapes under the default contract, as a caller has them, beside cuBLAS.
#pragma once

namespace bench {

// A line for each shape: microseconds of one call from rest and of one among many, of cuBLAS, of the contract and of
// the error-corrected product whatever the estimate says.
void sweep();

}  // namespace bench
