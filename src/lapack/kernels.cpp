#include "lapack/kernels.hpp"

#include "base/cpu_features.hpp"
#include "lapack/kernels_body.hpp"

namespace vernier {
namespace {

const KernelTable& best_kernels() {
#if VERNIER_X86
  if (missing_features(InstructionSet::avx512_vnni).empty()) return avx512_kernels();
  if (missing_features(InstructionSet::avx2).empty()) return avx2_kernels();
#endif
  return portable_kernels();
}

}  // namespace

const KernelTable& portable_kernels() { return table; }

const KernelTable& kernels() {
  static const KernelTable& best = best_kernels();
  return best;
}

}  // namespace vernier
