#include "part_engine_under_test.hpp"

#include "emulated_parts.hpp"
#include "engine/cpu_features.hpp"

namespace vernier::test {

std::string missing_for_parts() {
  std::string missing = missing_features(InstructionSet::avx512_vnni);
#if VERNIER_X86
  if (!__builtin_cpu_supports("avx512bf16")) missing += " avx512_bf16";
#endif
  return missing;
}

const PartEngine& emulated_part_engine() {
  static constexpr PartEngine engine{.name = "emulated",
                                     .description = "the AMX kernel on emulated tiles",
                                     .model = "amx-bf16",
                                     .missing = missing_for_parts,
                                     .enter_thread = [] {},
                                     .leave_thread = [] {},
                                     .multiply = multiply_parts_on_emulated_tiles};
  return engine;
}

}  // namespace vernier::test
