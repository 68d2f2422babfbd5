// The experiments of Ootomo and Yokota (2021).
#pragma once

#include "reproduce/experiment.hpp"

namespace vernier::reproduce::ootomo_yokota {

// ootomo_yokota_products.cpp
Result accuracy(const Context& context);
Result cleared_bit(const Context& context);
Result rounding(const Context& context);
Result lo_lo(const Context& context);
Result input_types(const Context& context);

// ootomo_yokota_numbers.cpp
Result significand(const Context& context);
Result underflow(const Context& context);
Result representation(const Context& context);

}  // namespace vernier::reproduce::ootomo_yokota
