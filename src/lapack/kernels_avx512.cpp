#include "lapack/kernels_body.hpp"

namespace vernier {

const KernelTable& avx512_kernels() { return table; }

}  // namespace vernier
