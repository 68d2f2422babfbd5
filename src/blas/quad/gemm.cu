// cuda::quad_gemm: arguments, and what no product is needed for.
#include <chrono>

#include "base/environment.hpp"
#include "base/status.hpp"
#include "blas/quad/instantiate.hpp"
#include "cuda/device.hpp"
#include "product/arguments.hpp"
#include "residue/quad/quad_gemm_cuda.hpp"

namespace vernier::cuda {
namespace {

constexpr const char* routine = "quad_gemm";
constexpr int least_bits = 4, most_bits = 150;

int bits_of(const QuadContract& contract) {
  using Kind = QuadContract::Kind;
  require(contract.kind >= Kind::by_type && contract.kind <= Kind::exact, "{}: contract: unknown kind {}", routine,
          static_cast<int>(contract.kind));
  if (contract.kind == Kind::exact || contract.kind == Kind::fp128 || contract.rounding != Rounding::nearest)
    fail(Status::unsupported, "{}: contract {} on a GPU: expected dd or bits(n), rounded to nearest", routine,
         contract.text());
  if (contract.kind != Kind::bits) return 106;
  require(contract.bits_asked >= least_bits && contract.bits_asked <= most_bits,
          "{}: contract bits({}): expected a number from {} to {}", routine, contract.bits_asked, least_bits,
          most_bits);
  return contract.bits_asked;
}

}  // namespace

template <class TA, class TB>
QuadReport quad_gemm(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, double alpha, const TA* A,
                     std::int64_t lda, const TB* B, std::int64_t ldb, double beta, dd* C, std::int64_t ldc,
                     const QuadOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  check_shape(routine, opa, opb, m, n, k);
  check_leading_dimensions(routine, opa, opb, m, n, k, lda, ldb, ldc);
  const bool reads = alpha != 0 && k > 0 && m > 0 && n > 0;
  check_pointer(routine, "A", reads, A);
  check_pointer(routine, "B", reads, B);
  check_pointer(routine, "C", m > 0 && n > 0, C);
  const int bits = bits_of(options.contract);
  const auto stream = static_cast<cudaStream_t>(options.stream);
  if (capturing(stream))
    fail(Status::unsupported, "{}: cannot be captured in a graph, since the host chooses its moduli by the data",
         routine);
  QuadReport report;
  report.type = "dd";
  report.contract = options.contract.kind == QuadContract::Kind::by_type ? "dd" : options.contract.text();
  report.m = m, report.n = n, report.k = k;
  const DeviceInt8Engine& engine = find_device_int8_engine(options.engine);
  if (reads) {
    report.engine = engine.name();
    quad_product_on_device(
        DeviceQuadProblem<TA, TB>{rows_of(opa, A, m, k, lda), columns_of(opb, B, n, k, ldb), alpha, beta, C, ldc, bits},
        engine, options, report);
  } else {
    scale_dd_on_device(m, n, beta, C, ldc, stream);
  }
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

VERNIER_INSTANTIATE_QUAD_GEMM()

}  // namespace vernier::cuda
