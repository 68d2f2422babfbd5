// The experiments of Mary, with Blanchard, Higham, Lopez and Pranesh (2020), and the engines that they compare.
#pragma once

#include <string>
#include <vector>
#include <vernier/block_fma.hpp>

#include "reproduce/experiment.hpp"

namespace vernier::reproduce::mary {

inline constexpr double u16 = 0x1p-11, u32 = 0x1p-24;

struct Fma {
  std::string name;
  model::Engine engine;
  BlockFmaUnits units;
  bool converted = true;  // inputs are rounded to fp16
};

Fma standard_fp16();
Fma tc16();
Fma tc32();
Fma standard_fp32();
std::vector<Fma> four();  // the above

Result bounds(const Context& context);  // mary_products.cpp
Result products(const Context& context);
Result lu(const Context& context);  // mary_lu.cpp
Result lu_storage(const Context& context);
Result refinement(const Context& context);  // mary_refinement.cpp

}  // namespace vernier::reproduce::mary
