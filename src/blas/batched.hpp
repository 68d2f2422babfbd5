// Products of one shape on a GPU, all at once.
#pragma once

#include "product/call.hpp"
#include "vernier/cuda.hpp"

namespace vernier::cuda {

// By products of split matrices where they are faster than cuBLAS's batches, or by those where single products would
// be native. False, and nothing is done, where the products go one by one.
template <class T>
bool gemm_at_once(const StridedBatch<T>& batch, const Options& options, Report& report);

// By cuBLAS, where single products would be native and it does not pay to wait for the addresses. False, and nothing is
// done, elsewhere.
template <class T>
bool gemm_addressed_natively(const AddressedBatch<T>& batch, const Options& options, Report& report);

}  // namespace vernier::cuda
