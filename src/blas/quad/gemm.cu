// cuda::quad_gemm: arguments, complex matrices as real ones, and what no product is needed for.
#include <chrono>
#include <complex>

#include "base/environment.hpp"
#include "base/status.hpp"
#include "blas/quad/complex_operand.hpp"
#include "blas/quad/contract.hpp"
#include "blas/quad/instantiate.hpp"
#include "blas/quad/scale.hpp"
#include "cuda/device.hpp"
#include "product/arguments.hpp"
#include "product/device_memory.hpp"
#include "product/operand_blocks.hpp"
#include "residue/quad/quad_gemm_cuda.hpp"

namespace vernier::cuda {
namespace {

constexpr const char* routine = "quad_gemm";

struct Call {
  double alpha, beta;
  const QuadOptions& options;
  QuadReport& report;

  cudaStream_t stream() const { return static_cast<cudaStream_t>(options.stream); }
};

template <class TA, class TB>
void multiply(const Operand<TA>& a, const Operand<TB>& b, dd* c, std::int64_t ldc, const Call& call) {
  const DeviceInt8Engine& engine = find_device_int8_engine(call.options.engine);
  call.report.engine = engine.name();
  quad_product_on_device(
      DeviceQuadProblem<TA, TB>{a, b, call.alpha, call.beta, c, ldc, goal_of<dd>(call.options.contract).bits,
                                call.options.contract.rounding},
      engine, call.options, call.report);
}

template <class T>
void multiply_complex(const ComplexOperand& a, const ComplexOperand& b, dd* c, std::int64_t ldc, const Call& call) {
  const auto carve = [&](Arena& arena, T*& left, T*& right) {
    left = arena.take<T>(static_cast<std::size_t>(4 * a.rows * a.columns));
    right = arena.take<T>(static_cast<std::size_t>(2 * b.rows * b.columns));
  };
  T *left = nullptr, *right = nullptr;
  Arena size{};
  carve(size, left, right);
  const DeviceWorkspace memory(size.used(), call.stream());
  Arena arena = memory.arena();
  carve(arena, left, right);
  expand_complex_on_device(a, true, reinterpret_cast<double*>(left), call.stream());
  expand_complex_on_device(b, false, reinterpret_cast<double*>(right), call.stream());
  multiply(rows_of<T>(Op::none, left, 2 * a.rows, 2 * a.columns, 2 * a.rows),
           columns_of<T>(Op::none, right, b.columns, 2 * b.rows, 2 * b.rows), c, ldc, call);
}

// C = beta C; contract exact rounds once, as the host does it.
void scale(std::int64_t m, std::int64_t n, dd* c, std::int64_t ldc, const Call& call) {
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

}  // namespace

template <class TA, class TB, class TC>
QuadReport quad_gemm(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, double alpha, const TA* A,
                     std::int64_t lda, const TB* B, std::int64_t ldb, double beta, TC* C, std::int64_t ldc,
                     const QuadOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  check_sizes(routine, opa, opb, {m, n, k}, lda, ldb, ldc);
  const bool reads = alpha != 0 && k > 0 && m > 0 && n > 0;
  check_pointer(routine, "A", reads, A);
  check_pointer(routine, "B", reads, B);
  check_pointer(routine, "C", m > 0 && n > 0, C);
  goal_of<TC>(options.contract);
  check_exact<TC>(options.contract, alpha, beta);
  QuadReport report;
  report.type = type_name<TC>();
  report.contract = contract_text<TC>(options.contract);
  report.m = m, report.n = n, report.k = k;
  const Call call{alpha, beta, options, report};
  if (capturing(call.stream()))
    fail(Status::unsupported, "{}: cannot be captured in a graph, since the host chooses its moduli by the data",
         routine);
  find_device_int8_engine(options.engine);
  constexpr int parts = is_complex_entry<TC> ? 2 : 1;
  dd* const c = reinterpret_cast<dd*>(C);
  if (!reads) {
    scale(parts * m, n, c, parts * ldc, call);
  } else if constexpr (is_complex_entry<TC>) {
    constexpr int doubles = sizeof(TA) / sizeof(std::complex<double>);
    using Part = std::conditional_t<doubles == 2, dd, double>;
    multiply_complex<Part>({opa, m, k, reinterpret_cast<const double*>(A), lda, doubles},
                           {opb, k, n, reinterpret_cast<const double*>(B), ldb, doubles}, c, 2 * ldc, call);
  } else {
    multiply(rows_of(opa, A, m, k, lda), columns_of(opb, B, n, k, ldb), c, ldc, call);
  }
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

VERNIER_INSTANTIATE_QUAD_GEMM()

}  // namespace vernier::cuda
