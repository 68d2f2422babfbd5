// cuda::quad_gemm of dd and complex_dd.
#include "blas/quad/device_gemm.hpp"
#include "blas/quad/instantiate.hpp"
#include "blas/quad/scale.hpp"

namespace vernier::cuda {

void scale_on_device(std::int64_t m, std::int64_t n, dd* c, std::int64_t ldc, const QuadCall& call) {
  const bool exact = call.options.contract.kind == QuadContract::Kind::exact;
  if (!exact || call.beta == 0 || call.beta == 1 || m == 0 || n == 0)
    return scale_dd_on_device(m, n, call.beta, c, ldc, call.stream());
  OutputOnHost<dd> host(m, n, call.stream());
  host.read(c, ldc);
  scale_quad(m, n, call.beta, host.data.data(), m, call.options.contract);
  host.write(c, ldc);
}

VERNIER_INSTANTIATE_QUAD_GEMM()

}  // namespace vernier::cuda
