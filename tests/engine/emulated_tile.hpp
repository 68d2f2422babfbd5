// Eight tile registers of 16 rows of 64 bytes in memory, with the meaning that the instruction reference gives
// TILELOADD, TILESTORED, TILEZERO and TDPBSSD: the model on which the AMX kernel runs where there is no AMX.
#pragma once

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
};

}  // namespace
}  // namespace vernier
