#include "bf16x6_engine_under_test.hpp"

#include "base/cpu_features.hpp"
#include "emulated_parts.hpp"

namespace vernier::test {

std::string missing_for_bf16x6() {
  std::string missing = missing_features(InstructionSet::avx512_vnni);
#if VERNIER_X86
  if (!__builtin_cpu_supports("avx512bf16")) missing += " avx512_bf16";
#endif
  return missing;
}

const Bf16x6Engine& emulated_bf16x6_engine() {
  static constexpr Bf16x6Engine engine{.name = "emulated",
                                       .description = "the AMX kernel on emulated tiles",
                                       .model = "amx-bf16",
                                       .missing = missing_for_bf16x6,
                                       .enter_thread = [] {},
                                       .leave_thread = [] {},
                                       .multiply = multiply_bf16x6_on_emulated_tiles};
  return engine;
}

}  // namespace vernier::test
