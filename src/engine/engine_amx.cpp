// AMX tiles. The instructions are written out because GCC 12's intrinsics do not tell the compiler which memory they
// access.
#include "engine/amx_kernel.hpp"

namespace vernier {
namespace {

struct [[gnu::may_alias]] TileMemory {
  std::int8_t bytes[tile_bytes];
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
};

struct alignas(64) TileConfiguration {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t bytes_per_row[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

void ldtilecfg(const TileConfiguration& configuration) { asm volatile("ldtilecfg %0" : : "m"(configuration)); }
void tilerelease() { asm volatile("tilerelease"); }

}  // namespace

void configure_amx_tiles() { ldtilecfg(TileConfiguration{}); }
void release_amx_tiles() { tilerelease(); }

void multiply_amx(const Int8Product& product) { multiply_tiles<AmxTile>(product); }

}  // namespace vernier
