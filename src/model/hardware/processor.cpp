// The instructions are written out: GCC 12's intrinsics do not tell the compiler which memory they access, and this
// file is compiled for every x86-64 processor.
#include "model/hardware/processor.hpp"

#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace vernier::model::cpu {
namespace {

class Processor final : public MatrixEngine {
 public:
  explicit Processor(const Instruction& instruction)
      : instruction_(instruction), formats_(find_engine(instruction.engine).engine) {}
  Format a() const override { return formats_.a; }
  Format b() const override { return formats_.b; }
  Format c() const override { return formats_.c; }
  int k() const override { return formats_.k; }
  std::uint64_t dot(const std::uint64_t* a, const std::uint64_t* b, std::uint64_t c) const override {
    const auto bytes = static_cast<std::size_t>(storage_bytes(formats_.a)), per_word = 4 / bytes;
    Tiles t{};
    for (std::size_t i = 0; i < static_cast<std::size_t>(k()); ++i) {
      std::memcpy(t.a + i * bytes, &a[i], bytes);
      std::memcpy(t.b + i / per_word * (instruction_.tile ? 64 : 4) + i % per_word * bytes, &b[i], bytes);
    }
    t.c[0] = static_cast<std::uint32_t>(c);
    if (instruction_.tile) configure_tiles();
    instruction_.run(t);
    if (instruction_.tile) release_tiles();
    return t.d[0];
  }

 private:
  const Instruction& instruction_;
  Engine formats_;
};

}  // namespace

std::unique_ptr<MatrixEngine> open_instruction(const Instruction& instruction) {
  return std::make_unique<Processor>(instruction);
}

#if defined(__x86_64__)

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

#define VERNIER_TILE_INSTRUCTION(NAME, TEXT) \
  void NAME(Tiles& tiles) {                  \
    load(tiles);                             \
    asm volatile(TEXT : :);                  \
    store(tiles);                            \
  }
VERNIER_TILE_INSTRUCTION(tdpbf16ps, "tdpbf16ps %%tmm2, %%tmm1, %%tmm0")
VERNIER_TILE_INSTRUCTION(tdpfp16ps, ".byte 0xc4, 0xe2, 0x6b, 0x5c, 0xc1")  // which Clang 14 does not know
VERNIER_TILE_INSTRUCTION(tdpbssd, "tdpbssd %%tmm2, %%tmm1, %%tmm0")
VERNIER_TILE_INSTRUCTION(tdpbsud, "tdpbsud %%tmm2, %%tmm1, %%tmm0")
VERNIER_TILE_INSTRUCTION(tdpbusd, "tdpbusd %%tmm2, %%tmm1, %%tmm0")
VERNIER_TILE_INSTRUCTION(tdpbuud, "tdpbuud %%tmm2, %%tmm1, %%tmm0")
#undef VERNIER_TILE_INSTRUCTION

// 16 elements at a time.
#define VERNIER_VECTOR_INSTRUCTION(NAME)                                                    \
  [[gnu::target("avx512f")]] void NAME(Tiles& t) {                                          \
    for (int i = 0; i < rows * columns; i += 16) {                                          \
      __m512i d = _mm512_load_si512(t.c + i);                                               \
      const __m512i a = _mm512_load_si512(t.a + 4 * i), b = _mm512_load_si512(t.b + 4 * i); \
      asm volatile(#NAME " %2, %1, %0" : "+v"(d) : "v"(a), "v"(b));                         \
      _mm512_store_si512(t.d + i, d);                                                       \
    }                                                                                       \
  }
VERNIER_VECTOR_INSTRUCTION(vdpbf16ps)
VERNIER_VECTOR_INSTRUCTION(vpdpbusd)
VERNIER_VECTOR_INSTRUCTION(vpdpbusds)
#undef VERNIER_VECTOR_INSTRUCTION

bool cpu_has(unsigned leaf, unsigned subleaf, int reg, unsigned bit) {
  unsigned r[4] = {};
  return __get_cpuid_count(leaf, subleaf, &r[0], &r[1], &r[2], &r[3]) != 0 && (r[reg] >> bit & 1) != 0;
}
constexpr int eax = 0, edx = 3;

// Linux gives the tile registers to processes that ask for them.
std::string missing_tiles() {
  constexpr long request_permission = 0x1023, tile_data = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  if (!cpu_has(7, 0, edx, 24)) return "no AMX";
  return syscall(SYS_arch_prctl, request_permission, tile_data) == 0 ? "" : "Linux refuses the tile registers of AMX";
}
std::string missing_tiles_and(bool has, const char* what) { return has ? missing_tiles() : what; }
std::string missing_amx_bf16() { return missing_tiles_and(cpu_has(7, 0, edx, 22), "no AMX with bf16"); }
std::string missing_amx_fp16() { return missing_tiles_and(cpu_has(7, 1, eax, 21), "no AMX with fp16"); }
std::string missing_amx_int8() { return missing_tiles_and(cpu_has(7, 0, edx, 25), "no AMX with int8"); }
std::string missing_avx512_bf16() { return __builtin_cpu_supports("avx512bf16") ? "" : "no AVX512_BF16"; }
std::string missing_avx512_vnni() { return __builtin_cpu_supports("avx512vnni") ? "" : "no AVX512_VNNI"; }

}  // namespace

void configure_tiles() {
  const Configuration configuration;
  asm volatile("ldtilecfg %0" : : "m"(configuration));
}
void release_tiles() { asm volatile("tilerelease" : :); }

const std::vector<Instruction>& instructions() {
  static const std::vector<Instruction> list = {
      {"amx-bf16", tdpbf16ps, true, missing_amx_bf16},
      {"amx-fp16", tdpfp16ps, true, missing_amx_fp16},
      {"amx-int8-int8", tdpbssd, true, missing_amx_int8},
      {"amx-int8-uint8", tdpbsud, true, missing_amx_int8},
      {"amx-uint8-int8", tdpbusd, true, missing_amx_int8},
      {"amx-uint8-uint8", tdpbuud, true, missing_amx_int8},
      {"avx512-bf16", vdpbf16ps, false, missing_avx512_bf16},
      {"avx512-vnni", vpdpbusd, false, missing_avx512_vnni},
      {"avx512-vnni-saturating", vpdpbusds, false, missing_avx512_vnni},
  };
  return list;
}

#else

void configure_tiles() {}
void release_tiles() {}

const std::vector<Instruction>& instructions() {
  static const std::vector<Instruction> list = [] {
    std::vector<Instruction> all;
    for (const char* engine : {"amx-bf16", "amx-fp16", "amx-int8-int8", "amx-int8-uint8", "amx-uint8-int8",
                               "amx-uint8-uint8", "avx512-bf16", "avx512-vnni", "avx512-vnni-saturating"})
      all.push_back({engine, nullptr, false, [] { return std::string("no x86-64 processor"); }});
    return all;
  }();
  return list;
}

#endif

}  // namespace vernier::model::cpu
