// cuda::quad_gemm: arguments, complex matrices as real ones, and what no product is needed for.
#pragma once

#include <vector>

#include "base/duration.hpp"
#include "base/status.hpp"
#include "blas/quad/arguments.hpp"
#include "blas/quad/complex_operand.hpp"
#include "cuda/device.hpp"
#include "product/device_memory.hpp"
#include "residue/quad/quad_gemm_cuda.hpp"

namespace vernier::cuda {

struct QuadCall {
  double alpha, beta;
  const QuadOptions& options;
  QuadReport& report;

  cudaStream_t stream() const { return static_cast<cudaStream_t>(options.stream); }
};

// C, m x n, in host memory and back.
template <class T>
class OutputOnHost {
 public:
  OutputOnHost(std::int64_t m, std::int64_t n, cudaStream_t stream)
      : data(static_cast<std::size_t>(m * n)), m_(m), n_(n), stream_(stream) {}
  void read(const T* from, std::int64_t ld) { copy(data.data(), m_, from, ld, cudaMemcpyDeviceToHost); }
  void write(T* to, std::int64_t ld) const { copy(to, ld, data.data(), m_, cudaMemcpyHostToDevice); }

  std::vector<T> data;

 private:
  void copy(T* to, std::int64_t ld_to, const T* from, std::int64_t ld_from, cudaMemcpyKind kind) const {
    const auto bytes = [](std::int64_t count) { return static_cast<std::size_t>(count) * sizeof(T); };
    check(cudaMemcpy2DAsync(to, bytes(ld_to), from, bytes(ld_from), bytes(m_), static_cast<std::size_t>(n_), kind,
                            stream_),
          "C");
    check(cudaStreamSynchronize(stream_), "C");
  }

  const std::int64_t m_, n_;
  const cudaStream_t stream_;
};

template <class TA, class TB>
void multiply_on_device(const Operand<TA>& a, const Operand<TB>& b, dd* c, std::int64_t ldc, const QuadCall& call) {
  const DeviceInt8Engine& engine = find_device_int8_engine(call.options.engine);
  call.report.engine = engine.name();
  quad_product_on_device({device_operand(a), device_operand(b), call.alpha, call.beta, c, ldc,
                          goal_of<dd>(call.options.contract).bits, call.options.contract.rounding},
                         engine, call.options, call.report);
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

template <class T, class R>
void multiply_complex(const ComplexOperand& a, const ComplexOperand& b, R* c, std::int64_t ldc, const QuadCall& call) {
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
  expand_complex_on_device(a, true, left, call.stream());
  expand_complex_on_device(b, false, right, call.stream());
  multiply_on_device(rows_of<T>(Op::none, left, 2 * a.rows, 2 * a.columns, 2 * a.rows),
                     columns_of<T>(Op::none, right, b.columns, 2 * b.rows, 2 * b.rows), c, ldc, call);
}

template <class TA, class TB, class TC>
QuadReport quad_gemm(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, double alpha, const TA* A,
                     std::int64_t lda, const TB* B, std::int64_t ldb, double beta, TC* C, std::int64_t ldc,
                     const QuadOptions& options) {
  const Clock clock;
  const QuadCallArguments<TC> arguments{opa, opb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc};
  QuadReport report = checked_quad_call(arguments, options);
  const QuadCall call{alpha, beta, options, report};
  if (capturing(call.stream()))
    fail(Status::unsupported,
         "quad_gemm: cannot be captured in a graph, since the host chooses its moduli by the data");
  find_device_int8_engine(options.engine);
  PartOf<TC>* const c = parts_of(C);
  constexpr std::int64_t parts = parts_of_entry<TC>;
  if (!reads_operands(arguments)) {
    scale_on_device(parts * m, n, c, parts * ldc, call);
    check(cudaStreamSynchronize(call.stream()), "quad_gemm");
  } else if constexpr (is_complex_entry<TC>) {
    multiply_complex<PartOf<TA>>(complex_operand(opa, m, k, A, lda), complex_operand(opb, k, n, B, ldb), c, 2 * ldc,
                                 call);
  } else {
    multiply_on_device(rows_of(opa, A, m, k, lda), columns_of(opb, B, n, k, ldb), c, ldc, call);
  }
  report.seconds = clock.seconds();
  return report;
}

}  // namespace vernier::cuda
