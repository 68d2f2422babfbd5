#include "lapack/kernels_body.hpp"

namespace vernier {

const KernelTable& avx2_kernels() { return table; }

}  // namespace vernier
