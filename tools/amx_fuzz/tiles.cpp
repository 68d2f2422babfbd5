// The instructions are written out: GCC 12's intrinsics do not tell the compiler which memory they access.
#include "tiles.hpp"

#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

namespace vernier::model::amx {
namespace {

struct alignas(64) Configuration {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t bytes_per_row[16] = {64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16};
};

constexpr long stride = 64;

void load(const Tiles& t) {
  asm volatile("tileloadd (%0,%1,1), %%tmm0" : : "r"(t.c), "r"(stride), "m"(t));
  asm volatile("tileloadd (%0,%1,1), %%tmm1" : : "r"(t.a), "r"(stride), "m"(t));
  asm volatile("tileloadd (%0,%1,1), %%tmm2" : : "r"(t.b), "r"(stride), "m"(t));
}
void store(Tiles& t) { asm volatile("tilestored %%tmm0, (%1,%2,1)" : "+m"(t) : "r"(t.d), "r"(stride)); }

bool cpu_has(unsigned leaf, unsigned subleaf, int reg, unsigned bit) {
  unsigned r[4] = {};
  return __get_cpuid_count(leaf, subleaf, &r[0], &r[1], &r[2], &r[3]) != 0 && (r[reg] >> bit & 1) != 0;
}

}  // namespace

std::string missing_amx() {
  constexpr int edx = 3;
  if (!cpu_has(7, 0, edx, 24) || !cpu_has(7, 0, edx, 22) || !cpu_has(7, 0, edx, 25))
    return "this processor has no AMX with bf16 and int8";
  constexpr long request_permission = 0x1023, tile_data = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  if (syscall(SYS_arch_prctl, request_permission, tile_data) != 0) return "Linux refuses the tile registers of AMX";
  return "";
}

std::string missing_avx512_bf16() {
  return __builtin_cpu_supports("avx512bf16") ? "" : "this processor has no AVX512_BF16";
}

void configure_tiles() {
  const Configuration configuration;
  asm volatile("ldtilecfg %0" : : "m"(configuration));
}

#define VERNIER_TILE_INSTRUCTION(NAME)                 \
  void NAME(Tiles& tiles) {                            \
    load(tiles);                                       \
    asm volatile(#NAME " %%tmm2, %%tmm1, %%tmm0" : :); \
    store(tiles);                                      \
  }
VERNIER_TILE_INSTRUCTION(tdpbf16ps)
VERNIER_TILE_INSTRUCTION(tdpbssd)
VERNIER_TILE_INSTRUCTION(tdpbsud)
VERNIER_TILE_INSTRUCTION(tdpbusd)
VERNIER_TILE_INSTRUCTION(tdpbuud)

__attribute__((target("avx512f,avx512bf16"))) void vdpbf16ps(Tiles& t) {
  for (int i = 0; i < rows * columns; i += 16) {
    const __m512i a = _mm512_load_si512(t.a + 4 * i), b = _mm512_load_si512(t.b + 4 * i);
    const __m512 d = _mm512_dpbf16_ps(_mm512_load_ps(t.c + i), (__m512bh)a, (__m512bh)b);
    _mm512_store_ps(t.d + i, d);
  }
}

std::string processor() {
  unsigned name[12] = {};
  for (unsigned i = 0; i < 3; ++i)
    if (__get_cpuid(0x80000002 + i, &name[4 * i], &name[4 * i + 1], &name[4 * i + 2], &name[4 * i + 3]) == 0) return "";
  char text[49] = {};
  std::memcpy(text, name, sizeof name);
  return text;
}

}  // namespace vernier::model::amx
