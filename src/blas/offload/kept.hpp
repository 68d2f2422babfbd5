// Products of blocks that share operands: residues that one product makes of an operand serve the next ones.
#pragma once

#include <cstddef>
#include <memory>

#include "product/call.hpp"
#include "vernier/cuda.hpp"

namespace vernier {

// An operand on a device that several products read.
struct KeptOperand {
  bool wanted = false;               // by later products, and memory holds it
  std::shared_ptr<const void> made;  // of it, or null
};

namespace cuda {

// Bytes of what is kept of an operand at most; 0: nothing is kept of this type, or under this contract.
template <class T>
std::size_t kept_bytes(std::int64_t vectors, std::int64_t k, const Contract& contract);

// cuda::gemm of matrices on the current device, with C's bits under contracts that promise them. What is wanted is
// made, or read; where residues by ordinary scales do not serve the data, nothing is wanted any more.
template <class T>
Report gemm_keeping(const GemmCall<T>& call, const Options& options, KeptOperand& a, KeptOperand& b);

}  // namespace cuda
}  // namespace vernier
