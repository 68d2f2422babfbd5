// The matrix instructions of Hopper, one type each, and how a warpgroup runs one on operands in shared memory.
//
// Of all but fp64 k is 32 bytes. Shared memory holds 64 rows of A and 8 of B (columns), 128 bytes each in the 128-byte
// swizzle of wgmma: four k slices of 32 bytes, which are four independent products for wgmma (64 x 8 results) or for
// four warps' mma.sync (16 x 8 results each).
#include <cuda_runtime.h>

#include <string_view>

#include "cuda/matrix_fragments.cuh"
#include "cuda/status.hpp"
#include "model/hardware/gpu.hpp"
#include "model/spec.hpp"

namespace vernier::model::gpu {
namespace {

// A warp's fragments depend on bytes only: register r of A holds bytes 4t ... 4t+3 (+ 16 for r >= 2) of row g (+ 8 for
// odd r), where g = lane / 4 and t = lane % 4; d holds (g, 2t), (g, 2t+1), (g+8, 2t), (g+8, 2t+1), two to a register if
// they are fp16. a and b of wgmma are operands in shared memory (cuda::wgmma_operand). Sparse instructions: A holds two
// of every four elements, and four bits of metadata a group say which two.

using Words2 = std::uint32_t[2];
using Words4 = std::uint32_t[4];

#define VERNIER_D2(d) "+r"(d[0]), "+r"(d[1])
#define VERNIER_D4(d) "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
#define VERNIER_R2(x) "r"(x[0]), "r"(x[1])
#define VERNIER_R4(x) "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3])

// What is needed to run an instruction: its name in the list of hardware engines, is it a warpgroup's, is it sparse,
// what is its engine. run(): the assembly of the arguments behind.
#define VERNIER_INSTRUCTION(NAME, LISTED, ENGINE, WARPGROUP, SPARSE, PARAMETERS, ...) \
  struct NAME {                                                                       \
    static constexpr std::string_view name = LISTED;                                  \
    static constexpr bool warpgroup = WARPGROUP, sparse = SPARSE;                     \
    static constexpr Engine engine = ENGINE;                                          \
    static __device__ void run PARAMETERS { asm volatile(__VA_ARGS__); }              \
  };
#define VERNIER_MMA(NAME, LISTED, ENGINE, ASM)                                                            \
  VERNIER_INSTRUCTION(NAME, LISTED, ENGINE, false, false, (Words4 & d, const Words4& a, const Words2& b), \
                      "mma.sync.aligned." ASM " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"    \
                      : VERNIER_D4(d)                                                                     \
                      : VERNIER_R4(a), VERNIER_R2(b))
#define VERNIER_MMA_HALF(NAME, LISTED, ENGINE, ASM)                                                       \
  VERNIER_INSTRUCTION(NAME, LISTED, ENGINE, false, false, (Words4 & d, const Words4& a, const Words2& b), \
                      "mma.sync.aligned." ASM " {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};"                \
                      : VERNIER_D2(d)                                                                     \
                      : VERNIER_R4(a), VERNIER_R2(b))
#define VERNIER_MMA_SPARSE(NAME, LISTED, ENGINE, ASM)                                            \
  VERNIER_INSTRUCTION(NAME, LISTED, ENGINE, false, true,                                         \
                      (Words4 & d, const Words4& a, const Words4& b, std::uint32_t metadata),    \
                      "mma.sp::ordered_metadata.sync.aligned." ASM                               \
                      " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9,%10,%11}, {%0,%1,%2,%3}, %12, 0x0;" \
                      : VERNIER_D4(d)                                                            \
                      : VERNIER_R4(a), VERNIER_R4(b), "r"(metadata))
#define VERNIER_ALONE(ASM)                                                                      \
  "{\n .reg .pred p;\n setp.ne.b32 p, 1, 0;\n wgmma.fence.sync.aligned;\n wgmma.mma_async." ASM \
  ";\n wgmma.commit_group.sync.aligned;\n wgmma.wait_group.sync.aligned 0;\n}"
#define VERNIER_WGMMA(NAME, LISTED, ENGINE, ASM, TAIL)                                                   \
  VERNIER_INSTRUCTION(NAME, LISTED, ENGINE, true, false, (Words4 & d, std::uint64_t a, std::uint64_t b), \
                      VERNIER_ALONE("sync.aligned." ASM " {%0,%1,%2,%3}, %4, %5, p" TAIL)                \
                      : VERNIER_D4(d)                                                                    \
                      : "l"(a), "l"(b)                                                                   \
                      : "memory")
#define VERNIER_WGMMA_HALF(NAME, LISTED, ENGINE, ASM, TAIL)                                              \
  VERNIER_INSTRUCTION(NAME, LISTED, ENGINE, true, false, (Words4 & d, std::uint64_t a, std::uint64_t b), \
                      VERNIER_ALONE("sync.aligned." ASM " {%0,%1}, %2, %3, p" TAIL)                      \
                      : VERNIER_D2(d)                                                                    \
                      : "l"(a), "l"(b)                                                                   \
                      : "memory")
#define VERNIER_WGMMA_SPARSE(NAME, LISTED, ENGINE, ASM)                                                    \
  VERNIER_INSTRUCTION(NAME, LISTED, ENGINE, true, true,                                                    \
                      (Words4 & d, std::uint64_t a, std::uint64_t b, std::uint32_t metadata),              \
                      VERNIER_ALONE("sp.sync.aligned." ASM " {%0,%1,%2,%3}, %4, %5, %6, 0, p, 1, 1, 0, 0") \
                      : VERNIER_D4(d)                                                                      \
                      : "l"(a), "l"(b), "r"(metadata)                                                      \
                      : "memory")

inline constexpr Engine fp16_fp32 = block_engine(Format::fp16, Format::fp32, 16, 16, 25, -133);
inline constexpr Engine bf16_fp32 = block_engine(Format::bf16, Format::fp32, 16, 16, 25, -133);
inline constexpr Engine fp16_fp16 = block_engine(Format::fp16, Format::fp16, 16, 16, 25, -21);
inline constexpr Engine tf32_fp32 = block_engine(Format::tf32, Format::fp32, 8, 8, 25, -133);
inline constexpr Engine wraps = integer_engine(Format::int8, Format::int8, 32, 32, Overflow::wrap);
inline constexpr Engine saturates = integer_engine(Format::int8, Format::int8, 32, 32, Overflow::saturate_end);
// Of fp8, mma.sync and wgmma are different engines.
constexpr Engine fp8_by_mma(Format input, Format output) { return split_fp8_engine(input, output); }
constexpr Engine fp8_by_wgmma(Format input, Format output) { return fp8_engine(input, output, 32, 32, -133); }

VERNIER_MMA(MmaF16F32, "mma-fp16-fp32", fp16_fp32, "m16n8k16.row.col.f32.f16.f16.f32")
VERNIER_MMA(MmaBf16F32, "mma-bf16-fp32", bf16_fp32, "m16n8k16.row.col.f32.bf16.bf16.f32")
VERNIER_MMA_HALF(MmaF16F16, "mma-fp16-fp16", fp16_fp16, "m16n8k16.row.col.f16.f16.f16.f16")
VERNIER_MMA_SPARSE(MmaSpF16F32, "mma-sp-fp16-fp32", fp16_fp32, "m16n8k32.row.col.f32.f16.f16.f32")
VERNIER_MMA_SPARSE(MmaSpBf16F32, "mma-sp-bf16-fp32", bf16_fp32, "m16n8k32.row.col.f32.bf16.bf16.f32")
VERNIER_WGMMA(WgmmaF16F32, "wgmma-fp16-fp32", fp16_fp32, "m64n8k16.f32.f16.f16", ", 1, 1, 0, 0")
VERNIER_WGMMA(WgmmaBf16F32, "wgmma-bf16-fp32", bf16_fp32, "m64n8k16.f32.bf16.bf16", ", 1, 1, 0, 0")
VERNIER_WGMMA_HALF(WgmmaF16F16, "wgmma-fp16-fp16", fp16_fp16, "m64n8k16.f16.f16.f16", ", 1, 1, 0, 0")
VERNIER_WGMMA_SPARSE(WgmmaSpF16F32, "wgmma-sp-fp16-fp32", fp16_fp32, "m64n8k32.f32.f16.f16")
VERNIER_WGMMA_SPARSE(WgmmaSpBf16F32, "wgmma-sp-bf16-fp32", bf16_fp32, "m64n8k32.f32.bf16.bf16")
VERNIER_MMA(MmaTf32F32, "mma-tf32-fp32", tf32_fp32, "m16n8k8.row.col.f32.tf32.tf32.f32")
VERNIER_WGMMA(WgmmaTf32F32, "wgmma-tf32-fp32", tf32_fp32, "m64n8k8.f32.tf32.tf32", ", 1, 1")
VERNIER_MMA(MmaE4m3F32, "mma-e4m3-fp32", fp8_by_mma(Format::e4m3, Format::fp32), "m16n8k32.row.col.f32.e4m3.e4m3.f32")
VERNIER_MMA(MmaE5m2F32, "mma-e5m2-fp32", fp8_by_mma(Format::e5m2, Format::fp32), "m16n8k32.row.col.f32.e5m2.e5m2.f32")
VERNIER_MMA_HALF(MmaE4m3F16, "mma-e4m3-fp16", fp8_by_mma(Format::e4m3, Format::fp16),
                 "m16n8k32.row.col.f16.e4m3.e4m3.f16")
VERNIER_MMA_HALF(MmaE5m2F16, "mma-e5m2-fp16", fp8_by_mma(Format::e5m2, Format::fp16),
                 "m16n8k32.row.col.f16.e5m2.e5m2.f16")
VERNIER_WGMMA(WgmmaE4m3F32, "wgmma-e4m3-fp32", fp8_by_wgmma(Format::e4m3, Format::fp32), "m64n8k32.f32.e4m3.e4m3",
              ", 1, 1")
VERNIER_WGMMA(WgmmaE5m2F32, "wgmma-e5m2-fp32", fp8_by_wgmma(Format::e5m2, Format::fp32), "m64n8k32.f32.e5m2.e5m2",
              ", 1, 1")
VERNIER_WGMMA_HALF(WgmmaE4m3F16, "wgmma-e4m3-fp16", fp8_by_wgmma(Format::e4m3, Format::fp16), "m64n8k32.f16.e4m3.e4m3",
                   ", 1, 1")
VERNIER_WGMMA_HALF(WgmmaE5m2F16, "wgmma-e5m2-fp16", fp8_by_wgmma(Format::e5m2, Format::fp16), "m64n8k32.f16.e5m2.e5m2",
                   ", 1, 1")
VERNIER_MMA(MmaS8, "mma-int8", wraps, "m16n8k32.row.col.s32.s8.s8.s32")
VERNIER_MMA(MmaS8Satfinite, "mma-int8-satfinite", saturates, "m16n8k32.row.col.s32.s8.s8.s32.satfinite")
VERNIER_WGMMA(WgmmaS8, "wgmma-int8", wraps, "m64n8k32.s32.s8.s8", "")
VERNIER_WGMMA(WgmmaS8Satfinite, "wgmma-int8-satfinite", saturates, "m64n8k32.s32.s8.s8.satfinite", "")

template <class... Instructions>
struct InstructionList {
  template <class Visit>
  static void each(Visit visit) {
    (visit(Instructions{}), ...);
  }
};
using HalfInstructions = InstructionList<MmaF16F32, MmaBf16F32, MmaF16F16, WgmmaF16F32, WgmmaBf16F32, WgmmaF16F16,
                                         MmaSpF16F32, MmaSpBf16F32, WgmmaSpF16F32, WgmmaSpBf16F32>;
using Tf32Instructions = InstructionList<MmaTf32F32, WgmmaTf32F32>;
using Fp8Instructions = InstructionList<MmaE4m3F32, MmaE5m2F32, MmaE4m3F16, MmaE5m2F16, WgmmaE4m3F32, WgmmaE5m2F32,
                                        WgmmaE4m3F16, WgmmaE5m2F16>;
using Int8Instructions = InstructionList<MmaS8, MmaS8Satfinite, WgmmaS8, WgmmaS8Satfinite>;

inline constexpr int rows_a = 64, rows_b = 8, slices = 4;

struct Tile {
  std::uint32_t a[rows_a * 32];
  std::uint32_t b[rows_b * 32];
  std::uint32_t metadata[slices];  // of sparse instructions: 16 bits, for groups 0 to 3 and for groups 4 to 7
};

// Word w (0 ... 7) of slice s of a row: the 16-byte chunks of a row are permuted by the row's number.
__device__ inline int place(int row, int s, int w) { return row * 32 + (((s * 2 + w / 4) ^ (row & 7)) * 4) + w % 4; }

// Half of a group of four 16-bit elements of B whose code picks the two elements of `stored`; what the code leaves out
// holds other numbers.
__device__ inline std::uint32_t sparse_word(std::uint32_t stored, std::uint32_t code, std::uint32_t half) {
  std::uint32_t word = 0;
  for (std::uint32_t i = 0; i < 2; ++i) {
    const std::uint32_t position = 2 * half + i;
    const std::uint32_t x = (code & 3) == position    ? stored & 0xffff
                            : (code >> 2) == position ? stored >> 16
                                                      : (stored ^ 0x9a31) & 0xffff;
    word |= x << (16 * i);
  }
  return word;
}

// B of a sparse wgmma in shared memory, 64 bytes a row.
__device__ inline const std::uint32_t* widen(const Tile& tile, int s) {
  __shared__ __align__(1024) std::uint32_t wide[rows_b * 32];
  __syncthreads();
  const int row = threadIdx.x / 16, w = threadIdx.x % 16;
  wide[row * 32 + ((w / 4) ^ (row & 7)) * 4 + w % 4] =
      sparse_word(tile.b[place(row, s, w / 2)], tile.metadata[s] >> (w / 2 % 4 * 4) & 15, w % 2);
  cuda::fence_async_shared();
  __syncthreads();
  return wide;
}

template <class I>
__device__ void execute_sparse(const Tile& tile, int s, std::uint32_t (&d)[4]) {
  const std::uint32_t metadata = tile.metadata[s] * 0x10001;  // every thread: which ones are read does not matter
  if constexpr (I::warpgroup) {
    const std::uint32_t a = cuda::shared_address(tile.a);
    const std::uint32_t b = cuda::shared_address(widen(tile, s));
    I::run(d, cuda::wgmma_operand(a + 32 * s), cuda::wgmma_operand(b), metadata);
  } else {
    const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4, row = threadIdx.x / 32 * 16 + g;
    const std::uint32_t a[4] = {tile.a[place(row, s, t)], tile.a[place(row + 8, s, t)], tile.a[place(row, s, t + 4)],
                                tile.a[place(row + 8, s, t + 4)]};
    std::uint32_t b[4];
    for (int r = 0; r < 4; ++r) {
      const int group = 2 * r + t / 2;
      b[r] = sparse_word(tile.b[place(g, s, group)], metadata >> (group % 4 * 4) & 15, t % 2);
    }
    I::run(d, a, b, metadata);
  }
}

template <class I>
__device__ void execute(const Tile& tile, int s, std::uint32_t (&d)[4]) {
  if constexpr (I::sparse) {
    execute_sparse<I>(tile, s, d);
  } else if constexpr (I::warpgroup) {
    const std::uint32_t a = cuda::shared_address(tile.a);
    const std::uint32_t b = cuda::shared_address(tile.b);
    I::run(d, cuda::wgmma_operand(a + 32 * s), cuda::wgmma_operand(b + 32 * s));
  } else {
    const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4, row = threadIdx.x / 32 * 16 + g;
    const std::uint32_t a[4] = {tile.a[place(row, s, t)], tile.a[place(row + 8, s, t)], tile.a[place(row, s, t + 4)],
                                tile.a[place(row + 8, s, t + 4)]};
    const std::uint32_t b[2] = {tile.b[place(g, s, t)], tile.b[place(g, s, t + 4)]};
    I::run(d, a, b);
  }
}

// c and d of a thread, unpacked; fp16 results travel two to a register.
template <class I>
__device__ void execute_words(const Tile& tile, int s, const std::uint32_t (&c)[4], std::uint32_t (&d)[4]) {
  constexpr Engine E = I::engine;
  if constexpr (E.c == Format::fp16) {
    std::uint32_t w[4] = {c[0] | c[1] << 16, c[2] | c[3] << 16, 0, 0};
    execute<I>(tile, s, w);
    for (int i = 0; i < 4; ++i) d[i] = w[i / 2] >> (i % 2 * 16) & 0xffff;
  } else {
    for (int i = 0; i < 4; ++i) d[i] = c[i];
    execute<I>(tile, s, d);
  }
}

// One dot product in row 0, column 0 and slice 0 of a tile that is zero elsewhere; d to thread 0.
template <class I>
__device__ std::uint32_t evaluate(Tile& tile, const Dot& dot) {
  for (int i = threadIdx.x; i < rows_a * 32; i += 128) tile.a[i] = 0;
  for (int i = threadIdx.x; i < rows_b * 32; i += 128) tile.b[i] = 0;
  if (threadIdx.x < slices) tile.metadata[threadIdx.x] = dot.metadata;
  __syncthreads();
  if (threadIdx.x < 8) {
    tile.a[place(0, 0, threadIdx.x)] = dot.a[threadIdx.x];
    tile.b[place(0, 0, threadIdx.x)] = dot.b[threadIdx.x];
  }
  cuda::fence_async_shared();
  __syncthreads();
  const std::uint32_t c[4] = {threadIdx.x == 0 ? static_cast<std::uint32_t>(dot.c) : 0, 0, 0, 0};
  std::uint32_t d[4];
  execute_words<I>(tile, 0, c, d);
  return d[0];
}

// ---- fp64: chains of fused multiply-adds. One warp, 16 rows of A, 8 columns of B. ----------------------------------

template <int K>
struct Tile64 {
  std::uint64_t a[16][K], b[8][K];
};

// c becomes d: rows g and g + 8 of columns 2 t and 2 t + 1, where g = lane / 4 and t = lane % 4.
template <int K>
__device__ void execute64(const Tile64<K>& tile, std::uint64_t (&c)[4]) {
  const int lane = threadIdx.x, g = lane / 4, t = lane % 4;
  const auto real = [](std::uint64_t x) { return __longlong_as_double(static_cast<long long>(x)); };
  const auto word = [](double x) { return static_cast<std::uint64_t>(__double_as_longlong(x)); };
  if constexpr (K == 4) {
    for (int half = 0; half < 2; ++half) {
      double d[2] = {real(c[2 * half]), real(c[2 * half + 1])};
      cuda::mma_eight_doubles(d[0], d[1], real(tile.a[g + 8 * half][t]), real(tile.b[g][t]));
      c[2 * half] = word(d[0]);
      c[2 * half + 1] = word(d[1]);
    }
  } else {
    double a[8], b[4], d[4];
    for (int i = 0; i < 8; ++i) a[i] = real(tile.a[g + 8 * (i % 2)][t + 4 * (i / 2)]);
    for (int i = 0; i < 4; ++i) b[i] = real(tile.b[g][t + 4 * i]), d[i] = real(c[i]);
    cuda::mma_doubles(d, a, b);
    for (int i = 0; i < 4; ++i) c[i] = word(d[i]);
  }
}

// One dot product in row 0 and column 0 of a tile that is zero elsewhere; d to thread 0.
template <int K>
__device__ std::uint64_t evaluate64(Tile64<K>& tile, const Dot& dot) {
  for (int i = threadIdx.x; i < 24 * K; i += 32) (i / K < 16 ? tile.a[i / K] : tile.b[i / K - 16])[i % K] = 0;
  __syncwarp();
  if (threadIdx.x < K) {
    const int k = threadIdx.x;
    tile.a[0][k] = std::uint64_t{dot.a[2 * k + 1]} << 32 | dot.a[2 * k];
    tile.b[0][k] = std::uint64_t{dot.b[2 * k + 1]} << 32 | dot.b[2 * k];
  }
  __syncwarp();
  std::uint64_t d[4] = {threadIdx.x == 0 ? dot.c : 0, 0, 0, 0};
  execute64<K>(tile, d);
  return d[0];
}

template <class I>
__global__ void __launch_bounds__(128) evaluate_dot(Dot* dot) {
  __shared__ __align__(1024) Tile tile;
  const std::uint32_t d = evaluate<I>(tile, *dot);
  if (threadIdx.x == 0) dot->d = d;
}

template <int K>
__global__ void __launch_bounds__(32) evaluate_dot64(Dot* dot) {
  __shared__ Tile64<K> tile;
  const std::uint64_t d = evaluate64<K>(tile, *dot);
  if (threadIdx.x == 0) dot->d = d;
}

template <void (*Kernel)(Dot*), int Threads>
void launch_dot(Dot* dot, cudaStream_t stream) {
  Kernel<<<1, Threads, 0, stream>>>(dot);
  cuda::check_launch("evaluate_dot");
}

}  // namespace

DotKernel find_kernel(std::string_view name) {
  DotKernel found = name == "mma-fp64-k4"    ? launch_dot<evaluate_dot64<4>, 32>
                    : name == "mma-fp64-k16" ? launch_dot<evaluate_dot64<16>, 32>
                                             : nullptr;
  const auto look = [&]<class I>(I) {
    if (I::name == name) found = launch_dot<evaluate_dot<I>, 128>;
  };
  HalfInstructions::each(look), Tf32Instructions::each(look), Fp8Instructions::each(look), Int8Instructions::each(look);
  return found;
}

}  // namespace vernier::model::gpu
