// cuda::quad_gemm of binary128. Kernels read elements as three doubles and round T; what follows T in binary128's own
// arithmetic, which no GPU has, the host computes.
#include "vernier/quad.hpp"

#if VERNIER_HAS_CUDA && defined(__SIZEOF_FLOAT128__)

#include "blas/quad/device_gemm.hpp"
#include "blas/quad/instantiate.hpp"
#include "blas/quad/scale.hpp"

namespace vernier::cuda {
namespace {

// Memory of an operand's parts; none for double.
template <class T>
class SplitOperand {
 public:
  SplitOperand(const Operand<T>& x, cudaStream_t stream) : operand_(device_operand(x)) { (void)stream; }
  const DeviceQuadOperand& get() const { return operand_; }

 private:
  DeviceQuadOperand operand_;
};

template <>
class SplitOperand<binary128> {
 public:
  SplitOperand(const Operand<binary128>& x, cudaStream_t stream) : memory_(carve(Arena{}, x), stream) {
    carve(memory_.arena(), x);
    const Binary128View view{reinterpret_cast<const ulonglong2*>(x.data), x.vectors, x.k, x.ld, x.k_contiguous};
    find_exponents_on_device(view, exponents_, stream);
    split_binary128_on_device(view, exponents_, parts_, stream);
    operand_ = {{parts_, x.vectors, x.k, 3 * x.k, 3, 3}, exponents_, [x] { return host_copy(x); }};
  }
  const DeviceQuadOperand& get() const { return operand_; }

 private:
  std::size_t carve(Arena arena, const Operand<binary128>& x) {
    parts_ = arena.take<double>(static_cast<std::size_t>(3 * x.vectors * x.k));
    exponents_ = arena.take<VectorExponents>(static_cast<std::size_t>(x.vectors));
    return arena.used();
  }

  double* parts_ = nullptr;
  VectorExponents* exponents_ = nullptr;
  DeviceWorkspace memory_;
  DeviceQuadOperand operand_;
};

// C, m x n, in host memory and back.
class HostMatrix {
 public:
  HostMatrix(std::int64_t m, std::int64_t n, cudaStream_t stream)
      : data(static_cast<std::size_t>(m * n)), m_(m), n_(n), stream_(stream) {}
  void read(const binary128* from, std::int64_t ld) { copy(data.data(), m_, from, ld, cudaMemcpyDeviceToHost); }
  void write(binary128* to, std::int64_t ld) const { copy(to, ld, data.data(), m_, cudaMemcpyHostToDevice); }

  std::vector<binary128> data;

 private:
  void copy(binary128* to, std::int64_t ld_to, const binary128* from, std::int64_t ld_from, cudaMemcpyKind kind) const {
    const auto bytes = [](std::int64_t count) { return static_cast<std::size_t>(count) * sizeof(binary128); };
    check(cudaMemcpy2DAsync(to, bytes(ld_to), from, bytes(ld_from), bytes(m_), static_cast<std::size_t>(n_), kind,
                            stream_),
          "C");
    check(cudaStreamSynchronize(stream_), "C");
  }

  const std::int64_t m_, n_;
  const cudaStream_t stream_;
};

}  // namespace

template <class TA, class TB>
void multiply_on_device(const Operand<TA>& a, const Operand<TB>& b, binary128* c, std::int64_t ldc,
                        const QuadCall& call) {
  const DeviceInt8Engine& engine = find_device_int8_engine(call.options.engine);
  call.report.engine = engine.name();
  const SplitOperand<TA> rows(a, call.stream());
  const SplitOperand<TB> columns(b, call.stream());
  const auto product = [&](double alpha, double beta, binary128* to, std::int64_t ld) {
    quad_product_on_device({rows.get(), columns.get(), alpha, beta, reinterpret_cast<dd*>(to), ld,
                            goal_of<binary128>(call.options.contract).bits, call.options.contract.rounding, true},
                           engine, call.options, call.report);
  };
  if (goal_of<binary128>(call.options.contract).exact() || (call.beta == 0 && is_power_of_two(call.alpha)))
    return product(call.alpha, call.beta, c, ldc);
  const std::int64_t m = a.vectors, n = b.vectors;
  const DeviceWorkspace memory(static_cast<std::size_t>(m * n) * sizeof(binary128), call.stream());
  auto* const t = reinterpret_cast<binary128*>(memory.data());
  product(1, 0, t, m);
  HostMatrix known(m, n, call.stream()), result(m, n, call.stream());
  known.read(t, m);
  if (call.beta != 0) result.read(c, ldc);
  update_binary128(call.alpha, known.data, call.beta, result.data);
  result.write(c, ldc);
}

void scale_on_device(std::int64_t m, std::int64_t n, binary128* c, std::int64_t ldc, const QuadCall& call) {
  if (call.beta == 1 || m == 0 || n == 0) return;
  HostMatrix result(m, n, call.stream());
  if (call.beta != 0) result.read(c, ldc);
  scale_quad(m, n, call.beta, result.data.data(), m, call.options.contract);
  result.write(c, ldc);
}

VERNIER_INSTANTIATE_BINARY128_GEMM()

}  // namespace vernier::cuda

#endif
