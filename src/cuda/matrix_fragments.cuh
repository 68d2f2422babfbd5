// One instruction, one small function: how operands come from memory to mma.sync on every GPU from compute capability
// 8.0 on. PTX ISA 7.1, sections 9.7.12 (mbarrier) and 9.7.13 (ldmatrix, mma).
#pragma once

#include <cstdint>

#include "cuda/ptx.cuh"

namespace vernier::cuda {

// ---- barriers in shared memory, by address: who arrives need not wait ----------------------------------------------

__device__ __forceinline__ void begin_barrier(std::uint32_t barrier, int arrivals) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
__device__ __forceinline__ void end_barrier(std::uint32_t barrier) {
  asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(barrier) : "memory");
}
__device__ __forceinline__ void arrive_at(std::uint32_t barrier) {
  asm volatile("{\n .reg .b64 state;\n mbarrier.arrive.shared.b64 state, [%0];\n}" ::"r"(barrier) : "memory");
}
// As soon as the thread's copies so far are there.
__device__ __forceinline__ void arrive_with_copies(std::uint32_t barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(barrier) : "memory");
}
// Until the phase of that parity has ended. Before the first one, that of parity 1 has.
__device__ __forceinline__ void wait_at(std::uint32_t barrier, std::uint32_t parity) {
  asm volatile(
      "{\n .reg .pred done;\n"
      "again: mbarrier.test_wait.parity.shared.b64 done, [%0], %1;\n"
      " @!done bra again;\n}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

// ---- words in shared memory ----------------------------------------------------------------------------------------

__device__ __forceinline__ void store_shared(std::uint32_t to, const int4& v) {
  asm volatile("st.shared.v4.s32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
}
__device__ __forceinline__ int load_shared(std::uint32_t from) {
  int v;
  asm volatile("ld.shared.s32 %0, [%1];" : "=r"(v) : "r"(from) : "memory");
  return v;
}
__device__ __forceinline__ int4 load_shared_quad(std::uint32_t from) {
  int4 v;
  asm volatile("ld.shared.v4.s32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "r"(from)
               : "memory");
  return v;
}

// Four matrices of 8 rows of 16 bytes: lanes 8 i .. 8 i + 7 give the addresses of the rows of matrix i. A lane receives
// bytes 4 (lane % 4) .. of row lane / 4 of each.
__device__ __forceinline__ void load_matrices(std::uint32_t (&d)[4], std::uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
               : "r"(address)
               : "memory");
}

// d += x y^T on unsigned bytes, modulo 2^32: 16 rows of x, 8 rows of y, 32 bytes of k. x: matrices (rows 0, k 0),
// (rows 8, k 0), (rows 0, k 16), (rows 8, k 16); y: (k 0), (k 16). d: rows lane / 4 and lane / 4 + 8 of x against two
// neighbouring rows 2 (lane % 4) of y each. FromZero: d = x y^T.
template <bool FromZero = false>
__device__ __forceinline__ void mma_unsigned_bytes(int (&d)[4], const std::uint32_t (&x)[4], std::uint32_t y0,
                                                   std::uint32_t y1) {
#define VERNIER_MMA "mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
  if constexpr (FromZero)
    asm volatile(VERNIER_MMA "{%10, %10, %10, %10};"
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
                 : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y0), "r"(y1), "r"(0));
  else
    asm volatile(VERNIER_MMA "{%0, %1, %2, %3};"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                 : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y0), "r"(y1));
#undef VERNIER_MMA
}

enum class FloatWord { fp16, bf16, tf32 };

// The same on floats of 16 bits, 16 of k, or of 32 bits, 8 of k, with sums in fp32: d = c + x y^T.
template <FloatWord Word>
__device__ __forceinline__ void mma_floats(float (&d)[4], const std::uint32_t (&x)[4], std::uint32_t y0,
                                           std::uint32_t y1, const float (&c)[4]) {
#define VERNIER_MMA(SHAPE)                                                                                      \
  asm volatile("mma.sync.aligned." SHAPE " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};" \
               : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])                                                 \
               : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y0), "r"(y1), "f"(c[0]), "f"(c[1]), "f"(c[2]), \
                 "f"(c[3]))
  if constexpr (Word == FloatWord::fp16) VERNIER_MMA("m16n8k16.row.col.f32.f16.f16.f32");
  if constexpr (Word == FloatWord::bf16) VERNIER_MMA("m16n8k16.row.col.f32.bf16.bf16.f32");
  if constexpr (Word == FloatWord::tf32) VERNIER_MMA("m16n8k8.row.col.f32.tf32.tf32.f32");
#undef VERNIER_MMA
}

// d += a b in fp64: 8 x 4 by 4 x 8. A lane has row lane / 4 of a at k lane % 4, column lane / 4 of b there, and of the
// sums columns 2 (lane % 4) and the next in row lane / 4.
__device__ __forceinline__ void mma_eight_doubles(double& d0, double& d1, double a, double b) {
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
               : "+d"(d0), "+d"(d1)
               : "d"(a), "d"(b));
}

}  // namespace vernier::cuda
