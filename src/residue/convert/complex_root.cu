#include "residue/convert/complex_root.hpp"

#include <algorithm>

#include "base/instantiate.hpp"
#include "cuda/launch.hpp"
#include "cuda/turn.cuh"

namespace vernier::cuda {
namespace {

// Remainders of 17 bits: t mod p = t - p floor(t M / 2^32), M = floor(2^32 / p) + 1, since t < 2^32 / p.
struct RootModulus {
  std::uint32_t p, root, inverse;

  __device__ std::uint32_t remainder(std::uint32_t t) const { return t - p * __umulhi(t, inverse); }
};

struct RootModuli {
  RootModulus of[most_complex_moduli];

  explicit RootModuli(int count) : of{} {
    for (int q = 0; q < count; ++q) {
      const int p = modulus_of(ModuliList::with_root, q);
      const auto unsigned_p = static_cast<std::uint32_t>(p);
      of[q] = {unsigned_p, static_cast<std::uint32_t>(root_of_minus_one(p)), 0xffffffffU / unsigned_p + 1};
    }
  }
};

// ---- pairs of operands ---------------------------------------------------------------------------------------------

constexpr int pair_threads = 128, pairs_each = 8;

// A thread takes 16 bytes, eight pairs, of one vector and one modulus.
__global__ void __launch_bounds__(pair_threads)
    pair_residues(const __grid_constant__ ComplexPlanes task, const __grid_constant__ RootModuli moduli) {
  if (task.irregular != nullptr && *task.irregular != 0) return;
  const RootModulus modulus = moduli.of[blockIdx.z];
  const std::uint32_t root = task.conjugated ? modulus.p - modulus.root : modulus.root, other = modulus.p - root;
  const std::int64_t pitch_in = device_pitch(2 * task.k), pitch_out = device_pitch(task.k);
  const std::int64_t at = (std::int64_t{blockIdx.y} * pair_threads + threadIdx.x) * pairs_each;
  if (at >= pitch_out) return;
  for (std::int64_t vector = blockIdx.x; vector < task.vectors; vector += gridDim.x) {
    const std::int64_t row = std::int64_t{blockIdx.z} * task.vectors + vector;
    uint4 in{};
    if (2 * at < pitch_in) in = *reinterpret_cast<const uint4*>(task.parts + row * pitch_in + 2 * at);
    const std::uint32_t words[4] = {in.x, in.y, in.z, in.w};
    std::uint32_t plus[2] = {}, minus[2] = {};
#pragma unroll
    for (int i = 0; i < pairs_each; ++i) {
      const std::uint32_t both = words[i / 2] >> (16 * (i % 2)), x = both & 255, y = both >> 8 & 255;
      plus[i / 4] |= modulus.remainder(x + root * y) << (8 * (i % 4));
      minus[i / 4] |= modulus.remainder(x + other * y) << (8 * (i % 4));
    }
    *reinterpret_cast<uint2*>(task.plus + row * pitch_out + at) = make_uint2(plus[0], plus[1]);
    *reinterpret_cast<uint2*>(task.minus + row * pitch_out + at) = make_uint2(minus[0], minus[1]);
  }
}

// ---- parts of the product ------------------------------------------------------------------------------------------

constexpr int unit_pieces = unit_bytes / 16;  // a thread's 16 bytes each

struct Parts {
  std::uint32_t real, imaginary;  // as int8
};

__device__ Parts parts_of(int plus, int minus, const RootModulus& m) {
  const auto symmetric = [&](std::uint32_t r) { return (r > m.p / 2 ? r - m.p : r) & 255; };
  const auto offset = static_cast<int>(2 * m.p);  // above the sum of two bytes
  const auto sum = static_cast<std::uint32_t>(plus + minus + offset);
  const auto difference = static_cast<std::uint32_t>(plus - minus + offset);
  return {symmetric(m.remainder(sum)), symmetric(m.remainder(difference * (m.p - m.root)))};
}

// A block takes one unit of 64 x 32 entries to the two that its rows become. In a unit (engine/panel_cuda.hpp) a piece
// of 16 bytes belongs to a column and a pair of rows r, r + 1 modulo 8; its word w holds the rows of octet w, and in it
// are the bytes of this column and of that eight further, two rows each. Those two rows become Re and Im of one.
__global__ void __launch_bounds__(unit_pieces)
    part_residues(const __grid_constant__ ComplexProduct task, const __grid_constant__ RootModuli moduli,
                  ProductUnits from, ProductUnits to) {
  __shared__ uint4 plus[unit_pieces], minus[unit_pieces];
  if (task.irregular != nullptr && *task.irregular != 0) return;
  const RootModulus modulus = moduli.of[blockIdx.z];
  const std::int64_t down = blockIdx.x, across = blockIdx.y;
  const std::int64_t unit = std::int64_t{blockIdx.z} * from.across * from.down + across * from.down + down;
  const int piece = static_cast<int>(threadIdx.x);
  plus[piece] = reinterpret_cast<const uint4*>(task.plus)[unit * unit_pieces + piece];
  minus[piece] = reinterpret_cast<const uint4*>(task.minus)[unit * unit_pieces + piece];
  __syncthreads();
  const int quad = piece % 4,
            first = piece - quad + quad / 2;  // rows quad + 4a of the half, in pieces first, first + 2
  const auto word = [](const uint4* pieces, int at, int w) {
    return reinterpret_cast<const std::uint32_t*>(pieces + at)[w];
  };
  for (int half = 0; half < 2; ++half) {
    if (2 * down + half >= to.down) break;
    std::uint32_t out[4];
#pragma unroll
    for (int a = 0; a < 4; ++a) {
      const int at = first + 2 * (a % 2), w = 2 * half + a / 2;
      const std::uint32_t one = word(plus, at, w) >> (8 * (quad % 2)), two = word(minus, at, w) >> (8 * (quad % 2));
      const auto byte = [](std::uint32_t x, int i) {
        return static_cast<int>(static_cast<std::int8_t>(x >> (16 * i)));
      };
      const Parts here = parts_of(byte(one, 0), byte(two, 0), modulus),
                  beyond = parts_of(byte(one, 1), byte(two, 1), modulus);
      out[a] = here.real | here.imaginary << 8 | beyond.real << 16 | beyond.imaginary << 24;
    }
    const std::int64_t target = std::int64_t{blockIdx.z} * to.across * to.down + across * to.down + 2 * down + half;
    reinterpret_cast<uint4*>(task.out)[target * unit_pieces + piece] = make_uint4(out[0], out[1], out[2], out[3]);
  }
}

// ---- turned operands, doubled scales -------------------------------------------------------------------------------

template <class R>
struct Number {
  R re, im;
};

template <class R>
__global__ void turn(std::int64_t m, std::int64_t k, const Number<R>* a, std::int64_t lda, Number<R>* out) {
  const std::int64_t i0 = std::int64_t{blockIdx.x} * turned_side;
  for (std::int64_t l0 = std::int64_t{blockIdx.y} * turned_side; l0 < k; l0 += std::int64_t{gridDim.y} * turned_side) {
    move_tile<Number<R>>(
        l0, i0, true, [&](std::int64_t l, std::int64_t i) { return i < m && l < k ? a[i + l * lda] : Number<R>{}; },
        [&](std::int64_t i, std::int64_t l, Number<R> x) {
          if (i < m && l < k) out[l + i * k] = x;
        });
    __syncthreads();
  }
}

__global__ void double_scales(std::int64_t count, const int* in, int* out) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < 2 * count) out[i] = in[i / 2];
}

template <class R>
__global__ void expand_rows(const __grid_constant__ RealRows<R> rows) {
  if (rows.gate.closed()) return;
  const R own = rows.conjugated.a ? R{-1} : R{1}, partner = rows.conjugated.b ? R{-1} : R{1};
  for (std::int64_t v = blockIdx.y; v < rows.vectors; v += gridDim.y) {
    const auto* from = reinterpret_cast<const Number<R>*>(rows.from + v * rows.ld);
    auto* re = reinterpret_cast<Number<R>*>(rows.to + 4 * v * rows.k);
    auto* im = re + rows.k;
    for (std::int64_t l = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; l < rows.k;
         l += std::int64_t{gridDim.x} * blockDim.x) {
      const R x = from[l].re, y = own * from[l].im;
      re[l] = {x, -partner * y};
      im[l] = {y, partner * x};
    }
  }
}

unsigned blocks(std::int64_t count, std::int64_t size) { return static_cast<unsigned>(divide_up(count, size)); }
unsigned at_most_65535(std::int64_t count) { return static_cast<unsigned>(std::min<std::int64_t>(count, 65535)); }

}  // namespace

template <class R>
void turn_on_device(std::int64_t m, std::int64_t k, const R* a, std::int64_t lda, R* out, cudaStream_t stream) {
  launch("turn", turn<R>,
         {.grid = dim3(blocks(m, turned_side), at_most_65535(divide_up(k, turned_side))), .block = turning_threads()},
         stream, m, k, reinterpret_cast<const Number<R>*>(a), lda, reinterpret_cast<Number<R>*>(out));
}
VERNIER_REAL_INSTANCES(turn_on_device, expand_rows_on_device)

void pair_on_device(const ComplexPlanes& planes, cudaStream_t stream) {
  const unsigned across = blocks(device_pitch(planes.k), pair_threads * pairs_each);
  launch("pair_residues", pair_residues,
         {.grid = dim3(at_most_65535(planes.vectors), across, static_cast<unsigned>(planes.moduli)),
          .block = dim3(pair_threads)},
         stream, planes, RootModuli(planes.moduli));
}

void part_on_device(const ComplexProduct& product, cudaStream_t stream) {
  const ProductUnits from = product_units(product.m, product.n), to = product_units(2 * product.m, product.n);
  launch("part_residues", part_residues,
         {.grid = dim3(static_cast<unsigned>(from.down), static_cast<unsigned>(from.across),
                       static_cast<unsigned>(product.moduli)),
          .block = dim3(unit_pieces)},
         stream, product, RootModuli(product.moduli), from, to);
}

template <class R>
void expand_rows_on_device(const RealRows<R>& rows, cudaStream_t stream) {
  launch("expand_rows", expand_rows<R>,
         {.grid = dim3(static_cast<unsigned>(std::min<std::int64_t>(divide_up(rows.k, 256), 16)),
                       at_most_65535(rows.vectors)),
          .block = dim3(256)},
         stream, rows);
}

void double_on_device(std::int64_t count, const int* in, int* out, cudaStream_t stream) {
  launch("double_scales", double_scales, {.grid = dim3(blocks(2 * count, 256)), .block = dim3(256)}, stream, count, in,
         out);
}

}  // namespace vernier::cuda
