#include "engine/part_engine.hpp"

#include "engine/cpu_features.hpp"
#include "engine/int8_kernels.hpp"
#include "engine/part_kernels.hpp"

namespace vernier {

#if VERNIER_X86

const PartEngine* part_engine() {
  static constexpr PartEngine amx{.name = "amx_bf16",
                                  .description = "AMX tiles (TDPBF16PS), six products of bf16 parts for one of fp32",
                                  .model = "amx-bf16",
                                  .missing = [] { return missing_features(InstructionSet::amx_bf16); },
                                  .enter_thread = configure_amx_tiles,
                                  .leave_thread = release_amx_tiles,
                                  .multiply = multiply_parts_amx};
  return &amx;
}

#else

const PartEngine* part_engine() { return nullptr; }

#endif

const PartEngine* usable_part_engine() {
  static const PartEngine* usable = [] {
    const PartEngine* engine = part_engine();
    return engine != nullptr && engine->missing().empty() ? engine : nullptr;
  }();
  return usable;
}

}  // namespace vernier
