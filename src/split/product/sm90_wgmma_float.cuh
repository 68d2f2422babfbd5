// wgmma with fp16, bf16 or tf32 operands in shared memory and fp32 accumulators: m64nNk16 and m64nNk8, one function.
#pragma once

#include <cstdint>

#include "cuda/ptx.cuh"

namespace vernier::cuda {

enum class Low { fp16, bf16, tf32 };  // what is multiplied

// Accumulators are operands "+f" of the assembly, so each width needs its list of registers spelled out.
#define VERNIER_ACC_0                                                                                                  \
  "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30," \
  "%31"
#define VERNIER_ACC_32                                                                                                \
  "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%" \
  "60,%61,%62,%63"
#define VERNIER_ACC_64                                                                                                \
  "%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79,%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%" \
  "92,%93,%94,%95"
#define VERNIER_REG8(i)                                                                                       \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), \
      "+f"(d[i + 7])
#define VERNIER_REG32(i) VERNIER_REG8(i), VERNIER_REG8(i + 8), VERNIER_REG8(i + 16), VERNIER_REG8(i + 24)
#define VERNIER_WGMMA(SHAPE, TAIL, LIST, PREDICATE, A, B, ...)                                                        \
  asm volatile("{\n .reg .pred p;\n setp.ne.b32 p, " PREDICATE ", 0;\n wgmma.mma_async.sync.aligned." SHAPE " {" LIST \
               "}, " A ", " B ", p, 1, 1" TAIL ";\n}"                                                                 \
               : __VA_ARGS__                                                                                          \
               : "l"(a), "l"(b), "r"(keep))

// d = a b + (keep ? d : 0). d: N/2 floats a thread, of a warpgroup's 64 x N; a, b: wgmma_operand().
template <int N, Low Input>
__device__ __forceinline__ void wgmma(float (&d)[N / 2], std::uint64_t a, std::uint64_t b, int keep) {
  static_assert(N == 64 || N == 128 || (N == 192 && Input != Low::bf16));
  if constexpr (N == 64 && Input == Low::fp16)
    VERNIER_WGMMA("m64n64k16.f32.f16.f16", ", 0, 0", VERNIER_ACC_0, "%34", "%32", "%33", VERNIER_REG32(0));
  if constexpr (N == 64 && Input == Low::tf32)
    VERNIER_WGMMA("m64n64k8.f32.tf32.tf32", "", VERNIER_ACC_0, "%34", "%32", "%33", VERNIER_REG32(0));
  if constexpr (N == 64 && Input == Low::bf16)
    VERNIER_WGMMA("m64n64k16.f32.bf16.bf16", ", 0, 0", VERNIER_ACC_0, "%34", "%32", "%33", VERNIER_REG32(0));
  if constexpr (N == 128 && Input == Low::fp16)
    VERNIER_WGMMA("m64n128k16.f32.f16.f16", ", 0, 0", VERNIER_ACC_0 "," VERNIER_ACC_32, "%66", "%64", "%65",
                  VERNIER_REG32(0), VERNIER_REG32(32));
  if constexpr (N == 128 && Input == Low::tf32)
    VERNIER_WGMMA("m64n128k8.f32.tf32.tf32", "", VERNIER_ACC_0 "," VERNIER_ACC_32, "%66", "%64", "%65",
                  VERNIER_REG32(0), VERNIER_REG32(32));
  if constexpr (N == 128 && Input == Low::bf16)
    VERNIER_WGMMA("m64n128k16.f32.bf16.bf16", ", 0, 0", VERNIER_ACC_0 "," VERNIER_ACC_32, "%66", "%64", "%65",
                  VERNIER_REG32(0), VERNIER_REG32(32));
  if constexpr (N == 192 && Input == Low::fp16)
    VERNIER_WGMMA("m64n192k16.f32.f16.f16", ", 0, 0", VERNIER_ACC_0 "," VERNIER_ACC_32 "," VERNIER_ACC_64, "%98", "%96",
                  "%97", VERNIER_REG32(0), VERNIER_REG32(32), VERNIER_REG32(64));
  if constexpr (N == 192 && Input == Low::tf32)
    VERNIER_WGMMA("m64n192k8.f32.tf32.tf32", "", VERNIER_ACC_0 "," VERNIER_ACC_32 "," VERNIER_ACC_64, "%98", "%96",
                  "%97", VERNIER_REG32(0), VERNIER_REG32(32), VERNIER_REG32(64));
}

#undef VERNIER_WGMMA
#undef VERNIER_REG32
#undef VERNIER_REG8
#undef VERNIER_ACC_64
#undef VERNIER_ACC_32
#undef VERNIER_ACC_0

// Keeps reads of finished accumulators behind the wait before them.
template <int N>
__device__ __forceinline__ void complete_report(float (&d)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) asm volatile("" : "+f"(d[i])::"memory");
}

}  // namespace vernier::cuda
