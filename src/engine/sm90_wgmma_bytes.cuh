// wgmma on bytes: d += x y^T, 64 rows of x by 128, 192 or 256 rows of y, 32 bytes of k. Integer sums take the bytes as
// unsigned integers (they ran 5 % faster than signed ones at the power limit), sums in float as e5m2 numbers.
#pragma once

#include <cstdint>

namespace vernier::cuda {

#define VERNIER_D4(i) "+r"(d[i]), "+r"(d[i + 1]), "+r"(d[i + 2]), "+r"(d[i + 3])
#define VERNIER_D16(i) VERNIER_D4(i), VERNIER_D4(i + 4), VERNIER_D4(i + 8), VERNIER_D4(i + 12)
#define VERNIER_D32(i) VERNIER_D16(i), VERNIER_D16(i + 16)
#define VERNIER_LIST64                                                               \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "           \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define VERNIER_LIST96                                                                 \
  VERNIER_LIST64                                                                       \
  ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
  "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"

#define VERNIER_LIST128                                                                            \
  VERNIER_LIST96                                                                                   \
  ", %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
  "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"

// add = 0: d is overwritten. x, y: descriptors of wgmma_operand().
__device__ __forceinline__ void wgmma_bytes(int (&d)[64], std::uint64_t x, std::uint64_t y, int add) {
  asm volatile(
      "{\n .reg .pred add;\n setp.ne.b32 add, %66, 0;\n"
      " wgmma.mma_async.sync.aligned.m64n128k32.s32.u8.u8 {" VERNIER_LIST64 "}, %64, %65, add;\n}"
      : VERNIER_D32(0), VERNIER_D32(32)
      : "l"(x), "l"(y), "r"(add));
}

__device__ __forceinline__ void wgmma_bytes(int (&d)[96], std::uint64_t x, std::uint64_t y, int add) {
  asm volatile(
      "{\n .reg .pred add;\n setp.ne.b32 add, %98, 0;\n"
      " wgmma.mma_async.sync.aligned.m64n192k32.s32.u8.u8 {" VERNIER_LIST96 "}, %96, %97, add;\n}"
      : VERNIER_D32(0), VERNIER_D32(32), VERNIER_D32(64)
      : "l"(x), "l"(y), "r"(add));
}

__device__ __forceinline__ void wgmma_bytes(int (&d)[128], std::uint64_t x, std::uint64_t y, int add) {
  asm volatile(
      "{\n .reg .pred add;\n setp.ne.b32 add, %130, 0;\n"
      " wgmma.mma_async.sync.aligned.m64n256k32.s32.u8.u8 {" VERNIER_LIST128 "}, %128, %129, add;\n}"
      : VERNIER_D32(0), VERNIER_D32(32), VERNIER_D32(64), VERNIER_D32(96)
      : "l"(x), "l"(y), "r"(add));
}

#define VERNIER_F4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define VERNIER_F16(i) VERNIER_F4(i), VERNIER_F4(i + 4), VERNIER_F4(i + 8), VERNIER_F4(i + 12)

__device__ __forceinline__ void wgmma_bytes(float (&d)[64], std::uint64_t x, std::uint64_t y, int add) {
  asm volatile(
      "{\n .reg .pred add;\n setp.ne.b32 add, %66, 0;\n"
      " wgmma.mma_async.sync.aligned.m64n128k32.f32.e5m2.e5m2 {" VERNIER_LIST64 "}, %64, %65, add, 1, 1;\n}"
      : VERNIER_F16(0), VERNIER_F16(16), VERNIER_F16(32), VERNIER_F16(48)
      : "l"(x), "l"(y), "r"(add));
}

#undef VERNIER_F4
#undef VERNIER_F16
#undef VERNIER_D4
#undef VERNIER_D16
#undef VERNIER_D32
#undef VERNIER_LIST64
#undef VERNIER_LIST96
#undef VERNIER_LIST128

}  // namespace vernier::cuda
