// The int8 products of cuBLAS, and a kernel that reduces their 32-bit sums, for as many moduli at once as caches hold:
// for every GPU from compute capability 8.0 on, and on Hopper a check of the engine written by hand.
#include "cuda/cublas.hpp"
#include "cuda/device.hpp"
#include "cuda/launch.hpp"
#include "engine/int8_engine_cuda.hpp"
#include "engine/summed_planes.hpp"

namespace vernier::cuda {
namespace {

constexpr int threads = 128;

struct PlaneReductions {
  ByteReduction<1> of[max_moduli];
};

// A thread: the 16 bytes of a unit that a thread of the wgmma kernel would hold. A row of the grid: one plane, of which
// out is the first.
__global__ void __launch_bounds__(threads)
    reduce_sums(const int* sums, std::int64_t ld, std::int64_t n, ProductUnits units,
                const __grid_constant__ PlaneReductions reductions, int first, int products, bool accumulate,
                std::int8_t* out, const Gate gate) {
  if (gate.closed()) return;
  const std::int64_t across = blockIdx.x / units.down, down = blockIdx.x % units.down, plane = blockIdx.y;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const ByteReduction<1> r = reductions.of[(first + plane) / products];
  sums += plane * ld * n;
  out += plane * units.plane_bytes() + (across * units.down + down) * unit_bytes + threadIdx.x * 16;
#pragma unroll
  for (int pair = 0; pair < 8; ++pair) {
    const std::int64_t i = down * unit_rows + lane % 4 * 2 + pair / 2 * 8;
    const std::int64_t j = across * unit_columns + warp * 16 + lane / 4 + pair % 2 * 8;
    if (i >= ld || j >= n) continue;  // beyond C, like the rows up to ld: nobody reads those bytes
    const int2 two = *reinterpret_cast<const int2*>(sums + i + j * ld);
    auto* to = reinterpret_cast<char2*>(out) + pair;
    const char2 before = accumulate ? *to : char2{};
    // The sums are signed: the reduction takes 2^31 out of its words again.
    const auto reduced = [&](int sum, int start) {
      const std::uint32_t word = static_cast<std::uint32_t>(sum) ^ 0x80000000u;
      return static_cast<signed char>(remainder_byte(dot_bytes(word, r.weights[0], r.start + start), r));
    };
    *to = {reduced(two.x, before.x), reduced(two.y, before.y)};
  }
}

class CublasInt8Engine final : public DeviceInt8Engine {
 public:
  std::string_view name() const override { return "cublas_int8"; }
  std::string_view description() const override { return "cuBLAS int8 products, from compute capability 8.0 on"; }
  std::string missing() const override {
    const std::string none = too_old(80);
    return none.empty() ? Cublas::missing() : none;
  }
  ByteForm form() const override { return ByteForm::symmetric; }
  std::int64_t longest_k() const override { return 65536; }  // sums of 128 * 128 below 2^31
  bool sums_in_memory() const override { return true; }

  void multiply(const DeviceInt8Product& p, cudaStream_t stream) const override {
    Cublas& cublas = thread_cublas();
    cublas.set_stream(stream);
    cublas.set_pointer_mode(CUBLAS_POINTER_MODE_HOST);
    const ProductUnits units = product_units(p.m, p.n);
    const std::int64_t ld = round_up(p.m, sums_row_unit);
    PlaneReductions reductions{};
    for (int q = 0; q < p.moduli; ++q)
      reductions.of[q] =
          make_byte_reduction<1>(modulus_of(p.list, p.first + q), p.factor[static_cast<std::size_t>(p.first + q)],
                                 {{{0, 31}}}, ByteForm::symmetric);
    const std::int64_t planes = std::int64_t{p.moduli} * p.products, together = summed_planes(p.m, p.n, planes);
    for (std::int64_t first = 0; first < planes; first += together) {
      const std::int64_t count = std::min(together, planes - first);
      add_up(cublas, p, first, count, first + count == planes);
      launch("reduce_sums", reduce_sums,
             {.grid = dim3(static_cast<unsigned>(units.across * units.down), static_cast<unsigned>(count)),
              .block = dim3(threads)},
             stream, p.scratch, ld, p.n, units, reductions, static_cast<int>(first), p.products, p.accumulate,
             p.out + first * units.plane_bytes(), p.gate);
    }
  }

 private:
  // Sums of `count` planes. The tensor cores take rows by four (cuBLAS, "Tensor Core Usage"). Rows beyond m are the
  // next plane's; behind the last plane there are none, and its last four rows are added up once more instead.
  static void add_up(Cublas& cublas, const DeviceInt8Product& p, std::int64_t first, std::int64_t count, bool last) {
    const std::int64_t ld = round_up(p.m, sums_row_unit), whole = p.m / sums_row_unit * sums_row_unit;
    const auto multiply = [&](std::int64_t plane, std::int64_t row, std::int64_t rows, std::int64_t products) {
      const int one = 1, zero = 0;
      cublas.gemm_batch_ex(Op::transpose, Op::none, rows, p.n, p.pitch, &one, p.rows + (plane * p.m + row) * p.pitch,
                           CUDA_R_8I, p.pitch, p.m * p.pitch, p.columns + plane * p.n * p.pitch, CUDA_R_8I, p.pitch,
                           p.n * p.pitch, &zero, p.scratch + (plane - first) * ld * p.n + row, CUDA_R_32I, ld, ld * p.n,
                           products, CUBLAS_COMPUTE_32I);
    };
    if (!last || ld == p.m) return multiply(first, 0, ld, count);
    const std::int64_t end = first + count - 1;
    if (count > 1) multiply(first, 0, ld, count - 1);
    multiply(end, 0, whole > 0 ? whole : p.m, 1);
    if (whole > 0) multiply(end, p.m - sums_row_unit, sums_row_unit, 1);
  }
};

}  // namespace

const DeviceInt8Engine& cublas_int8_engine() {
  static const CublasInt8Engine engine;
  return engine;
}

}  // namespace vernier::cuda
