// cuda::quad_gemm of dd and complex_dd.
#include "blas/quad/device_gemm.hpp"
#include "blas/quad/instantiate.hpp"
#include "blas/quad/scale.hpp"

namespace vernier::cuda {

void scale_on_device(std::int64_t m, std::int64_t n, dd* c, std::int64_t ldc, const QuadCall& call) {
  const bool exact = call.options.contract.kind == QuadContract::Kind::exact;
  if (!exact || call.beta == 0 || call.beta == 1 || m == 0 || n == 0)
    return scale_dd_on_device(m, n, call.beta, c, ldc, call.stream());
  std::vector<dd> host(static_cast<std::size_t>(m * n));
  const auto bytes = [](std::int64_t count) { return static_cast<std::size_t>(count) * sizeof(dd); };
  const auto copy = [&](dd* to, std::int64_t ld_to, const dd* from, std::int64_t ld_from, cudaMemcpyKind kind) {
    check(cudaMemcpy2DAsync(to, bytes(ld_to), from, bytes(ld_from), bytes(m), static_cast<std::size_t>(n), kind,
                            call.stream()),
          "C");
    check(cudaStreamSynchronize(call.stream()), "C");
  };
  copy(host.data(), m, c, ldc, cudaMemcpyDeviceToHost);
  scale_quad(m, n, call.beta, host.data(), m, call.options.contract);
  copy(c, ldc, host.data(), m, cudaMemcpyHostToDevice);
}

VERNIER_INSTANTIATE_QUAD_GEMM()

}  // namespace vernier::cuda
