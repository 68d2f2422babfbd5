// Eight tile registers of 16 rows of 64 bytes in memory, with the meaning that the instruction reference gives
// TILELOADD, TILESTORED, TILEZERO, TDPBSSD and, but for the flush of subnormal numbers, TDPBF16PS: the model on which
// AMX kernels run where there is no AMX.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

namespace vernier {
namespace {

struct EmulatedTile {
  static constexpr int rows = 16, row_bytes = 64, bytes = rows * row_bytes;
  static inline thread_local std::int8_t registers[8][bytes];

  template <int T>
  static void load(const void* from) {
    std::memcpy(registers[T], from, bytes);
  }

  template <int T>
  static void load_streamed(const void* from) {
    load<T>(from);
  }

  template <int T>
  static void store(void* to) {
    std::memcpy(to, registers[T], bytes);
  }

  template <int T>
  static void zero() {
    std::memset(registers[T], 0, bytes);
  }

  // dword (m, n) of c += dot product of the four bytes of dword (m, k) of a and those of dword (k, n) of b, all k
  template <int C, int A, int B>
  static void dot() {
    for (int m = 0; m < rows; ++m)
      for (int n = 0; n < row_bytes / 4; ++n) {
        std::int32_t sum = 0;
        std::memcpy(&sum, registers[C] + m * row_bytes + 4 * n, 4);
        for (int k = 0; k < row_bytes / 4; ++k)
          for (int i = 0; i < 4; ++i)
            sum += registers[A][m * row_bytes + 4 * k + i] * registers[B][k * row_bytes + 4 * n + i];
        std::memcpy(registers[C] + m * row_bytes + 4 * n, &sum, 4);
      }
  }

  // fp32 (m, n) of c += (the chain of the first elements of all pairs + that of the second)
  template <int C, int A, int B>
  static void dot_bf16() {
    for (int m = 0; m < rows; ++m)
      for (int n = 0; n < row_bytes / 4; ++n) {
        float chain[2] = {0, 0};
        for (int k = 0; k < row_bytes / 4; ++k)
          for (int i = 0; i < 2; ++i)
            chain[i] =
                std::fma(bf16(A, m * row_bytes + 4 * k + 2 * i), bf16(B, k * row_bytes + 4 * n + 2 * i), chain[i]);
        float sum = 0;
        std::memcpy(&sum, registers[C] + m * row_bytes + 4 * n, 4);
        sum += chain[0] + chain[1];
        std::memcpy(registers[C] + m * row_bytes + 4 * n, &sum, 4);
      }
  }

 private:
  static float bf16(int tile, int byte) {
    std::uint16_t half = 0;
    std::memcpy(&half, registers[tile] + byte, 2);
    const std::uint32_t word = std::uint32_t{half} << 16;
    float value = 0;
    std::memcpy(&value, &word, 4);
    return value;
  }
};

}  // namespace
}  // namespace vernier
