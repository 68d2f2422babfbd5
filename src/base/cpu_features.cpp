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

#if VERNIER_X86

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

bool cpuid_has_amx(unsigned bit) {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d >> bit & 1) != 0;
}
bool has_tiles() { return cpuid_has_amx(24); }
bool has_tiles_of_int8() { return cpuid_has_amx(25); }
bool may_use_tiles() { return !has_tiles() || !has_tiles_of_int8() || (system_saves_tiles() && system_grants_tiles()); }

// Of sets of instructions, each of which holds those before it: the first that has a feature.
struct Feature {
  InstructionSet from;
  const char* name;
  bool (*present)();
};
#define VERNIER_KNOWN_TO_COMPILERS(feature) [] { return __builtin_cpu_supports(feature) != 0; }
constexpr Feature features[] = {
    {InstructionSet::avx2, "avx2", VERNIER_KNOWN_TO_COMPILERS("avx2")},
    {InstructionSet::avx2, "fma", VERNIER_KNOWN_TO_COMPILERS("fma")},
    {InstructionSet::avx512_vnni, "avx512f", VERNIER_KNOWN_TO_COMPILERS("avx512f")},
    {InstructionSet::avx512_vnni, "avx512bw", VERNIER_KNOWN_TO_COMPILERS("avx512bw")},
    {InstructionSet::avx512_vnni, "avx512cd", VERNIER_KNOWN_TO_COMPILERS("avx512cd")},
    {InstructionSet::avx512_vnni, "avx512dq", VERNIER_KNOWN_TO_COMPILERS("avx512dq")},
    {InstructionSet::avx512_vnni, "avx512vl", VERNIER_KNOWN_TO_COMPILERS("avx512vl")},
    {InstructionSet::avx512_vnni, "avx512_ifma", VERNIER_KNOWN_TO_COMPILERS("avx512ifma")},
    {InstructionSet::avx512_vnni, "avx512_vbmi", VERNIER_KNOWN_TO_COMPILERS("avx512vbmi")},
    {InstructionSet::avx512_vnni, "avx512_vbmi2", VERNIER_KNOWN_TO_COMPILERS("avx512vbmi2")},
    {InstructionSet::avx512_vnni, "avx512_vnni", VERNIER_KNOWN_TO_COMPILERS("avx512vnni")},
    {InstructionSet::amx, "amx-tile", has_tiles},
    {InstructionSet::amx, "amx-int8", has_tiles_of_int8},
    {InstructionSet::amx, "the system's leave to use AMX", may_use_tiles},
    {InstructionSet::amx_bf16, "amx-bf16", [] { return cpuid_has_amx(22); }},
    {InstructionSet::amx_bf16, "avx512_bf16", VERNIER_KNOWN_TO_COMPILERS("avx512bf16")},
};
#undef VERNIER_KNOWN_TO_COMPILERS

#endif

std::string look_for(InstructionSet set) {
  std::string missing;
#if VERNIER_X86
  __builtin_cpu_init();
  for (const Feature& f : features)
    if (f.from <= set && !f.present()) missing += (missing.empty() ? "" : ", ") + std::string(f.name);
#else
  if (set != InstructionSet::baseline) missing = "x86-64";
#endif
  return missing;
}

template <InstructionSet set>
std::string kept() {
  static const std::string missing = look_for(set);
  return missing;
}

}  // namespace

std::string missing_features(InstructionSet set) {
  constexpr std::string (*of[])() = {kept<InstructionSet::baseline>, kept<InstructionSet::avx2>,
                                     kept<InstructionSet::avx512_vnni>, kept<InstructionSet::amx>,
                                     kept<InstructionSet::amx_bf16>};
  return of[static_cast<int>(set)]();
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
