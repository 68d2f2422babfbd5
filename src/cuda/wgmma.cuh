// wgmma on operands in shared memory (wgmma_operand()): one function for bytes, one for floats. d: a thread's
// accumulators of a warpgroup's 64 x N. What is added to is kept, or d is overwritten.
#pragma once

#include <cstdint>
#include <type_traits>

#include "cuda/ptx.cuh"

namespace vernier::cuda {

enum class Low { fp16, bf16, tf32 };  // what is multiplied

// Accumulators are operands of the assembly, so each width needs its list of registers spelled out.
#define VERNIER_ACC_32                                                                                                 \
  "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30," \
  "%31"
#define VERNIER_ACC_64                                                                                                \
  VERNIER_ACC_32                                                                                                      \
  ",%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59," \
  "%60,%61,%62,%63"
#define VERNIER_ACC_96                                                                                                \
  VERNIER_ACC_64                                                                                                      \
  ",%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79,%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91," \
  "%92,%93,%94,%95"
#define VERNIER_ACC_128                                                                                              \
  VERNIER_ACC_96                                                                                                     \
  ",%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111,%112,%113,%114,%115,%116,%117,%118," \
  "%119,%120,%121,%122,%123,%124,%125,%126,%127"
#define VERNIER_8(X, i) \
  X(d[i]), X(d[i + 1]), X(d[i + 2]), X(d[i + 3]), X(d[i + 4]), X(d[i + 5]), X(d[i + 6]), X(d[i + 7])
#define VERNIER_32(X, i) VERNIER_8(X, i), VERNIER_8(X, i + 8), VERNIER_8(X, i + 16), VERNIER_8(X, i + 24)
#define VERNIER_64(X) VERNIER_32(X, 0), VERNIER_32(X, 32)
#define VERNIER_96(X) VERNIER_64(X), VERNIER_32(X, 64)
#define VERNIER_128(X) VERNIER_96(X), VERNIER_32(X, 96)
// A, B, KEEP: the operands behind the accumulators, by number.
#define VERNIER_WGMMA(SHAPE, LIST, A, B, KEEP, TAIL, ...)                                                        \
  asm volatile("{\n .reg .pred p;\n setp.ne.b32 p, " KEEP ", 0;\n wgmma.mma_async.sync.aligned." SHAPE " {" LIST \
               "}, " A ", " B ", p" TAIL ";\n}"                                                                  \
               : __VA_ARGS__                                                                                     \
               : "l"(a), "l"(b), "r"(keep))

// Integer sums take the bytes as unsigned integers (they ran 5 % faster than signed ones at the power limit), sums in
// float as e5m2 numbers. 32 bytes of k.
template <class Sum, int Count>
__device__ __forceinline__ void wgmma_bytes(Sum (&d)[Count], std::uint64_t a, std::uint64_t b, int keep) {
  constexpr bool floats = std::is_same_v<Sum, float>;
  static_assert(Count == 64 || (!floats && (Count == 96 || Count == 128)));
  if constexpr (floats)
    VERNIER_WGMMA("m64n128k32.f32.e5m2.e5m2", VERNIER_ACC_64, "%64", "%65", "%66", ", 1, 1", VERNIER_64("+f"));
  else if constexpr (Count == 64)
    VERNIER_WGMMA("m64n128k32.s32.u8.u8", VERNIER_ACC_64, "%64", "%65", "%66", "", VERNIER_64("+r"));
  else if constexpr (Count == 96)
    VERNIER_WGMMA("m64n192k32.s32.u8.u8", VERNIER_ACC_96, "%96", "%97", "%98", "", VERNIER_96("+r"));
  else
    VERNIER_WGMMA("m64n256k32.s32.u8.u8", VERNIER_ACC_128, "%128", "%129", "%130", "", VERNIER_128("+r"));
}

// 32 bytes of k: 16 of fp16 and bf16, 8 of tf32.
template <int N, Low Input>
__device__ __forceinline__ void wgmma(float (&d)[N / 2], std::uint64_t a, std::uint64_t b, int keep) {
  static_assert(N == 64 || N == 128 || (N == 192 && Input != Low::bf16));
#define VERNIER_FLOATS(LOW, SHAPE, TAIL)                                                           \
  if constexpr (N == 64 && Input == Low::LOW)                                                      \
    VERNIER_WGMMA("m64n64" SHAPE, VERNIER_ACC_32, "%32", "%33", "%34", TAIL, VERNIER_32("+f", 0)); \
  if constexpr (N == 128 && Input == Low::LOW)                                                     \
    VERNIER_WGMMA("m64n128" SHAPE, VERNIER_ACC_64, "%64", "%65", "%66", TAIL, VERNIER_64("+f"));   \
  if constexpr (N == 192 && Input == Low::LOW)                                                     \
    VERNIER_WGMMA("m64n192" SHAPE, VERNIER_ACC_96, "%96", "%97", "%98", TAIL, VERNIER_96("+f"));
  VERNIER_FLOATS(fp16, "k16.f32.f16.f16", ", 1, 1, 0, 0")
  VERNIER_FLOATS(bf16, "k16.f32.bf16.bf16", ", 1, 1, 0, 0")
  VERNIER_FLOATS(tf32, "k8.f32.tf32.tf32", ", 1, 1")
}

#undef VERNIER_FLOATS
#undef VERNIER_WGMMA
#undef VERNIER_128
#undef VERNIER_96
#undef VERNIER_64
#undef VERNIER_32
#undef VERNIER_8
#undef VERNIER_ACC_128
#undef VERNIER_ACC_96
#undef VERNIER_ACC_64
#undef VERNIER_ACC_32

// Keeps the compiler from moving accumulators across a point: behind the wait before their reads, say.
__device__ __forceinline__ void pin(int& x) { asm volatile("" : "+r"(x)::"memory"); }
__device__ __forceinline__ void pin(float& x) { asm volatile("" : "+f"(x)::"memory"); }
template <class Sum, int Count>
__device__ __forceinline__ void pin(Sum (&d)[Count]) {
#pragma unroll
  for (int i = 0; i < Count; ++i) pin(d[i]);
}

}  // namespace vernier::cuda
