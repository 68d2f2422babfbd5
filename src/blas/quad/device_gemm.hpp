// cuda::quad_gemm: arguments, complex matrices as real ones, and what no product is needed for.
#pragma once

#include <chrono>
#include <complex>
#include <type_traits>

#include "base/status.hpp"
#include "blas/quad/complex_operand.hpp"
#include "blas/quad/contract.hpp"
#include "cuda/device.hpp"
#include "product/arguments.hpp"
#include "product/device_memory.hpp"
#include "residue/quad/quad_gemm_cuda.hpp"

namespace vernier::cuda {

struct QuadCall {
  double alpha, beta;
  const QuadOptions& options;
  QuadReport& report;

  cudaStream_t stream() const { return static_cast<cudaStream_t>(options.stream); }
};

template <class TA, class TB>
void multiply_on_device(const Operand<TA>& a, const Operand<TB>& b, dd* c, std::int64_t ldc, const QuadCall& call) {
  const DeviceInt8Engine& engine = find_device_int8_engine(call.options.engine);
  call.report.engine = engine.name();
  quad_product_on_device({device_operand(a), device_operand(b), call.alpha, call.beta, c, ldc,
                          goal_of<dd>(call.options.contract).bits, call.options.contract.rounding},
                         engine, call.options, call.report);
}

template <class T>
void multiply_complex(const ComplexOperand& a, const ComplexOperand& b, dd* c, std::int64_t ldc, const QuadCall& call) {
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
  multiply_on_device(rows_of<T>(Op::none, left, 2 * a.rows, 2 * a.columns, 2 * a.rows),
                     columns_of<T>(Op::none, right, b.columns, 2 * b.rows, 2 * b.rows), c, ldc, call);
}

#if defined(__SIZEOF_FLOAT128__)
// gemm_binary128.cpp
template <class TA, class TB>
void multiply_on_device(const Operand<TA>& a, const Operand<TB>& b, binary128* c, std::int64_t ldc,
                        const QuadCall& call);
void scale_on_device(std::int64_t m, std::int64_t n, binary128* c, std::int64_t ldc, const QuadCall& call);
#endif

// C = beta C; contract exact rounds once, as the host does it.
void scale_on_device(std::int64_t m, std::int64_t n, dd* c, std::int64_t ldc, const QuadCall& call);

template <class TA, class TB, class TC>
QuadReport quad_gemm(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, double alpha, const TA* A,
                     std::int64_t lda, const TB* B, std::int64_t ldb, double beta, TC* C, std::int64_t ldc,
                     const QuadOptions& options) {
  constexpr const char* routine = "quad_gemm";
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
  const QuadCall call{alpha, beta, options, report};
  if (capturing(call.stream()))
    fail(Status::unsupported, "{}: cannot be captured in a graph, since the host chooses its moduli by the data",
         routine);
  find_device_int8_engine(options.engine);
  if (!reads) {
    if constexpr (is_complex_entry<TC>)
      scale_on_device(2 * m, n, reinterpret_cast<dd*>(C), 2 * ldc, call);
    else
      scale_on_device(m, n, C, ldc, call);
  } else if constexpr (is_complex_entry<TC>) {
    constexpr int doubles = sizeof(TA) / sizeof(std::complex<double>);
    using Part = std::conditional_t<doubles == 2, dd, double>;
    multiply_complex<Part>({opa, m, k, reinterpret_cast<const double*>(A), lda, doubles},
                           {opb, k, n, reinterpret_cast<const double*>(B), ldb, doubles}, reinterpret_cast<dd*>(C),
                           2 * ldc, call);
  } else {
    multiply_on_device(rows_of(opa, A, m, k, lda), columns_of(opb, B, n, k, ldb), C, ldc, call);
  }
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

}  // namespace vernier::cuda
