// AMX instructions, one function each, as kernels take them. They are written out because GCC 12's intrinsics do not
// tell the compiler which memory they access. For sources of AMX alone.
#pragma once

#include <cstdint>

namespace vernier {
namespace {

struct [[gnu::may_alias]] TileMemory {
  std::int8_t bytes[1024];
};

struct AmxTile {
  static constexpr long stride = 64;  // from one row of a tile to the next

  template <int T>
  static void load(const void* from) {
    asm volatile("tileloadd (%0,%1,1), %%tmm%c2"
                 :
                 : "r"(from), "r"(stride), "i"(T), "m"(*static_cast<const TileMemory*>(from)));
  }

  template <int T>
  static void load_streamed(const void* from) {
    asm volatile("tileloaddt1 (%0,%1,1), %%tmm%c2"
                 :
                 : "r"(from), "r"(stride), "i"(T), "m"(*static_cast<const TileMemory*>(from)));
  }

  template <int T>
  static void store(void* to) {
    asm volatile("tilestored %%tmm%c3, (%1,%2,1)" : "=m"(*static_cast<TileMemory*>(to)) : "r"(to), "r"(stride), "i"(T));
  }

  template <int T>
  static void zero() {
    asm volatile("tilezero %%tmm%c0" : : "i"(T));
  }

  template <int Sums, int Columns, int Rows>
  static void dot() {
    asm volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(Sums), "i"(Columns), "i"(Rows));
  }

  template <int Sums, int Columns, int Rows>
  static void dot_bf16() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(Sums), "i"(Columns), "i"(Rows));
  }
};

}  // namespace
}  // namespace vernier
