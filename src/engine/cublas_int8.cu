// The int8 products of cuBLAS, one modulus after another, and a kernel that reduces their 32-bit sums: for every GPU
// from compute capability 8.0 on, and on Hopper a check of the engine written by hand.
#include "cuda/cublas.hpp"
#include "cuda/device.hpp"
#include "cuda/launch.hpp"
#include "engine/device_int8_engine.hpp"

namespace vernier::cuda {
namespace {

constexpr int threads = 128;
constexpr std::int64_t row_unit = 4;

// A thread: the 16 bytes of a unit that a thread of the wgmma kernel would hold.
__global__ void __launch_bounds__(threads)
    reduce_sums(const int* sums, std::int64_t ld, std::int64_t m, std::int64_t n, std::int64_t units_down,
                const __grid_constant__ ByteReduction<1> r, bool accumulate, std::int8_t* out, const Gate gate) {
  if (gate.closed()) return;
  const std::int64_t across = blockIdx.x / units_down, down = blockIdx.x % units_down;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  std::int8_t* to = out + (across * units_down + down) * unit_bytes + threadIdx.x * 16;
  for (int byte = 0; byte < 16; ++byte) {
    const std::int64_t i = down * unit_rows + lane % 4 * 2 + byte / 4 * 8 + byte % 2;
    const std::int64_t j = across * unit_columns + warp * 16 + lane / 4 + byte / 2 % 2 * 8;
    const int sum = i < m && j < n ? sums[i + j * ld] : 0;
    const int start = r.start + (accumulate ? to[byte] : 0);
    // The sum is signed: the reduction takes 2^31 out of its words again.
    const std::uint32_t word = static_cast<std::uint32_t>(sum) ^ 0x80000000u;
    to[byte] = static_cast<std::int8_t>(remainder_byte(dot_bytes(word, r.weights[0], start), r));
  }
}

class CublasInt8Engine final : public DeviceInt8Engine {
 public:
  std::string_view name() const override { return "cublas_int8"; }
  std::string_view description() const override { return "cuBLAS int8 products, from compute capability 8.0 on"; }
  std::string missing() const override {
    const std::string none = missing_device();
    if (!none.empty()) return none;
    if (current_device().compute_capability < least_capability()) return "a GPU of compute capability 8.0 or later";
    return Cublas::missing();
  }
  int least_capability() const override { return 80; }
  ByteForm form() const override { return ByteForm::symmetric; }
  std::int64_t longest_k() const override { return 65536; }  // sums of 128 * 128 below 2^31
  std::size_t scratch_bytes(std::int64_t m, std::int64_t n) const override {
    return static_cast<std::size_t>(round_up(m, row_unit) * n) * sizeof(int);
  }

  void multiply(const DeviceInt8Product& p, cudaStream_t stream) const override {
    Cublas& cublas = thread_cublas();
    cublas.set_stream(stream);
    cublas.set_pointer_mode(CUBLAS_POINTER_MODE_HOST);
    const ProductUnits units = product_units(p.m, p.n);
    const std::int64_t ld = round_up(p.m, row_unit);
    const int one = 1, zero = 0;
    auto* sums = static_cast<int*>(p.scratch);
    const int planes = p.moduli * p.products;
    for (int plane = 0; plane < planes; ++plane) {
      const auto i = static_cast<std::size_t>(plane), q = static_cast<std::size_t>(p.first + plane / p.products);
      const auto add_up = [&](std::int64_t first, std::int64_t rows) {
        cublas.gemm_ex(Op::transpose, Op::none, rows, p.n, p.pitch, &one, p.rows + (i * p.m + first) * p.pitch,
                       CUDA_R_8I, p.pitch, p.columns + i * p.n * p.pitch, CUDA_R_8I, p.pitch, &zero, sums + first,
                       CUDA_R_32I, ld, CUBLAS_COMPUTE_32I);
      };
      // The tensor cores take rows by four (cuBLAS, "Tensor Core Usage"). Rows beyond m are the next plane's; behind
      // the last plane there are none, and its last four rows are added up once more instead.
      const bool last = plane + 1 == planes;
      add_up(0, last && p.m > row_unit ? p.m / row_unit * row_unit : last ? p.m : ld);
      if (last && p.m > row_unit && p.m % row_unit != 0) add_up(p.m - row_unit, row_unit);
      const auto reduction =
          make_byte_reduction<1>(modulus_of(p.list, q), p.factor[q], {{{0, 31}}}, ByteForm::symmetric);
      launch("reduce_sums", reduce_sums,
             {.grid = dim3(static_cast<unsigned>(units.across * units.down)), .block = dim3(threads)}, stream, sums, ld,
             p.m, p.n, units.down, reduction, p.accumulate, p.out + i * units.plane_bytes(), p.gate);
    }
  }
};

}  // namespace

const DeviceInt8Engine& cublas_int8_engine() {
  static const CublasInt8Engine engine;
  return engine;
}

}  // namespace vernier::cuda
