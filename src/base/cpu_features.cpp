#include "base/cpu_features.hpp"

#if VERNIER_X86
#include <cpuid.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif
#endif
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace vernier {
namespace {

class Missing {
 public:
  void unless(bool present, const char* feature) {
    if (!present) text_ += (text_.empty() ? "" : ", ") + std::string(feature);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

#if VERNIER_X86

void check_avx2(Missing& missing) {
  missing.unless(__builtin_cpu_supports("avx2"), "avx2");
  missing.unless(__builtin_cpu_supports("fma"), "fma");
}

void check_avx512_vnni(Missing& missing) {
  check_avx2(missing);
  missing.unless(__builtin_cpu_supports("avx512f"), "avx512f");
  missing.unless(__builtin_cpu_supports("avx512bw"), "avx512bw");
  missing.unless(__builtin_cpu_supports("avx512cd"), "avx512cd");
  missing.unless(__builtin_cpu_supports("avx512dq"), "avx512dq");
  missing.unless(__builtin_cpu_supports("avx512vl"), "avx512vl");
  missing.unless(__builtin_cpu_supports("avx512ifma"), "avx512_ifma");
  missing.unless(__builtin_cpu_supports("avx512vbmi"), "avx512_vbmi");
  missing.unless(__builtin_cpu_supports("avx512vbmi2"), "avx512_vbmi2");
  missing.unless(__builtin_cpu_supports("avx512vnni"), "avx512_vnni");
}

// The register states that the system saves and restores. Only where CPUID reports OSXSAVE.
std::uint64_t xgetbv0() {
  std::uint32_t low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return static_cast<std::uint64_t>(high) << 32 | low;
}

bool system_saves_tiles() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned osxsave = 1u << 27;
  if (!__get_cpuid(1, &a, &b, &c, &d) || (c & osxsave) == 0) return false;
  constexpr std::uint64_t tile_state = 3u << 17;  // XTILECFG and XTILEDATA
  return (xgetbv0() & tile_state) == tile_state;
}

// Linux gives the 8 KiB of tile state only to processes that ask for it, and lets all their threads have it then.
bool system_grants_tiles() {
#ifdef __linux__
  constexpr long arch_req_xcomp_perm = 0x1023, xtiledata = 18;
  return syscall(SYS_arch_prctl, arch_req_xcomp_perm, xtiledata) == 0;
#else
  return false;
#endif
}

void check_amx(Missing& missing) {
  check_avx512_vnni(missing);
  unsigned a = 0, b = 0, c = 0, d = 0;
  const bool known = __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0;
  const bool tiles = known && (d >> 24 & 1) != 0, int8 = known && (d >> 25 & 1) != 0;
  missing.unless(tiles, "amx-tile");
  missing.unless(int8, "amx-int8");
  if (tiles && int8) missing.unless(system_saves_tiles() && system_grants_tiles(), "the system's leave to use AMX");
}

void check_amx_bf16(Missing& missing) {
  check_amx(missing);
  unsigned a = 0, b = 0, c = 0, d = 0;
  missing.unless(__get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d >> 22 & 1) != 0, "amx-bf16");
  missing.unless(__builtin_cpu_supports("avx512bf16"), "avx512_bf16");
}

#endif

std::string look_for(InstructionSet set) {
  Missing missing;
#if VERNIER_X86
  __builtin_cpu_init();
  if (set == InstructionSet::avx2) check_avx2(missing);
  if (set == InstructionSet::avx512_vnni) check_avx512_vnni(missing);
  if (set == InstructionSet::amx) check_amx(missing);
  if (set == InstructionSet::amx_bf16) check_amx_bf16(missing);
#else
  missing.unless(set == InstructionSet::baseline, "x86-64");
#endif
  return missing.text();
}

}  // namespace

std::string missing_features(InstructionSet set) {
  static const std::string baseline = look_for(InstructionSet::baseline);
  if (set == InstructionSet::baseline) return baseline;
  static const std::string avx2 = look_for(InstructionSet::avx2);
  if (set == InstructionSet::avx2) return avx2;
  static const std::string avx512_vnni = look_for(InstructionSet::avx512_vnni);
  if (set == InstructionSet::avx512_vnni) return avx512_vnni;
  static const std::string amx = look_for(InstructionSet::amx);
  if (set == InstructionSet::amx) return amx;
  static const std::string amx_bf16 = look_for(InstructionSet::amx_bf16);
  return amx_bf16;
}

std::string processor_name() {
#if VERNIER_X86
  constexpr unsigned first = 0x80000002, last = 0x80000004;  // 48 characters of CPUID's brand
  unsigned words[12] = {};
  for (unsigned leaf = first; leaf <= last; ++leaf) {
    unsigned* w = words + 4 * (leaf - first);
    if (!__get_cpuid(leaf, w, w + 1, w + 2, w + 3)) return "unknown";
  }
  char brand[sizeof(words) + 1] = {};
  std::memcpy(brand, words, sizeof(words));
  const std::string name = brand;
  const std::size_t begin = name.find_first_not_of(' '), end = name.find_last_not_of(' ');
  return begin == std::string::npos ? "unknown" : name.substr(begin, end - begin + 1);
#else
  return "unknown";
#endif
}

std::size_t last_level_cache_bytes() {
#ifdef _SC_LEVEL3_CACHE_SIZE
  static const long bytes = std::max({sysconf(_SC_LEVEL3_CACHE_SIZE), sysconf(_SC_LEVEL2_CACHE_SIZE), 0L});
  return static_cast<std::size_t>(bytes);
#else
  return 0;
#endif
}

}  // namespace vernier
