// The matrix instructions of Hopper, one small function each. K is 32 bytes of operand for all of them, and a warp's
// fragments depend on bytes only: register r of A holds bytes 4t ... 4t+3 (+ 16 for r >= 2) of row g (+ 8 for odd r),
// where g = lane / 4 and t = lane % 4; d holds (g, 2t), (g, 2t+1), (g+8, 2t), (g+8, 2t+1), two to a register if they
// are fp16.
#pragma once

#include <cuda_runtime.h>

#include "model/spec.hpp"

namespace vernier::model::gpu {

#define VERNIER_MMA32(NAME, ASM)                                                                              \
  __device__ inline void NAME(std::uint32_t(&d)[4], const std::uint32_t(&a)[4], const std::uint32_t(&b)[2]) { \
    asm volatile(ASM " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"                                 \
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                                             \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));                         \
  }
#define VERNIER_MMA32F(NAME, ASM)                                                                              \
  __device__ inline void NAME(std::uint32_t(&w)[4], const std::uint32_t(&a)[4], const std::uint32_t(&b)[2]) {  \
    float d[4] = {__uint_as_float(w[0]), __uint_as_float(w[1]), __uint_as_float(w[2]), __uint_as_float(w[3])}; \
    asm volatile(ASM " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"                                  \
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                              \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));                          \
    for (int i = 0; i < 4; ++i) w[i] = __float_as_uint(d[i]);                                                  \
  }
VERNIER_MMA32F(mma_f16_f32, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")
VERNIER_MMA32F(mma_bf16_f32, "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32")
VERNIER_MMA32F(mma_tf32_f32, "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32")
VERNIER_MMA32F(mma_e4m3_f32, "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32")
VERNIER_MMA32F(mma_e5m2_f32, "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32")
VERNIER_MMA32(mma_s8_s32, "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32")
VERNIER_MMA32(mma_s8_s32_satfinite, "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32.satfinite")
#define VERNIER_MMA16(NAME, ASM)                                                                              \
  __device__ inline void NAME(std::uint32_t(&d)[4], const std::uint32_t(&a)[4], const std::uint32_t(&b)[2]) { \
    asm volatile(ASM " {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};"                                             \
                 : "+r"(d[0]), "+r"(d[1])                                                                     \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));                         \
  }
VERNIER_MMA16(mma_f16_f16, "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16")
VERNIER_MMA16(mma_e4m3_f16, "mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e4m3.f16")
VERNIER_MMA16(mma_e5m2_f16, "mma.sync.aligned.m16n8k32.row.col.f16.e5m2.e5m2.f16")

// Sparse instructions: A holds two of every four elements, and four bits of metadata a group say which two.
#define VERNIER_MMA_SPARSE(NAME, ASM)                                                                          \
  __device__ inline void NAME(std::uint32_t(&w)[4], const std::uint32_t(&a)[4], const std::uint32_t(&b)[4],    \
                              std::uint32_t metadata) {                                                        \
    float d[4] = {__uint_as_float(w[0]), __uint_as_float(w[1]), __uint_as_float(w[2]), __uint_as_float(w[3])}; \
    asm volatile(ASM " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9,%10,%11}, {%0,%1,%2,%3}, %12, 0x0;"                \
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                              \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]),     \
                   "r"(metadata));                                                                             \
    for (int i = 0; i < 4; ++i) w[i] = __float_as_uint(d[i]);                                                  \
  }
VERNIER_MMA_SPARSE(mma_sp_f16_f32, "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32")
VERNIER_MMA_SPARSE(mma_sp_bf16_f32, "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32")

// a and b of wgmma are operands in shared memory (cuda::wgmma_operand).
#define VERNIER_WGMMA32F(NAME, ASM, TAIL)                                                                      \
  __device__ inline void NAME(std::uint32_t(&w)[4], std::uint64_t a, std::uint64_t b) {                        \
    float d[4] = {__uint_as_float(w[0]), __uint_as_float(w[1]), __uint_as_float(w[2]), __uint_as_float(w[3])}; \
    asm volatile("{\n .reg .pred p;\n setp.ne.b32 p, 1, 0;\n wgmma.fence.sync.aligned;\n " ASM                 \
                 " {%0,%1,%2,%3}, %4, %5, p, 1, 1" TAIL                                                        \
                 ";\n"                                                                                         \
                 "wgmma.commit_group.sync.aligned;\n wgmma.wait_group.sync.aligned 0;\n}"                      \
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                              \
                 : "l"(a), "l"(b)                                                                              \
                 : "memory");                                                                                  \
    for (int i = 0; i < 4; ++i) w[i] = __float_as_uint(d[i]);                                                  \
  }
#define VERNIER_WGMMA_SPARSE(NAME, ASM)                                                                         \
  __device__ inline void NAME(std::uint32_t(&w)[4], std::uint64_t a, std::uint64_t b, std::uint32_t metadata) { \
    float d[4] = {__uint_as_float(w[0]), __uint_as_float(w[1]), __uint_as_float(w[2]), __uint_as_float(w[3])};  \
    asm volatile("{\n .reg .pred p;\n setp.ne.b32 p, 1, 0;\n wgmma.fence.sync.aligned;\n " ASM                  \
                 " {%0,%1,%2,%3}, %4, %5, %6, 0, p, 1, 1, 0, 0;\n"                                              \
                 "wgmma.commit_group.sync.aligned;\n wgmma.wait_group.sync.aligned 0;\n}"                       \
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                               \
                 : "l"(a), "l"(b), "r"(metadata)                                                                \
                 : "memory");                                                                                   \
    for (int i = 0; i < 4; ++i) w[i] = __float_as_uint(d[i]);                                                   \
  }
#define VERNIER_WGMMA16(NAME, ASM, TAIL)                                                       \
  __device__ inline void NAME(std::uint32_t(&d)[4], std::uint64_t a, std::uint64_t b) {        \
    asm volatile("{\n .reg .pred p;\n setp.ne.b32 p, 1, 0;\n wgmma.fence.sync.aligned;\n " ASM \
                 " {%0,%1}, %2, %3, p, 1, 1" TAIL                                              \
                 ";\n"                                                                         \
                 "wgmma.commit_group.sync.aligned;\n wgmma.wait_group.sync.aligned 0;\n}"      \
                 : "+r"(d[0]), "+r"(d[1])                                                      \
                 : "l"(a), "l"(b)                                                              \
                 : "memory");                                                                  \
  }
#define VERNIER_WGMMA32S(NAME, ASM)                                                            \
  __device__ inline void NAME(std::uint32_t(&d)[4], std::uint64_t a, std::uint64_t b) {        \
    asm volatile("{\n .reg .pred p;\n setp.ne.b32 p, 1, 0;\n wgmma.fence.sync.aligned;\n " ASM \
                 " {%0,%1,%2,%3}, %4, %5, p;\n"                                                \
                 "wgmma.commit_group.sync.aligned;\n wgmma.wait_group.sync.aligned 0;\n}"      \
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                              \
                 : "l"(a), "l"(b)                                                              \
                 : "memory");                                                                  \
  }
VERNIER_WGMMA32F(wgmma_f16_f32, "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", ", 0, 0")
VERNIER_WGMMA32F(wgmma_bf16_f32, "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16", ", 0, 0")
VERNIER_WGMMA_SPARSE(wgmma_sp_f16_f32, "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16")
VERNIER_WGMMA_SPARSE(wgmma_sp_bf16_f32, "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.bf16.bf16")
VERNIER_WGMMA32F(wgmma_tf32_f32, "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32", "")
VERNIER_WGMMA32F(wgmma_e4m3_f32, "wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3", "")
VERNIER_WGMMA32F(wgmma_e5m2_f32, "wgmma.mma_async.sync.aligned.m64n8k32.f32.e5m2.e5m2", "")
VERNIER_WGMMA16(wgmma_f16_f16, "wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16", ", 0, 0")
VERNIER_WGMMA16(wgmma_e4m3_f16, "wgmma.mma_async.sync.aligned.m64n8k32.f16.e4m3.e4m3", "")
VERNIER_WGMMA16(wgmma_e5m2_f16, "wgmma.mma_async.sync.aligned.m64n8k32.f16.e5m2.e5m2", "")
VERNIER_WGMMA32S(wgmma_s8_s32, "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8")
VERNIER_WGMMA32S(wgmma_s8_s32_satfinite, "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8.satfinite")

}  // namespace vernier::model::gpu
