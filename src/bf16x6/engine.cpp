#include "bf16x6/engine.hpp"

#include "base/cpu_features.hpp"
#include "engine/int8_engine.hpp"

namespace vernier {

#if VERNIER_X86

const Bf16x6Engine* bf16x6_engine() {
  static constexpr Bf16x6Engine amx{.name = bf16_tile_engine,
                                    .description = "AMX tiles (TDPBF16PS), six products of bf16 parts for one of fp32",
                                    .model = "amx-bf16",
                                    .missing = [] { return missing_features(InstructionSet::amx_bf16); },
                                    .enter_thread = configure_amx_tiles,
                                    .leave_thread = release_amx_tiles,
                                    .multiply = multiply_bf16x6_amx};
  return &amx;
}

#else

const Bf16x6Engine* bf16x6_engine() { return nullptr; }

#endif

const Bf16x6Engine* usable_bf16x6_engine() {
  static const Bf16x6Engine* usable = [] {
    const Bf16x6Engine* engine = bf16x6_engine();
    return engine != nullptr && engine->missing().empty() ? engine : nullptr;
  }();
  return usable;
}

}  // namespace vernier
