// Matrices of dd in two arrays in device memory.
#include "lapack/quad/quad_arrays.hpp"

#if VERNIER_HAS_CUDA

#include "cuda/device.hpp"
#include "lapack/quad/wide_copies.hpp"
#include "product/device_memory.hpp"

namespace vernier::cuda {
namespace {

class DeviceArrays {
 public:
  class Packed {
   public:
    Packed(std::int64_t count, cudaStream_t stream)
        : memory_(static_cast<std::size_t>(count + 1) * sizeof(dd), stream) {}
    dd* data() const { return reinterpret_cast<dd*>(memory_.data()); }

   private:
    DeviceWorkspace memory_;
  };

  explicit DeviceArrays(const QuadOptions& options)
      : options_(options), stream_(static_cast<cudaStream_t>(options.stream)) {}

  void check() const {  // of the options, by a product of no size
    const dd* const none = nullptr;
    cuda::quad_gemm(Op::none, Op::none, 0, 0, 0, 1, none, 1, none, 1, 0, static_cast<dd*>(nullptr), 1, options_);
  }
  Packed take(std::int64_t count) const { return Packed(count, stream_); }
  void pack(const ConstDdArrays& x, const ArraysShape& s, dd* to) const {
    if (s.rows > 0 && s.columns > 0) pack_dd_on_device(x, s, to, stream_);
  }
  void unpack(const dd* from, const ArraysShape& s, const DdArrays& x) const {
    if (s.rows > 0 && s.columns > 0) unpack_dd_on_device(from, s, x, stream_);
    cuda::check(cudaStreamSynchronize(stream_), "arrays of dd");
  }

 private:
  const QuadOptions& options_;
  const cudaStream_t stream_;
};

}  // namespace

VERNIER_DEFINE_QUAD_ARRAYS(DeviceArrays, vernier::cuda)

}  // namespace vernier::cuda

#endif
