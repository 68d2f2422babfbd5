// The experiments that need a GPU; the papers' lists name them.
#pragma once

#include "reproduce/experiment.hpp"

namespace vernier::reproduce::gpu {

Result fp32_speed(const Context& context);
Result fp32_energy(const Context& context);
Result fp64_speed(const Context& context);
Result modes(const Context& context);
Result refinement(const Context& context);
Result features(const Context& context);
Result same_bits_as_the_model(const Context& context);
Result same_bits_as_the_cpu(const Context& context);

}  // namespace vernier::reproduce::gpu
