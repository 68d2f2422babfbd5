// Factorisations and triangles in dd and binary128 in device memory: panels go to the host, products stay.
#include "vernier/quad.hpp"

#if VERNIER_HAS_CUDA

#include <optional>
#include <vector>

#include "cuda/device.hpp"
#include "engine/int8_engine.hpp"
#include "lapack/calls.hpp"
#include "lapack/quad/quad_calls.hpp"
#include "lapack/quad/quad_instances.hpp"
#include "lapack/quad/wide_copies.hpp"
#include "product/device_memory.hpp"
#include "product/kept_output.hpp"

namespace vernier::cuda {
namespace {

template <class T>
class DevicePlace {
 public:
  using Element = T;

  explicit DevicePlace(const QuadOptions& options)
      : options_(options), stream_(static_cast<cudaStream_t>(options.stream)) {}

  void check(const char* routine) const {
    check_factor_contract<T>(routine, options_.contract);
    const T* const none = nullptr;  // a product of no size checks the other options
    cuda::quad_gemm(Op::none, Op::none, 0, 0, 0, 1, none, 1, none, 1, 0, static_cast<T*>(nullptr), 1, options_);
  }
  int threads() const { return usable_threads(options_.threads); }
  void multiply(const GemmCall<T, double>& p) const {
    cuda::quad_gemm(p.opa, p.opb, p.m, p.n, p.k, p.alpha, p.a, p.lda, p.b, p.ldb, p.beta, p.c, p.ldc, options_);
  }
  template <class Use>
  void host(const Placed<T>& m, Access access, const Use& use) const {
    if (m.rows == 0 || m.columns == 0) return;
    std::vector<T> copy(static_cast<std::size_t>(m.rows * m.columns));
    const auto move = [&](const T* from, std::int64_t from_ld, T* to, std::int64_t to_ld, cudaMemcpyKind kind) {
      copy_columns(from, from_ld, to, to_ld, m.rows, m.columns, kind, stream_);
    };
    if (access != Access::write) move(m.x, m.ld, copy.data(), m.rows, cudaMemcpyDeviceToHost);
    use(copy.data(), m.rows);
    if (access != Access::read) move(copy.data(), m.rows, m.x, m.ld, cudaMemcpyHostToDevice);
  }
  void swap_rows(const Placed<T>& m, std::int64_t first, std::int64_t last, const std::int64_t* pivots) const {
    swap_rows_on_device({m.x, m.ld, m.columns}, first, last, pivots, stream_);
  }
  void normalise(const Placed<T>& m, std::int64_t slope) const {
    if constexpr (std::is_same_v<T, dd>) normalise_dd_on_device(m.rows, {m.x, m.ld, m.columns}, slope, stream_);
  }
  void transpose(const Placed<T>& from, const Placed<T>& to, bool lower) const {
    transpose_wide_on_device(from.rows, {from.x, from.ld, from.columns}, {to.x, to.ld, to.columns}, lower, stream_);
  }
  template <class Run>
  std::int64_t with_pivots(std::int64_t count, std::int64_t* pivots, const Run& run) const {
    std::vector<std::int64_t> list(static_cast<std::size_t>(count));
    const std::int64_t info = run(list.data());
    cuda::check(
        cudaMemcpyAsync(pivots, list.data(), list.size() * sizeof(std::int64_t), cudaMemcpyHostToDevice, stream_),
        "pivots");
    cuda::check(cudaStreamSynchronize(stream_), "pivots");
    return info;
  }

  // A copy, to put back where memory fails.
  class Keep {
   public:
    Keep(const Placed<T>& m, cudaStream_t stream) {
      if (m.rows == 0 || m.columns == 0) return;
      kept_.emplace(m.rows, m.columns, m.x, m.ld, stream);
    }
    void restore() const noexcept {
      if (kept_) kept_->restore();
    }

   private:
    std::optional<KeptOutput<T>> kept_;
  };
  Keep keep(const Placed<T>& m) const { return Keep(m, stream_); }

  class Buffer {
   public:
    Buffer(std::int64_t count, cudaStream_t stream) : memory_(static_cast<std::size_t>(count) * sizeof(T), stream) {}
    T* data() const { return reinterpret_cast<T*>(memory_.data()); }

   private:
    DeviceWorkspace memory_;
  };
  Buffer take(std::int64_t count) const { return Buffer(count, stream_); }

 private:
  const QuadOptions& options_;
  const cudaStream_t stream_;
};

}  // namespace

VERNIER_DEFINE_QUAD_FACTORS(DevicePlace)

}  // namespace vernier::cuda

#endif
